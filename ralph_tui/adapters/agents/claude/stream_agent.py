"""Sessions that speak Claude Code's stream-json in both directions.

The prompt is the first user message. Guidance follows as further messages, each with a uuid for
which the agent sends receipts. Stdin is closed once there is a result and no guidance is in
transit. Output is read to its end, because background work starts further turns.
"""

import json
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ralph_tui import events as ev
from ralph_tui.adapters.agents.claude.requests import MAX_OPEN, NO_APPROVER
from ralph_tui.adapters.agents.claude.stream_reader import StreamReader
from ralph_tui.adapters.agents.claude.usage import Ledger
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.ends import SessionEnd, Tally
from ralph_tui.adapters.agents.process_session import ProcessSession, start_child
from ralph_tui.adapters.processes.child import Child
from ralph_tui.ports.agents import AgentAnswer, Session, Turn
from ralph_tui.ports.host import Emit

LONGEST_LINE = 64 << 20
RECEIPT_S = 10.0
"""Seconds to wait for a finished agent's receipt for guidance before closing its stdin."""
BACKGROUND_S = 540.0
"""Seconds to wait for silent background work after a turn; limited because servers never exit."""
LINGER_S = 20.0
"""Seconds to wait for an agent to exit when it has nothing left to do."""


STREAMING = (
    "-p",
    "--input-format", "stream-json",
    "--output-format", "stream-json",
    "--verbose",
)  # fmt: skip
"""The flags of a session that takes guidance."""


def user_message(text: str, message_id: str | None = None) -> bytes:
    """Return an input line with text for the agent; with an id, the agent sends receipts."""
    message: dict[str, object] = {
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": None,
        "session_id": "default",
    }
    if message_id is not None:
        message["uuid"] = message_id
    return _line(message)


def control_request(subtype: str) -> bytes:
    """Return an input line with a request to the agent's program, not to its model."""
    request = {"subtype": subtype}
    return _line({"type": "control_request", "request_id": str(uuid.uuid4()), "request": request})


def _line(message: dict[str, object]) -> bytes:
    # ASCII, so that lone surrogates of a file name in a prompt survive as escapes.
    return json.dumps(message).encode("ascii") + b"\n"


class StreamAgent:
    """An agent whose program speaks stream-json in both directions."""

    resumes = False

    def __init__(self, name: str, program: Sequence[str], context: AgentContext) -> None:
        self.name = name
        self.context = context
        self.ledger = Ledger()
        self._program = program

    def start(self, turn: Turn, emit: Emit) -> Session:
        return self.begin(replace(turn, resume=None), emit)

    def command_line(self, turn: Turn) -> list[str]:
        """Return the program and its flags for one session."""
        return [*self._program, *STREAMING, "--session-id", turn.session_id]

    def first_message(self, turn: Turn) -> str:
        """Return the first message of a session."""
        return turn.whole_prompt

    def begin(self, turn: Turn, emit: Emit) -> "StreamSession":
        """Start the process of a session."""
        context = self.context
        child = start_child(self.command_line(turn), context, turn)
        reader = StreamReader(turn.iteration, context.root, self.ledger, turn.resume)
        turn = replace(turn, prompt=self.first_message(turn))
        session = StreamSession(
            child, turn, emit, context.timeout_s, reader=reader, ledger=self.ledger
        )
        session.begin(self.name)
        return session


