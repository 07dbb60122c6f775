"""Agents that speak Claude Code's stream-json both ways on one pipe pair.

The prompt is the first user message; guidance follows as further ones, each with a uuid for which
the agent gives receipts. Stdin stays open until a result has come and no guidance is on its way,
then it is closed; output is read to its end, because background work brings further turns.
"""

import json
import time
import uuid
from collections.abc import Iterable, Sequence

from ralph_tui.agents import outcome
from ralph_tui.agents.outcome import Verdict
from ralph_tui.agents.process import ProcessSession, Tally
from ralph_tui.agents.start import Settings, start_child
from ralph_tui.agents.stream import StreamReader
from ralph_tui.events import Event, GuidanceAcknowledged
from ralph_tui.ports import Emit, Turn
from ralph_tui.processes.child import Child

LONGEST_LINE = 64 << 20
RECEIPT_S = 10.0
"""How long a finished agent may be silent about guidance before stdin is closed all the same."""


def arguments(program: Sequence[str], session_id: str) -> list[str]:
    """The command line for one session."""
    return [
        *program,
        "-p",
        "--input-format", "stream-json",
        "--output-format", "stream-json",
        "--verbose",
        "--replay-user-messages",
        "--session-id", session_id,
    ]  # fmt: skip


def user_message(text: str, message_id: str | None = None) -> bytes:
    """A line of input: words for the agent; with an id it gives receipts."""
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
    """A line of input: a request to the agent's program, not to its model."""
    request = {"subtype": subtype}
    return _line({"type": "control_request", "request_id": str(uuid.uuid4()), "request": request})


def _line(message: dict[str, object]) -> bytes:
    # ASCII, so that lone surrogates of a file name in a prompt survive as escapes.
    return json.dumps(message).encode("ascii") + b"\n"


class StreamAgent:
    """An agent whose program speaks stream-json both ways."""

    def __init__(self, name: str, program: Sequence[str], settings: Settings) -> None:
        self.name = name
        self._program = program
        self._settings = settings
        self._windows: dict[str, int] = {}

    def start(self, turn: Turn, emit: Emit) -> "StreamSession":
        """Start a session; raises ``AgentError`` when the program cannot be started."""
        child = start_child(arguments(self._program, turn.session_id), self._settings, turn)
        reader = StreamReader(turn.iteration, self._settings.root, self._windows)
        session = StreamSession(child, turn, emit, self._settings.timeout_s, reader=reader)
        session.begin(self.name)
        return session


class StreamSession(ProcessSession):
    """A running agent that can be spoken to."""

    takes_guidance = True
    line_limit = LONGEST_LINE

    def __init__(
        self, child: Child, turn: Turn, emit: Emit, timeout_s: float, *, reader: StreamReader
    ) -> None:
        super().__init__(child, turn, emit, timeout_s)
        self._reader = reader
        self._on_its_way: set[str] = set()
        self._idle = False
        """Whether the last thing heard ended a turn."""
        self._input_closed = False
        self._say(user_message(turn.prompt))

    def send(self, guidance_id: str, text: str) -> bool:
        """Hand words over; False when the agent takes no more. `guidance_id` should be a uuid."""
        with self._lock:
            if self._input_closed or self._finished or self._stop_outcome is not None:
                return False
            self._on_its_way.add(guidance_id)
            self._say(user_message(text, guidance_id))
        return True

    def _heard(self, line: str, offset: int) -> Iterable[Event]:
        turns_ended = self._reader.results
        for event in self._reader.feed(line, offset, time.monotonic()):
            if isinstance(event, GuidanceAcknowledged):
                self._on_its_way.discard(event.guidance_id)
            yield event
        self._idle = self._reader.results > turns_ended
        if self._idle:
            self._close_when_done(force=False)
        self._ask_for_window()

    def _patience(self) -> float | None:
        return RECEIPT_S if self._idle and not self._input_closed else None

    def _silence(self) -> Iterable[Event]:
        self._close_when_done(force=True)
        return ()

    def _close_when_done(self, *, force: bool) -> None:
        with self._lock:
            if not self._input_closed and (force or not self._on_its_way):
                self._input_closed = True
                self._close_stdin()

    def _ask_for_window(self) -> None:
        """Once per model and run: the agent pays for the answer with calls to its service."""
        if not self._input_closed and self._reader.usage.window_unknown():
            self._say(control_request("get_context_usage"))

    def _interrupt(self) -> None:
        self._say(control_request("interrupt"))

    def _decided(self) -> bool:
        return self._input_closed and self._reader.verdict is not None

    def _verdict(self, exit_code: int | None) -> Verdict:
        reader = self._reader
        if reader.verdict is not None:
            return reader.verdict
        if reader.last_refusal is not None:
            return outcome.of_refusal(reader.last_refusal)
        return outcome.of_exit(exit_code, self.stderr_tail, heard=reader.heard)

    def _tally(self) -> Tally:
        reader = self._reader
        return Tally(
            cost_usd=reader.usage.cost_usd,
            tokens=reader.usage.tokens,
            turns=reader.turns,
            tool_calls=reader.tool_calls,
            tool_errors=reader.tool_errors,
        )
