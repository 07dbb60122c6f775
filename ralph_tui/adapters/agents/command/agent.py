"""Sessions of a shell command that takes the prompt on stdin and prints plain text.

Its lines are reported in batches: a command may print ten thousand lines a second.
"""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import accumulate

from ralph_tui.adapters.agents.claims import ClaimReader
from ralph_tui.adapters.agents.command import COMMAND
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.ends import LONGEST_REASON, SessionEnd
from ralph_tui.adapters.agents.process_session import ProcessSession, start_child
from ralph_tui.events import AgentSpoke, Event
from ralph_tui.ports.agents import Turn
from ralph_tui.ports.host import Emit
from ralph_tui.text.format import lines_not_shown
from ralph_tui.text.sanitize import shorten

BATCH_S = 0.1
"""Seconds of output per batch."""
SLOWEST_S = 2.0
"""Maximum seconds per batch; a whole night of output then takes megabytes, not gigabytes."""
LINES = 12
"""Lines to keep at each end of a batch."""
FLOOD_RATE = 2 * LINES / BATCH_S
"""Lines per second up to which every line is reported; above it, batches get longer."""
SPOKEN = 2000
"""Maximum length of a batch, in characters."""
END = 960
"""Maximum length of each end of a batch that is too long; the rest is for the line between."""


class CommandAgent:
    """A shell command, run once per session."""

    name = COMMAND.name
    resumes = False

    def __init__(self, context: AgentContext) -> None:
        self._context = context

    def start(self, turn: Turn, emit: Emit) -> "CommandSession":
        command = self._context.settings.command or ""
        child = start_child(["/bin/sh", "-c", command], self._context, turn)
        session = CommandSession(child, turn, emit, self._context.timeout_s)
        session.begin(self.name)
        return session


class CommandSession(ProcessSession):
    """A running shell command."""

    speaks_plain_text = True
    tells_context = False

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        # A command that echoes its prompt repeats the contract; that is not a claim.
        orders = frozenset(self._turn.whole_prompt.splitlines())
        self._claims = ClaimReader(self._turn.iteration, orders)
        self._batch = Batch()
        self._wait_s = BATCH_S
        self._spoken = False
        self._send(self._turn.whole_prompt.encode("utf-8", "surrogateescape"))
        self._close_stdin()

    def _events_of(self, line: str, offset: int) -> Iterator[Event]:
        self._batch.add(line, offset, self._claims.feed(line))
        if time.monotonic() - self._batch.began >= self._wait_s:
            yield from self._flush()

    def _is_news(self, line: bytes) -> bool:
        return b'"ralph"' in line or b"<promise>" in line

    def _idle_after_s(self) -> float | None:
        return (
            max(0.0, self._batch.began + self._wait_s - time.monotonic()) if self._batch else None
        )

    def _on_idle(self) -> Iterable[Event]:
        return self._flush()

    def _on_output_closed(self) -> Iterable[Event]:
        return self._flush()

    def _flush(self) -> list[Event]:
        batch, self._batch = self._batch, Batch()
        flooded = batch.rate > FLOOD_RATE
        self._wait_s = min(self._wait_s * 2, SLOWEST_S) if flooded else BATCH_S
        return batch.events(self._turn.iteration)

    def _end_by_itself(self, exit_code: int | None) -> SessionEnd:
        said = f": {shorten(self.stderr_tail.strip(), LONGEST_REASON)}" if self.stderr_tail else "."
        if exit_code == 0:
            return SessionEnd("success")
        if exit_code in (126, 127) and not self._spoken:
            return SessionEnd("missing", f"The agent's command cannot be run ({exit_code}){said}")
        if exit_code is None or exit_code > 128:
            signal = "" if exit_code is None else f" by signal {exit_code - 128}"
            return SessionEnd("crashed", f"The agent's command was terminated{signal}{said}")
        return SessionEnd("error", f"The agent's command exited with code {exit_code}{said}")


class Batch:
    """Lines printed within one span of time; the middle of a long batch is only counted."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self._offset = 0
        self._head: list[str] = []
        self._tail: deque[str] = deque(maxlen=LINES)
        self._count = 0
        self._claims: dict[str, Event] = {}

    def __bool__(self) -> bool:
        return self._count > 0

    @property
    def rate(self) -> float:
        """Lines per second since the batch began."""
        return self._count / max(time.monotonic() - self.began, BATCH_S)

    def add(self, line: str, offset: int, claimed: Iterable[Event]) -> None:
        """Add a line and the claims it completes; the last claim of each kind wins."""
        if not self._count:
            self.began, self._offset = time.monotonic(), offset
        self._count += 1
        for claim in claimed:
            self._claims[claim.kind] = claim
        # A progress bar redraws its line after a carriage return; only the last state counts.
        shown = line[-SPOKEN * 4 :].rstrip("\r").rpartition("\r")[2] if "\r" in line else line
        if len(self._head) < LINES:
            self._head.append(shown[: 2 * SPOKEN])
        else:
            self._tail.append(shown[: 2 * SPOKEN])

    def events(self, iteration: int) -> list[Event]:
        """Return the output as text from the agent, then the claims."""
        lines, left_out = self._excerpt()
        text = "\n".join(lines).strip("\n")
        if not text.strip():
            return list(self._claims.values())
        event = AgentSpoke(iteration=iteration, text=text, offset=self._offset, left_out=left_out)
        return [event, *self._claims.values()]

    def _excerpt(self) -> tuple[list[str], int]:
        """Return the lines that fit, a line for the gap, and the number of lines in the gap."""
        known = [shorten(line, END) for line in (*self._head, *self._tail)]
        if self._count == len(known) and sum(len(line) + 1 for line in known) <= SPOKEN:
            return known, 0
        first = _fitting(known[:LINES])
        last = _fitting(known[len(first) :][-LINES:][::-1])[::-1]
        left_out = self._count - len(first) - len(last)
        return [*first, *([lines_not_shown(left_out)] if left_out else []), *last], left_out


def _fitting(lines: list[str]) -> list[str]:
    """Return the first lines that are at most `END` characters together."""
    sizes = accumulate(len(line) + 1 for line in lines)
    return [line for line, size in zip(lines, sizes, strict=True) if size <= END + 1]
