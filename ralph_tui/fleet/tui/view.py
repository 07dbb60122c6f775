"""View model of the fleet's screen: the fleet as of the last poll, and the selected loop. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from ralph_tui.events.base import EPOCH
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.state import FleetState, Lost


@dataclass(frozen=True)
class LoopRow:
    """A row with one loop."""

    loop: LoopState
    number: int = 1
    attempts: int = 1
    """Position and number of the attempts at one objective, which are listed together."""
    gone: bool = False
    """True if the fleet is not live, so nothing is working on the loop."""
    lost: Lost = ""
    """Why the fleet is lost; empty if it is not."""

    @property
    def id(self) -> str:
        return self.loop.spec.id

    @property
    def is_asking(self) -> bool:
        """True if the loop has an open question that can be answered."""
        return bool(self.loop.question) and not self.gone and not self.loop.over

    @property
    def is_waiting(self) -> bool:
        """True if it has a slot but is idle: it asks, is paused, or waits for a limit."""
        loop = self.loop
        held = self.is_asking or loop.phase in ("paused", "limited")
        return loop.status == "running" and held and not self.gone


@dataclass
class FleetView:
    """State of the fleet's screen, updated by `follow`."""

    state: FleetState
    now: datetime = EPOCH
    live: bool = False
    lost: Lost = ""
    note: str = ""
    rows: tuple[LoopRow, ...] = ()
    selected: int = 0
    log: bool = False
    """True if the log replaces the loops."""

    def follow(self, state: FleetState, now: datetime, *, live: bool, lost: Lost) -> None:
        """Take a new state; loops keep the plan's order, so the rows stay in place."""
        self.state, self.now, self.live, self.lost = state, now, live, lost
        self.rows = tuple(_rows(state, gone=not live, lost=lost))
        self.selected = max(0, min(self.selected, len(self.rows) - 1))

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def row(self) -> LoopRow | None:
        return self.rows[self.selected] if self.rows else None

    @property
    def several_hosts(self) -> bool:
        """True if loops run, or may run, on other hosts too."""
        return len(self.state.hosts) > 1

    @property
    def asking(self) -> LoopRow | None:
        """The selected loop if it is asking, else the next loop that is."""
        turned = [*self.rows[self.selected :], *self.rows[: self.selected]]
        return next((row for row in turned if row.is_asking), None)

    @property
    def all_paused(self) -> bool:
        """True if the fleet or all running loops are paused, or will be after their iteration."""
        if self.state.paused is not None:
            return True
        running = [row.loop for row in self.rows if row.loop.status == "running"]
        return bool(running) and all(loop.pauses for loop in running)


def _rows(state: FleetState, *, gone: bool, lost: Lost) -> Iterator[LoopRow]:
    """Yield rows in the plan's order, with attempts at one objective below the first of them."""
    grouped: set[str] = set()
    for loop in state.loops.values():
        common = loop.spec.tries_at
        if not common:
            yield LoopRow(loop, gone=gone, lost=lost)
        elif common not in grouped:
            grouped.add(common)
            attempts = state.attempts(common)
            for number, one in enumerate(attempts, 1):
                yield LoopRow(one, number, len(attempts), gone, lost)
