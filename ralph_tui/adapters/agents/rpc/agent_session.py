"""The common part of sessions with Codex and ACP agents: permissions, a silent service, the end.

A permission is granted by the session's rules, granted by the user, or refused. What the user
allows for the session is kept here; no agent is asked to store a rule. When an agent has nothing
left to do, its stdin is closed, and it has `linger_s` to exit.
"""

import time
from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path

from ralph_tui.adapters.agents.ends import SessionEnd, Tally
from ralph_tui.adapters.agents.permissions import Permits
from ralph_tui.adapters.agents.reader import SessionReader
from ralph_tui.adapters.agents.requests import is_displayable
from ralph_tui.adapters.agents.rpc.approvals import Approval
from ralph_tui.adapters.agents.rpc.rpc_session import RpcSession
from ralph_tui.adapters.processes.child import Child
from ralph_tui.events import AgentAskedNoMore, Event
from ralph_tui.ports.agents import AgentAnswer, Turn
from ralph_tui.ports.host import Emit
from ralph_tui.text.format import duration

FIRST_S = 10.0
"""Seconds without a first answer before a single note reports it."""
QUIET_S = 60.0
"""Seconds of silence before a note reports it."""
NO_ANSWER = "No answer from the agent's service yet; still waiting"


class Silence:
    """How long a service has been silent, in stages; any activity restarts the first stage."""

    def __init__(self, end_s: float | None = None) -> None:
        """`end_s` seconds of silence are too long; None if only a first answer matters."""
        self._end_s = end_s
        self._answered = False
        """True once the service has answered or its silence has been reported."""
        self._passed_s = 0.0

    def heard(self, *, answered: bool = False) -> None:
        """Reset the silence; `answered` is True if the service itself answered."""
        self._passed_s = 0.0
        self._answered = self._answered or answered

    def remaining_s(self) -> float | None:
        """Return the seconds until the next stage, or None after the last one."""
        at = self._next()
        return None if at is None else max(0.1, at - self._passed_s)

    def advance(self) -> str:
        """Go to the next stage; return its message, or "" if the silence is too long."""
        at = self._next() or 0.0
        self._passed_s = at
        if self._waits_for_first:
            self._answered = True
            return NO_ANSWER
        if at == self._end_s:
            return ""
        return f"The agent's service has not answered for {duration(at)}"

    @property
    def _waits_for_first(self) -> bool:
        return not self._answered and (self._end_s is None or self._end_s > FIRST_S)

    def _next(self) -> float | None:
        if self._waits_for_first:
            return FIRST_S
        if self._end_s is None:
            return None
        return QUIET_S if self._passed_s < QUIET_S < self._end_s else self._end_s


