"""Sessions of Codex's app-server: ``initialize``, a thread, a turn. A session ends with its turn.

Guidance steers the turn in progress, and is acknowledged when the model receives it. Guidance that
arrives too late starts another turn. A command keeps running when its turn is interrupted; it ends
with the server, which exits when stdin is closed.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ralph_tui import __version__
from ralph_tui.adapters.agents.codex import CODEX
from ralph_tui.adapters.agents.codex.approvals import approval_of
from ralph_tui.adapters.agents.codex.ends import SIGNED_OUT, end_of_exit
from ralph_tui.adapters.agents.codex.program import installed_program
from ralph_tui.adapters.agents.codex.reader import IGNORED, CodexReader, Ledger
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.ends import SessionEnd, classify, local_now
from ralph_tui.adapters.agents.installed import format_version
from ralph_tui.adapters.agents.process_session import start_child
from ralph_tui.adapters.agents.rpc.agent_session import AgentSession
from ralph_tui.adapters.agents.rpc.approvals import Approval
from ralph_tui.adapters.agents.rpc.messages import Failure, Notification, Request
from ralph_tui.adapters.processes.child import Child
from ralph_tui.events import Event
from ralph_tui.ports.agents import AgentAnswer, Turn
from ralph_tui.ports.host import Emit
from ralph_tui.text.json_fields import as_map

RECEIPT_S = 10.0
"""Seconds to wait for a finished agent's receipt for guidance."""
NOT_RETRIED = ("auth", "unknown_model")
"""Failures that retrying cannot fix."""
RETRY_S = 90.0
"""Seconds of silence after a failed call before the session ends; a longer wait means a limit."""


@dataclass(frozen=True)
class Plan:
    """Parameters common to all sessions of a run."""

    root: Path
    ledger: Ledger
    model: str | None = None
    version: str = ""
    """Version of Codex."""
    client: str = ""
    """Version of ralph-tui."""

    def introduction(self) -> dict[str, object]:
        """Return the parameters of ``initialize``."""
        return {
            "clientInfo": {"name": "ralph-tui", "title": "ralph-tui", "version": self.client},
            "capabilities": {"optOutNotificationMethods": list(IGNORED)},
        }

    def thread(self, turn: Turn) -> dict[str, object]:
        """Return the parameters of ``thread/start`` and ``thread/resume``."""
        free = turn.permissions.mode == "skip"
        asked: dict[str, object] = {
            "cwd": str(self.root),
            # Codex asks before anything but reading; the session's rules or the user answer.
            "approvalPolicy": "never" if free else "untrusted",
            "approvalsReviewer": "user",
            "sandbox": "danger-full-access" if free else "workspace-write",
        }
        if self.model:
            asked["model"] = self.model
        if turn.system_context:
            asked["developerInstructions"] = turn.system_context
        return asked


