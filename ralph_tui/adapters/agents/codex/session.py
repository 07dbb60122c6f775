"""One session of Codex's app-server: ``initialize``, a thread, a turn; its end is the end.

Words for the agent steer the turn that is in progress, and are theirs when the model takes them;
what came too late for it begins a turn of its own. A command goes on when its turn is interrupted:
it ends with the server, which ends when stdin is closed.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ralph_tui.adapters.agents.asked import can_be_shown
from ralph_tui.adapters.agents.codex.approvals import Approval, approval_of
from ralph_tui.adapters.agents.codex.ends import SIGNED_OUT, end_of_exit, refused
from ralph_tui.adapters.agents.codex.reader import UNTOLD, CodexReader, Ledger
from ralph_tui.adapters.agents.ends import SessionEnd, Tally
from ralph_tui.adapters.agents.json_fields import as_map
from ralph_tui.adapters.agents.permissions import Permits
from ralph_tui.adapters.agents.rpc.messages import Failure, Id, Notification, Request
from ralph_tui.adapters.agents.rpc.rpc_session import RpcSession
from ralph_tui.adapters.agents.rpc.silence import Silence
from ralph_tui.adapters.processes.child import Child
from ralph_tui.events import AgentAskedNoMore, Event
from ralph_tui.ports import AgentAnswer, Emit, Turn

LINGER_S = 2.0
"""Seconds that a server which has nothing left to do may take to end by itself."""
RECEIPT_S = 10.0
"""Seconds that a finished agent may be silent about guidance that it has taken."""
HOPELESS = ("auth", "unknown_model")
"""What a refused call may mean that no further try can mend."""
RETRY_S = 90.0
"""Seconds of silence after a refused call: who waits longer than this waits for a limit."""


@dataclass(frozen=True)
class Plan:
    """What a run asks of all its sessions."""

    root: Path
    ledger: Ledger
    model: str | None = None
    version: str = ""
    """Of Codex."""
    client: str = ""
    """Of ralph-tui."""

    def introduction(self) -> dict[str, object]:
        """Of ``initialize``."""
        return {
            "clientInfo": {"name": "ralph-tui", "title": "ralph-tui", "version": self.client},
            "capabilities": {"optOutNotificationMethods": list(UNTOLD)},
        }

    def thread(self, turn: Turn) -> dict[str, object]:
        """Of ``thread/start`` and ``thread/resume``."""
        free = turn.permissions.mode == "skip"
        asked: dict[str, object] = {
            "cwd": str(self.root),
            # What is no mere look is asked about, and answered by the session's rules or its owner.
            "approvalPolicy": "never" if free else "untrusted",
            "approvalsReviewer": "user",
            "sandbox": "danger-full-access" if free else "workspace-write",
        }
        if self.model:
            asked["model"] = self.model
        if turn.system_context:
            asked["developerInstructions"] = turn.system_context
        return asked


class CodexSession(RpcSession):
    """A running Codex."""

    version = ""
    protocol = "the protocol of Codex's app-server"

    def __init__(
        self, child: Child, turn: Turn, emit: Emit, timeout_s: float, *, plan: Plan
    ) -> None:
        super().__init__(child, turn, emit, timeout_s)
        self._plan = plan
        self._reader = CodexReader(turn.iteration, plan.root, plan.ledger)
        self._permits = Permits(turn.permissions, turn.command, plan.root)
        self._open: dict[str, Approval] = {}
        """Questions that the owner is asked, by what we call them."""
        self._granted: set[str] = set()
        """Rules that the owner has allowed for this session."""
        self._late: dict[str, str] = {}
        """Guidance that no turn has taken yet: it is steered into the next, or begins it."""
        self._over: SessionEnd | None = None
        """Nothing is left to do."""
        self._silence = Silence()
        self.call("initialize", plan.introduction(), self._initialized, self._refused)

    # -- the port --------------------------------------------------------------------------------

    def send(self, guidance_id: str, text: str) -> bool:
        """Hand words over; False when the agent takes no more."""
        with self._lock:
            if self._over is not None or self._finished or self._end_requested:
                return False
            self._reader.receipts.awaited[guidance_id] = text
            if self._reader.turn:
                self._steer(guidance_id, text)
            else:
                self._late[guidance_id] = text
        return True

    def answer(self, request_id: str, answer: AgentAnswer) -> bool:
        """The owner's answer; False when it is not asked any more."""
        with self._lock:
            asked = self._open.pop(request_id, None)
            if asked is None or self._finished or self._end_requested:
                return False
            if answer.decision == "session" and asked.rule and can_be_shown(asked.rule):
                self._granted.add(asked.rule)
        taken = self.respond(asked.id, asked.answer(answer))
        if taken and answer.decision == "refuse" and answer.words and self._reader.turn:
            # A refusal has no words of its own.
            self._tell(f"About {asked.subject}: {answer.words}")
        return taken

    # -- the handshake ---------------------------------------------------------------------------

    def _initialized(self, _: object) -> Iterable[Event]:
        self.notify("initialized")
        self.call("account/read", {"refreshToken": False}, self._account)
        turn, plan = self._turn, self._plan
        if turn.resume is None:
            self.call("thread/start", plan.thread(turn), self._thread_began, self._refused)
        elif thread := plan.ledger.threads.get(turn.resume):
            resumed = {**plan.thread(turn), "threadId": thread}
            self.call("thread/resume", resumed, self._thread_began, self._unresumed)
        else:
            return self._unresumed(Failure(message="it had not said a word"))
        return ()

    def _account(self, result: object) -> Iterable[Event]:
        told = list(self._reader.account(as_map(result)))
        if self._reader.signed_out and not self._end_requested:
            self._end(self._reader.windows.end(SIGNED_OUT, _now()))
        return told

    def _thread_began(self, result: object) -> Iterable[Event]:
        self.began = True
        yield from self._reader.began(as_map(result), self._plan.version)
        self._plan.ledger.threads[self._turn.session_id] = self._reader.thread
        if not self._end_requested:
            self._begin_turn(self._turn.prompt)

    def _begin_turn(self, text: str, guidance_id: str = "") -> None:
        asked = self._words(text, guidance_id)
        self.call("turn/start", asked, self._turn_began, self._refused)

    def _turn_began(self, result: object) -> Iterable[Event]:
        with self._lock:
            self._reader.turn_began(as_map(result).get("turn"))
            late, self._late = self._late, {}
            for guidance_id, text in late.items():
                self._steer(guidance_id, text)
        return ()

    def _refused(self, failure: Failure) -> Iterable[Event]:
        self._finish_with(refused(failure, self._reader.windows, _now()))
        return ()

    def _unresumed(self, failure: Failure) -> Iterable[Event]:
        end = refused(failure, self._reader.windows, _now())
        if end.outcome == "error":
            end = SessionEnd("unresumable", f"Codex cannot resume its session: {failure.message}")
        self._finish_with(end)
        return ()

    # -- words for the agent ---------------------------------------------------------------------

    def _words(self, text: str, guidance_id: str = "") -> dict[str, object]:
        asked: dict[str, object] = {
            "threadId": self._reader.thread,
            "input": [{"type": "text", "text": text}],
        }
        return {**asked, "clientUserMessageId": guidance_id} if guidance_id else asked

    def _tell(self, text: str) -> None:
        asked = {**self._words(text), "expectedTurnId": self._reader.turn}
        self.call("turn/steer", asked)

    def _steer(self, guidance_id: str, text: str) -> None:
        asked = {**self._words(text, guidance_id), "expectedTurnId": self._reader.turn}

        def taken(_: object) -> Iterable[Event]:
            return self._reader.receipts.told(guidance_id, "queued")

        def not_taken(_: Failure) -> Iterable[Event]:
            with self._lock:
                self._late[guidance_id] = text
            return self._go_on()

        self.call("turn/steer", asked, taken, not_taken)

    def _go_on(self) -> Iterable[Event]:
        """Between two turns: the next one, with words that came too late; or the end."""
        reader = self._reader
        if reader.turn or reader.end is None or self._over is not None:
            return ()
        with self._lock:
            going_on = reader.end.outcome == "success" and not self._end_requested
            late = next(iter(self._late.items()), None) if going_on else None
            if late is not None:
                del self._late[late[0]]
            elif not going_on or not reader.receipts.awaited:
                self._over = reader.end
        if late is not None:
            reader.end = None
            self._begin_turn(late[1], late[0])
            return reader.receipts.told(late[0], "queued")
        if self._over is not None:
            self._close_stdin()
        return ()

    # -- what it tells and asks ------------------------------------------------------------------

    def _on_notification(self, notification: Notification) -> Iterable[Event] | None:
        self._look()
        if notification.method == "serverRequest/resolved":
            return self._withdrawn(
                "the agent took it back", of=notification.params.get("requestId")
            )
        told = self._reader.take(notification.method, notification.params)
        if told is None:
            return None
        self._silence.heard(answered=bool(self.began and told))
        hopeless = self._reader.retrying
        if hopeless and hopeless.outcome in HOPELESS and not self._end_requested:
            self._end(self._reader.windows.end(hopeless, _now()))
        if self._reader.end is not None and not self._reader.turn:
            return [*told, *self._withdrawn("its turn is over"), *self._go_on()]
        return told

    def _on_request(self, request: Request) -> Iterable[Event] | None:
        self._look()
        asked = approval_of(request, self._reader)
        return None if asked is None else self._decided(asked)

    def _decided(self, asked: Approval) -> Iterable[Event]:
        turn, ending = self._turn, self._end_requested or self._over is not None
        if ending:
            self.respond(asked.id, asked.cancelled)
        elif asked.rule in self._granted or asked.permitted(self._permits):
            self.respond(asked.id, asked.yes)
        elif turn.permissions.mode == "ask":
            request_id = f"{turn.session_id[:8]}/{asked.id}"
            with self._lock:
                self._open[request_id] = asked
            return [asked.event(turn.iteration, request_id)]
        else:
            self.respond(asked.id, asked.no)
            return () if asked.choices else [asked.denied(turn.iteration, str(self._plan.root))]
        return ()

    def _withdrawn(self, reason: str, *, of: object = None) -> Iterable[Event]:
        """Questions that want no answer any more: that one, or all."""
        with self._lock:
            gone = [name for name, asked in self._open.items() if of is None or asked.id == of]
            numbers: list[Id] = [self._open.pop(name).id for name in gone]
        for number in numbers:
            self.withdraw(number)
        return [
            AgentAskedNoMore(iteration=self._turn.iteration, request_id=name, reason=reason)
            for name in gone
        ]

    def _on_output_closed(self) -> Iterable[Event]:
        return [*self._reader.closed(), *self._withdrawn("the agent has ended")]

    def _look(self) -> None:
        self._reader.look(self.offset, time.monotonic(), _now())

    # -- silence ---------------------------------------------------------------------------------

    def _idle_after_s(self) -> float | None:
        if self._over is not None:
            return LINGER_S
        if not self.began or self._end_requested:
            return super()._idle_after_s()
        if self._reader.end is not None and not self._reader.turn:
            return RECEIPT_S
        return RETRY_S if self._reader.retrying is not None else self._silence.next_s()

    def _on_idle(self) -> Iterable[Event]:
        reader = self._reader
        if self._over is not None:
            self._child.hurry()
        elif not self.began or self._end_requested:
            return super()._on_idle()
        elif reader.end is not None:
            self._finish_with(reader.end)
        elif reader.retrying is not None:
            self._end(reader.windows.end(reader.retrying, _now()))
        elif said := self._silence.passes():
            return [self._note(said).model_copy(update={"service": "silent"})]
        return ()

    # -- the end ---------------------------------------------------------------------------------

    def _finish_with(self, end: SessionEnd) -> None:
        self._over = end
        self._close_stdin()

    def _interrupt(self) -> bool:
        reader = self._reader
        with self._lock:
            asked, self._open = list(self._open.values()), {}
            reader.tools.interrupted = True
            turn = reader.turn
        for approval in asked:
            self.respond(approval.id, approval.cancelled)
        if turn:
            # Its answer is the turn's end, which closes stdin.
            interrupted = {"threadId": reader.thread, "turnId": turn}
            self.call("turn/interrupt", interrupted, on_failure=self._closed)
        else:
            self._close_stdin()
        return True

    def _closed(self, _: Failure) -> Iterable[Event]:
        self._close_stdin()
        return ()

    def _has_done_its_work(self) -> bool:
        return self._over is not None

    def _own_end(self, exit_code: int | None) -> SessionEnd:
        if self._over is not None:
            return self._over
        reader = self._reader
        end = end_of_exit(exit_code, self.stderr_tail, began=self.began)
        if end.outcome in ("error", "crashed") and reader.retrying is not None:
            return reader.windows.end(reader.retrying, _now())
        return end

    def _tally(self) -> Tally:
        reader = self._reader
        return Tally(
            tokens=reader.usage.tokens,
            turns=reader.turns,
            tool_calls=reader.tools.calls,
            tool_errors=reader.tools.errors,
        )


def _now() -> datetime:
    """In the zone of the user, in which Codex tells times of day."""
    return datetime.now().astimezone()