class StreamSession(ProcessSession):
    """A running agent that takes guidance."""

    takes_guidance = True
    line_limit = LONGEST_LINE

    def __init__(
        self,
        child: Child,
        turn: Turn,
        emit: Emit,
        timeout_s: float,
        *,
        reader: StreamReader,
        ledger: Ledger,
    ) -> None:
        super().__init__(child, turn, emit, timeout_s)
        self._reader = reader
        self._ledger = ledger
        self._sent: set[str] = set()
        self._on_its_way: set[str] = set()
        self._input_closed = False
        self._asks = turn.permissions.mode == "ask"
        self._awaits = False
        """True from `BackgroundAwaited` until no background work keeps the session open."""
        self._send(user_message(turn.prompt))

    def send(self, guidance_id: str, text: str) -> bool:
        """Send guidance; return False if the agent takes no more. Use a uuid as `guidance_id`."""
        with self._lock:
            if self._input_closed or self._finished or self._end_requested:
                return False
            self._sent.add(guidance_id)
            self._on_its_way.add(guidance_id)
            self._reader.receipts.awaited[guidance_id] = text
            self._send(user_message(text, guidance_id))
        return True

    def answer(self, request_id: str, answer: AgentAnswer) -> bool:
        with self._lock:
            if self._input_closed or self._finished or self._end_requested:
                return False
            found = self._reader.requests.answer(request_id, answer)
            if found is None:
                return False
            request, line = found
            refused = answer.decision == "refuse"
            self._reader.tools.record_decision(request, time.monotonic(), refused=refused)
            self._send(_line(line))
        self._close_when_done(force=False)  # the turn may have ended while this request was open
        return True

    def _events_of(self, line: str, offset: int) -> Iterable[ev.Event]:
        reader = self._reader
        turns_ended = reader.results
        for event in reader.feed(line, offset, time.monotonic()):
            match event:
                case ev.GuidanceDelivered() | ev.GuidanceAcknowledged() if not self._is_ours(event):
                    # The agent's messages to itself get receipts too.
                    continue
                case ev.GuidanceAcknowledged(guidance_id=guidance_id):
                    self._on_its_way.discard(guidance_id)
                    self._close_when_done(force=False)
                case ev.AgentAsked() if not self._asks or len(reader.requests) > MAX_OPEN:
                    self.answer(event.request_id, AgentAnswer("refuse", NO_APPROVER))
                    continue
                case _:
                    pass
            yield event
        if reader.results > turns_ended:
            self._close_when_done(force=False)
        if reader.ends.unrecoverable is not None and not self._end_requested:
            self._end(reader.ends.unrecoverable, at_once=True)
        yield from self._report_background(turn_ended=reader.results > turns_ended)
        # Once per run: the agent answers this with paid calls to its service.
        if not self._input_closed and reader.usage.window_unknown():
            self._send(control_request("get_context_usage"))

    def _is_news(self, line: bytes) -> bool:
        return line.startswith(b"{")

    def _is_ours(self, event: ev.GuidanceDelivered | ev.GuidanceAcknowledged) -> bool:
        return event.guidance_id in self._sent

    def _idle_after_s(self) -> float | None:
        reader = self._reader
        if not reader.results or reader.in_turn or self._end_requested or len(reader.requests):
            return None
        if not self._input_closed and not self._may_still_ask:
            return RECEIPT_S
        return BACKGROUND_S if len(reader.background) else LINGER_S

    def _on_idle(self) -> Iterable[ev.Event]:
        if self._input_closed or self._may_still_ask:
            if self._awaits:
                yield self._background(abandoned=True)
            self._end(SessionEnd("success"))
        self._close_when_done(force=True)

    @property
    def _may_still_ask(self) -> bool:
        """True if a subagent that keeps working after the turn may still ask the user."""
        return self._asks and len(self._reader.background) > 0

    def _report_background(self, *, turn_ended: bool) -> Iterable[ev.Event]:
        """Report background work that keeps the session open after a turn, and its end."""
        reader = self._reader
        held = len(reader.background) > 0 and not reader.in_turn and not self._end_requested
        if held and turn_ended:
            self._awaits = True
            yield self._background()
        elif self._awaits and not held:
            self._awaits = False
            yield ev.BackgroundAwaited(iteration=self._turn.iteration)

    def _background(self, *, abandoned: bool = False) -> ev.Event:
        background = self._reader.background
        tasks = background.named(time.monotonic())
        return ev.BackgroundAwaited(
            iteration=self._turn.iteration,
            tasks=tasks,
            unnamed=len(background) - len(tasks),
            silence_s=BACKGROUND_S,
            given_up=abandoned,
        )

    def _on_output_closed(self) -> Iterable[ev.Event]:
        if self._reader.session_id:
            self._ledger.names[self._turn.session_id] = self._reader.session_id
        return ()

    def _close_when_done(self, *, force: bool) -> None:
        reader = self._reader
        if not reader.results or reader.in_turn:
            return
        with self._lock:
            waits = self._on_its_way or self._may_still_ask or len(reader.requests)
            if not self._input_closed and (force or not waits):
                self._input_closed = True
                self._close_stdin()

    def _interrupt(self) -> bool:
        with self._lock:
            if self._input_closed:
                return False
            self._input_closed = True
            self._reader.tools.interrupted = True
        self._send(control_request("interrupt"))
        self._close_stdin()
        return True

    def _has_done_its_work(self) -> bool:
        reader = self._reader
        return self._input_closed and reader.ends.of_last_turn is not None and not reader.in_turn

    def _end_by_itself(self, exit_code: int | None) -> SessionEnd:
        reader, end = self._reader, self._reader.ends.of_last_turn
        died = exit_code is None or exit_code > 128
        if end is None or (died and reader.in_turn):
            end = reader.ends.at_exit(exit_code, self.stderr_tail, heard=reader.heard)
        if self._turn.resume and not reader.began and end.outcome in ("error", "crashed"):
            return SessionEnd("unresumable", end.reason)
        if not reader.heard and end.outcome in ("error", "crashed"):
            return replace(end, outcome="not_started")
        return end

    def _tally(self) -> Tally:
        return self._reader.tally()
