"""What a loop's run records, as it comes: its journal's lines, and its ``status.json``.

The tree is the agent's as well: what stands there is read as plain files of bounded size, and
believed by nobody before it was validated.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast, get_args

from ralph_tui.adapters.records.files import read_json
from ralph_tui.adapters.records.tail import ReplacedError, Tail
from ralph_tui.events.run import Outcome
from ralph_tui.fleet.ports import Observation, Recorded, Stands
from ralph_tui.text.foreign_json import parse_json

STATUS_S = 1.0
"""At most so often the status is looked at."""
MOST_STATUS = 1 << 20
"""Bytes of a status file that are read."""
MOST_LINES = 500
"""In one observation."""
_SEQ = re.compile(rb'\{"seq":(\d{1,12}),')
_ENDS = (b'"run_finished"', b'"run_crashed"', b'"run_resumed"')


class Follower:
    """Reads the folder of one attempt; one thread at a time."""

    def __init__(
        self, loop: str, attempt: int, folder: Path, observe: Callable[[Observation], None]
    ) -> None:
        """`folder` is the attempt's; nothing has to be in it yet."""
        self._loop = loop
        self._attempt = attempt
        self._folder = folder
        self._observe = observe
        self._tail = Tail(folder / "events.jsonl")
        self._told = 0
        """Of the journal, the last event that was told or is known to the fleet."""
        self._status: dict[str, Any] | None = None
        self._status_due = 0.0
        self.seq = 0
        """The last event of the journal."""
        self.outcome: Outcome | None = None
        """Of the run, as far as its journal goes."""
        self.reason = ""

    def begin_at(self, seen: int) -> None:
        """Tell everything behind this event, also what was told before."""
        self._tail.close()
        self._tail = Tail(self._folder / "events.jsonl")
        self._told = seen
        self._status = None
        self._status_due = 0.0

    def look(self, *, last: bool = False) -> bool:
        """Tell what is new, to the end of what is there now; whether anything was."""
        found = False
        for lines in self._new_lines():
            found = True
            self._tell(lines)
        return self._look_at_status(last=last) or found

    def close(self) -> None:
        """Close its files."""
        self._tail.close()

    def _new_lines(self) -> Iterator[list[bytes]]:
        while True:
            try:
                lines = self._tail.lines()
            except ReplacedError:
                continue
            if not lines:
                return
            yield lines

    def _tell(self, lines: list[bytes]) -> None:
        """In pieces of consecutive events: what the fleet has already is left out."""
        piece: list[str] = []
        first = 0
        for line in lines:
            number = _number(line)
            if number is None:
                continue
            self.seq = max(self.seq, number)
            self._look_for_end(line)
            if number != self._told + 1:
                continue  # it is known
            first = first or number
            piece.append(line.decode("utf-8", "replace").rstrip("\n"))
            self._told = number
            if len(piece) >= MOST_LINES:
                self._say(first, piece)
                piece, first = [], 0
        self._say(first, piece)

    def _say(self, first: int, piece: list[str]) -> None:
        if piece:
            self._observe(
                Recorded(loop=self._loop, attempt=self._attempt, seq=first, lines=tuple(piece))
            )

    def _look_for_end(self, line: bytes) -> None:
        if not any(end in line for end in _ENDS):
            return
        with suppress(ValueError):
            match parse_json(line):
                case {"kind": "run_finished", "outcome": str(outcome), "reason": str(reason)}:
                    if outcome in get_args(Outcome):
                        self.outcome, self.reason = cast("Outcome", outcome), reason
                case {"kind": "run_crashed", "error": str(error)}:
                    self.outcome, self.reason = "failed", f"a bug of ralph-tui: {error}"
                case {"kind": "run_resumed"}:
                    self.outcome, self.reason = None, ""

    def _look_at_status(self, *, last: bool) -> bool:
        now = time.monotonic()
        if now < self._status_due and not last:
            return False
        self._status_due = now + STATUS_S
        status = read_json(self._folder / "status.json", most=MOST_STATUS)
        if status is None or status == self._status:
            return False
        self._status = status
        self._observe(Stands(loop=self._loop, attempt=self._attempt, status=status))
        return True


def _number(line: bytes) -> int | None:
    """Of an event; None for a line that is none."""
    found = _SEQ.match(line)
    if found:
        return int(found[1])
    with suppress(ValueError):
        match parse_json(line):
            case {"seq": int(number)}:
                return number
    return None
