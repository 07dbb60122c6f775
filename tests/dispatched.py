"""Orders and a fleet's ear, for the tests of dispatch."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ralph_tui.fleet.ports import Observation, Recorded
from ralph_tui.ports.clones import Loop, Place, Source
from tests.waiting import PATIENCE_S, until


def place(loop: str, *, per_second: int = 0, count: int = 0) -> Place:
    """A played loop that records so many lines."""
    settings = {"per_second": str(per_second), "count": str(count)}
    return Place(
        fleet_id="f",
        fleet="night",
        loop=Loop(id=loop, objective="play", settings=settings),
        attempt=1,
        branch=f"ralph/night/{loop}",
        source=Source(commit="c", path="/nowhere", machine="m"),
    )


LISTEN = "0A"


def listening(pid: int | str = "self") -> list[str]:
    """Addresses, as the kernel writes them, at which a process listens for TCP."""
    mine = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            mine.add(str(descriptor.readlink()))
    rows = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
    ]
    return [row[1] for row in rows if row[3] == LISTEN and f"socket:[{row[9]}]" in mine]


class Heard(list[Observation]):
    """Observations received by a fleet, in order."""

    def of(self, kind: str) -> list[Observation]:
        return [what for what in self if what.kind == kind]

    def wait(self, kind: str, number: int = 1, timeout: float = PATIENCE_S) -> Observation:
        """Return the observation of this kind with that number."""
        return until(lambda: self.of(kind)[number - 1 :], timeout)[0]

    def seqs(self, loop: str) -> list[int]:
        """Numbers of a loop's lines in order; each line must carry its own number."""
        lines = (
            (what.seq + at, json.loads(line)["seq"])
            for what in list(self)
            if isinstance(what, Recorded) and what.loop == loop
            for at, line in enumerate(what.lines)
        )
        reported = list(lines)
        assert all(said == own for said, own in reported)
        return [said for said, _ in reported]

    def until_seq(self, loop: str, last: Callable[[], int] | int) -> None:
        """Wait for a line with at least this number."""
        wanted = last if isinstance(last, int) else last()
        until(lambda: max(self.seqs(loop), default=0) >= wanted)