class AgentSession(RpcSession):
    """A running agent that asks for permissions and may end its session itself."""

    linger_s: float
    """Seconds to wait for the agent to exit when it has nothing left to do."""

    def __init__(
        self,
        child: Child,
        turn: Turn,
        emit: Emit,
        timeout_s: float,
        *,
        root: Path,
        reader: SessionReader,
        silence_s: float | None = None,
    ) -> None:
        super().__init__(child, turn, emit, timeout_s)
        self._root = root
        self._reader = reader
        self._permits = Permits(turn.permissions, turn.command, root)
        self._open: dict[str, Approval] = {}
        """Open questions to the user, by the id we give them."""
        self._granted: set[str] = set()
        """Rules that the user allowed for this session."""
        self._over: SessionEnd | None = None
        """How the session ended without being stopped; None while there is work left."""
        self._silence = Silence(silence_s)

    # -- what subclasses define ------------------------------------------------------------------

    @abstractmethod
    def _cancel_turn(self) -> bool:
        """Ask the agent to end its turn; return False if it cannot be asked."""

    @abstractmethod
    def _end_of_exit(self, exit_code: int | None) -> SessionEnd:
        """Return how the session ended if the process exited before its work was done."""

    def _quiet_s(self) -> float | None:
        """Return the seconds of silence before `_on_quiet` is called, while the agent works."""
        return self._silence.remaining_s()

    def _on_quiet(self) -> Iterable[Event]:
        if said := self._silence.advance():
            return [self._note(said).model_copy(update={"service": "silent"})]
        return self._on_too_quiet()

    def _on_too_quiet(self) -> Iterable[Event]:
        """Return events when the service has been silent for too long."""
        return ()

    # -- permissions -----------------------------------------------------------------------------

    def answer(self, request_id: str, answer: AgentAnswer) -> bool:
        with self._lock:
            asked = self._open.pop(request_id, None)
            if asked is None or self._finished or self._end_requested:
                return False
            if answer.decision == "session" and asked.rule and is_displayable(asked.rule):
                self._granted.add(asked.rule)
            if answer.decision == "refuse":
                return self._refuse(asked, answer)
            return self._allow(asked, answer)

    def _decide(self, asked: Approval) -> list[Event]:
        """Answer a permission request by the session's rules, or ask the user."""
        turn = self._turn
        with self._lock:
            if self._end_requested or self._over is not None:
                self.respond(asked.id, asked.cancelled)
            elif asked.rule in self._granted or asked.permitted(self._permits):
                self._allow(asked, AgentAnswer("once"))
                what = (
                    "Refused, because the agent offers no one-time permission for it: "
                    f"{asked.subject}"
                )
                return [self._note(what)] if asked.yes is None else []
            elif turn.permissions.mode == "ask":
                # Request numbers restart in each session.
                name = f"{turn.session_id[-8:]}/{asked.id}"
                self._open[name] = asked
                return [asked.event(turn.iteration, name)]
            else:
                self._refuse(asked)
                return [] if asked.choices else [asked.denied(turn.iteration, str(self._root))]
        return []

    def _allow(self, asked: Approval, answer: AgentAnswer) -> bool:
        allowed = asked.answer(answer)
        return self._refuse(asked) if allowed is None else self.respond(asked.id, allowed)

    def _refuse(self, asked: Approval, answer: AgentAnswer | None = None) -> bool:
        """Refuse a request; `answer` is the user's, None if a rule refuses. Needs the lock."""
        return self.respond(asked.id, asked.no)

    def _withdraw_open(self, reason: str, *, of: object = None) -> list[Event]:
        """Withdraw open questions: only the one about request `of`, or all of them."""
        with self._lock:
            gone = [name for name, asked in self._open.items() if of is None or asked.id == of]
            for name in gone:
                self.withdraw(self._open.pop(name).id)
        k = self._turn.iteration
        return [AgentAskedNoMore(iteration=k, request_id=name, reason=reason) for name in gone]

    # -- output ----------------------------------------------------------------------------------

    def _sync_reader(self) -> None:
        self._reader.seek(self.offset, time.monotonic())
        self._silence.heard()

    def _on_output_closed(self) -> Iterable[Event]:
        return [*self._withdraw_open("the agent has ended"), *self._reader.closed()]

    # -- silence ---------------------------------------------------------------------------------

    def _idle_after_s(self) -> float | None:
        if self._over is not None:
            return self.linger_s
        starts = not self.began or self._end_requested
        return super()._idle_after_s() if starts else self._quiet_s()

    def _on_idle(self) -> Iterable[Event]:
        if self._over is not None:
            self._child.hurry()
            return ()
        starts = not self.began or self._end_requested
        return super()._on_idle() if starts else self._on_quiet()

    # -- the end ---------------------------------------------------------------------------------

    def _finish_with(self, end: SessionEnd) -> list[Event]:
        """Record how the session ended, and close stdin so that the agent exits."""
        self._over = end
        self._close_stdin()
        return []

    def _interrupt(self) -> bool:
        with self._lock:
            asked, self._open = list(self._open.values()), {}
            self._reader.tools.interrupted = True
        for approval in asked:
            self.respond(approval.id, approval.cancelled)
        return self._cancel_turn()

    def _has_done_its_work(self) -> bool:
        return self._over is not None

    def _end_by_itself(self, exit_code: int | None) -> SessionEnd:
        return self._over or self._end_of_exit(exit_code)

    def _tally(self) -> Tally:
        return self._reader.tally()