class CodexSession(AgentSession):
    """A running session of Codex."""

    version = ""
    protocol = "the protocol of Codex's app-server"
    linger_s = 2.0
    _reader: CodexReader

    def __init__(
        self, child: Child, turn: Turn, emit: Emit, timeout_s: float, *, plan: Plan
    ) -> None:
        reader = CodexReader(turn.iteration, plan.root, plan.ledger)
        super().__init__(child, turn, emit, timeout_s, root=plan.root, reader=reader)
        self._plan = plan
        self._late: dict[str, str] = {}
        """Guidance that no turn has taken yet: it steers the next turn, or starts it."""
        self.call("initialize", plan.introduction(), self._on_initialized, self._on_refused)

    # -- the port --------------------------------------------------------------------------------

    def send(self, guidance_id: str, text: str) -> bool:
        with self._lock:
            if self._over is not None or self._finished or self._end_requested:
                return False
            self._reader.receipts.awaited[guidance_id] = text
            if self._reader.turn:
                self._steer(guidance_id, text)
            else:
                self._late[guidance_id] = text
        return True

    # -- the handshake ---------------------------------------------------------------------------

    def _on_initialized(self, _: object) -> Iterable[Event]:
        self.notify("initialized")
        self.call("account/read", {"refreshToken": False}, self._account)
        turn, plan = self._turn, self._plan
        if turn.resume is None:
            self.call("thread/start", plan.thread(turn), self._on_thread, self._on_refused)
        elif thread := plan.ledger.threads.get(turn.resume):
            resumed = {**plan.thread(turn), "threadId": thread}
            self.call("thread/resume", resumed, self._on_thread, self._on_not_resumed)
        else:
            return self._on_not_resumed(Failure(message="it has no output yet"))
        return ()

    def _account(self, result: object) -> Iterable[Event]:
        events = self._reader.account(as_map(result))
        if self._reader.signed_out and not self._end_requested:
            self._end(self._reader.windows.end(SIGNED_OUT, local_now()))
        return events

    def _on_thread(self, result: object) -> Iterable[Event]:
        self.began = True
        events = self._reader.began(as_map(result), self._plan.version)
        self._plan.ledger.threads[self._turn.session_id] = self._reader.thread
        if not self._end_requested:
            self._begin_turn(self._turn.prompt)
        return events

    def _begin_turn(self, text: str, guidance_id: str = "") -> None:
        asked = self._words(text, guidance_id)
        self.call("turn/start", asked, self._on_turn, self._on_refused)

    def _on_turn(self, result: object) -> Iterable[Event]:
        with self._lock:
            self._reader.turn_began(as_map(result).get("turn"))
            late, self._late = self._late, {}
            for guidance_id, text in late.items():
                self._steer(guidance_id, text)
        return ()

    def _on_refused(self, failure: Failure) -> Iterable[Event]:
        """Handle the failure of a request that the session needs."""
        return self._finish_with(self._end_of(failure))

    def _on_not_resumed(self, failure: Failure) -> Iterable[Event]:
        end = self._end_of(failure)
        if end.outcome == "error":
            end = SessionEnd("unresumable", f"Codex cannot resume its session: {failure.message}")
        return self._finish_with(end)

    def _end_of(self, failure: Failure) -> SessionEnd:
        return self._reader.windows.end(classify(text=failure.message), local_now())

    # -- prompts and guidance --------------------------------------------------------------------

    def _words(self, text: str, guidance_id: str = "") -> dict[str, object]:
        asked: dict[str, object] = {
            "threadId": self._reader.thread,
            "input": [{"type": "text", "text": text}],
        }
        return {**asked, "clientUserMessageId": guidance_id} if guidance_id else asked

    def _steer(self, guidance_id: str, text: str) -> None:
        asked = {**self._words(text, guidance_id), "expectedTurnId": self._reader.turn}

        def taken(_: object) -> Iterable[Event]:
            return self._reader.receipts.record(guidance_id, "queued")

        def on_not_taken(_: Failure) -> Iterable[Event]:
            with self._lock:
                self._late[guidance_id] = text
            return self._continue_or_end()

        self.call("turn/steer", asked, taken, on_not_taken)

    def _continue_or_end(self) -> Iterable[Event]:
        """After a turn, start another with late guidance, or end the session."""
        reader = self._reader
        if reader.turn or reader.end is None or self._over is not None:
            return ()
        with self._lock:
            going_on = reader.end.outcome == "success" and not self._end_requested
            late = next(iter(self._late.items()), None) if going_on else None
            if late is not None:
                del self._late[late[0]]
            elif not going_on or not reader.receipts.awaited:
                return self._finish_with(reader.end)
        if late is None:
            return ()
        reader.end = None
        self._begin_turn(late[1], late[0])
        return reader.receipts.record(late[0], "queued")

    # -- notifications and requests --------------------------------------------------------------

    def _on_notification(self, notification: Notification) -> Iterable[Event] | None:
        self._sync_reader()
        params, reader = notification.params, self._reader
        if notification.method == "serverRequest/resolved":
            return self._withdraw_open("the agent withdrew it", of=params.get("requestId"))
        events = reader.take(notification.method, params)
        if events is None:
            return None
        self._silence.heard(answered=bool(self.began and events))
        hopeless = reader.retrying
        if hopeless and hopeless.outcome in NOT_RETRIED and not self._end_requested:
            self._end(reader.windows.end(hopeless, local_now()))
        if reader.end is not None and not reader.turn:
            return [*events, *self._withdraw_open("its turn has ended"), *self._continue_or_end()]
        return events

    def _on_request(self, request: Request) -> Iterable[Event] | None:
        self._sync_reader()
        asked = approval_of(request, self._reader)
        return None if asked is None else self._decide(asked)

    def _refuse(self, asked: Approval, answer: AgentAnswer | None = None) -> bool:
        taken = super()._refuse(asked, answer)
        if taken and answer is not None and answer.words and self._reader.turn:
            # Refusals in the protocol carry no text.
            words = self._words(f"About {asked.subject}: {answer.words}")
            self.call("turn/steer", {**words, "expectedTurnId": self._reader.turn})
        return taken

    def _sync_reader(self) -> None:
        super()._sync_reader()
        self._reader.seek(self.offset, time.monotonic(), local_now())

    # -- silence ---------------------------------------------------------------------------------

    def _quiet_s(self) -> float | None:
        reader = self._reader
        if reader.end is not None and not reader.turn:
            return RECEIPT_S
        return RETRY_S if reader.retrying is not None else super()._quiet_s()

    def _on_quiet(self) -> Iterable[Event]:
        reader = self._reader
        if reader.end is not None:
            return self._finish_with(reader.end)
        if reader.retrying is not None:
            self._end(reader.windows.end(reader.retrying, local_now()))
            return ()
        return super()._on_quiet()

    # -- the end ---------------------------------------------------------------------------------

    def _cancel_turn(self) -> bool:
        reader = self._reader
        if reader.turn:
            # The response is the turn's end, which closes stdin.
            interrupted = {"threadId": reader.thread, "turnId": reader.turn}
            self.call("turn/interrupt", interrupted, on_failure=self._on_not_interrupted)
        else:
            self._close_stdin()
        return True

    def _on_not_interrupted(self, _: Failure) -> Iterable[Event]:
        self._close_stdin()
        return ()

    def _end_of_exit(self, exit_code: int | None) -> SessionEnd:
        reader = self._reader
        end = end_of_exit(exit_code, self.stderr_tail, began=self.began)
        if end.outcome in ("error", "crashed") and reader.retrying is not None:
            return reader.windows.end(reader.retrying, local_now())
        return end


class CodexAgent:
    """Codex CLI. Raises ``UsageError`` if it is missing or too old."""

    name = CODEX.name
    resumes = True

    def __init__(self, context: AgentContext) -> None:
        self._path, version = installed_program(context)
        self._context = context
        self._plan = Plan(
            root=context.root,
            ledger=Ledger(),
            model=context.settings.model,
            version=format_version(version) if version else "",
            client=__version__,
        )

    def start(self, turn: Turn, emit: Emit) -> CodexSession:
        child = start_child([self._path, "app-server"], self._context, turn)
        session = CodexSession(child, turn, emit, self._context.timeout_s, plan=self._plan)
        session.begin(self.name)
        return session
