"""Follow the records of a loop's run: new lines of its journal, and its ``status.json``.

The agent can also write to the clone, so these files are read as plain files of bounded size, and
their content is validated before it is used.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast, get_args

from ralph_tui.adapters.clones.places import PlaceRecord, TreeFolder
from ralph_tui.adapters.records.files import read_json
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.lock import Owner
from ralph_tui.adapters.records.tail import ReplacedError, Tail
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events.run import Outcome
from ralph_tui.fleet.ports import Began, Observation, Observe, Recorded, StatusChanged
from ralph_tui.ports.clones import Place
from ralph_tui.text.foreign_json import parse_json

STATUS_S = 1.0
"""Minimum number of seconds between two checks of the status."""
MAX_STATUS = 1 << 20
"""Maximum number of bytes read from a status file."""
MAX_LINES = 500
"""Maximum number of journal lines in one observation."""
_SEQ = re.compile(rb'\{"seq":(\d{1,12}),')
_ENDS = (b'"run_finished"', b'"run_crashed"', b'"run_resumed"')


class RunFollower:
    """Reads the folder of one attempt; not for use by several threads at once."""

    def __init__(
        self, loop: str, attempt: int, folder: Path, observe: Callable[[Observation], None]
    ) -> None:
        """`folder` is the attempt's folder; it may still be empty."""
        self._loop = loop
        self._attempt = attempt
        self._folder = folder
        self._observe = observe
        self._tail = Tail(folder / "events.jsonl")
        self._sent_seq = 0
        """Number of the last event that was sent or that the fleet already had."""
        self._status: dict[str, Any] | None = None
        self._status_due = 0.0
        self.seq = 0
        """Number of the last event in the journal."""
        self.outcome: Outcome | None = None
        """Outcome of the run according to its journal so far."""
        self.reason = ""

    def begin_at(self, seen: int) -> None:
        """Send everything after event `seen`, including events that were already sent."""
        self._tail.close()
        self._tail = Tail(self._folder / "events.jsonl")
        self._sent_seq = seen
        self._status = None
        self._status_due = 0.0

    def poll(self, *, last: bool = False) -> bool:
        """Send everything new; return True if anything was."""
        found = False
        for lines in self._new_lines():
            found = True
            self._send_events(lines)
        return self._check_status(last=last) or found

    def close(self) -> None:
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

    def _send_events(self, lines: list[bytes]) -> None:
        """Send consecutive events in batches, except those that the fleet already has."""
        piece: list[str] = []
        first = 0
        for line in lines:
            number = _parse_seq(line)
            if number is None:
                continue
            self.seq = max(self.seq, number)
            self._check_end(line)
            if number != self._sent_seq + 1:
                continue  # already known
            first = first or number
            piece.append(line.decode("utf-8", "replace").rstrip("\n"))
            self._sent_seq = number
            if len(piece) >= MAX_LINES:
                self._send_lines(first, piece)
                piece, first = [], 0
        self._send_lines(first, piece)

    def _send_lines(self, first: int, piece: list[str]) -> None:
        if piece:
            self._observe(
                Recorded(loop=self._loop, attempt=self._attempt, seq=first, lines=tuple(piece))
            )

    def _check_end(self, line: bytes) -> None:
        if not any(end in line for end in _ENDS):
            return
        with suppress(ValueError):
            match parse_json(line):
                case {"kind": "run_finished", "outcome": str(outcome), "reason": str(reason)}:
                    if outcome in get_args(Outcome):
                        self.outcome, self.reason = cast("Outcome", outcome), reason
                case {"kind": "run_crashed", "error": str(error)}:
                    self.outcome, self.reason = "failed", f"a bug in ralph-tui: {error}"
                case {"kind": "run_resumed"}:
                    self.outcome, self.reason = None, ""

    def _check_status(self, *, last: bool) -> bool:
        now = time.monotonic()
        if now < self._status_due and not last:
            return False
        self._status_due = now + STATUS_S
        status = read_json(self._folder / "status.json", most=MAX_STATUS)
        if status is None or status == self._status:
            return False
        self._status = status
        self._observe(StatusChanged(loop=self._loop, attempt=self._attempt, status=status))
        return True


def _parse_seq(line: bytes) -> int | None:
    """Return the number of an event; None if the line is not an event."""
    found = _SEQ.match(line)
    if found:
        return int(found[1])
    with suppress(ValueError):
        match parse_json(line):
            case {"seq": int(number)}:
                return number
    return None


class RunReporter:
    """Reports on the run of one attempt: where it records, and what it has recorded.

    The loop's thread uses it during the run, and later the owner of the loop.
    """

    def __init__(self, place: Place, folder: TreeFolder, observe: Observe) -> None:
        self.follower: RunFollower | None = None
        self._place = place
        self._folder = folder
        self._observe = observe
        self._began: Began | None = None
        self._unsaved: dict[str, Any] = {}

    @property
    def seq(self) -> int:
        """Number of the last event in the run's journal; 0 before the first."""
        return self.follower.seq if self.follower else 0

    @property
    def began(self) -> bool:
        """True if the run was found."""
        return self._began is not None

    def begin(self, run: str, run_id: str, ports: tuple[int, int] | None) -> None:
        """Report that the run was found, and follow it from the event after those the fleet has."""
        records = self._folder.attempt_folder(run)
        if records is None:
            return
        loop, attempt = self._place.loop.id, self._place.attempt
        self._began = Began(
            loop=loop,
            attempt=attempt,
            run_id=run_id,
            run=run,
            folder=str(self._folder.tree),
            ports=ports,
        )
        self._observe(self._began)
        self.follower = RunFollower(loop, attempt, records, self._observe)
        self.follower.begin_at(self._place.seen)
        self._unsaved = {"run": run, "run_id": run_id, "ports": ports}
        self._save()

    def poll(self, *, last: bool = False) -> bool:
        """Report everything new; return True if anything was."""
        self._save()
        return self.follower is not None and self.follower.poll(last=last)

    def resend(self, seen: int) -> None:
        """Report everything after event `seen` again."""
        if self._began is not None:
            self._observe(self._began)
        if self.follower is not None:
            self.follower.begin_at(seen)
            self.follower.poll(last=True)

    def restore(self) -> None:
        """Find the run of a loop from an earlier process of this host.

        That process may have ended before it saw the run begin; then the clone's lock names the
        run.
        """
        record = self._folder.read()
        if record is None or self.began:
            return
        owner = Owner.read(ralph_folder(self._folder.tree) / "lock")
        run, run_id = (record.run, record.run_id) if record.run else (owner.run, owner.run_id)
        if run:
            self.begin(run, run_id, record.ports)

    def _save(self) -> None:
        """Record which run it is, for a later process; retry later if the disk is full."""
        if not self._unsaved:
            return
        record = self._folder.read() or PlaceRecord(place=self._place, ready=True)
        with suppress(WorkspaceError):
            self._folder.write(record.model_copy(update=self._unsaved))
            self._unsaved = {}

    def close(self) -> None:
        """Close the files; they are reopened when needed."""
        if self.follower is not None:
            self.follower.close()
