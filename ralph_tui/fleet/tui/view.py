"""What the fleet's screen knows: the fleet as of the last poll, and the selected loop. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from ralph_tui.events.base import EPOCH
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.state import FleetState, Lost


@dataclass(frozen=True)
class LoopRow:
    """A loop in its row."""

    loop: LoopState
    number: int = 1
    tries: int = 1
    """Which of so many tries at one objective it is; they stand below one another."""
    gone: bool = False
    """The fleet is not live, and nobody works on the loop."""
    lost: Lost = ""
    """Of the fleet."""

    @property
    def id(self) -> str:
        """Of the loop."""
        return self.loop.spec.id

    @property
    def asks(self) -> bool:
        """It waits for an answer, and somebody can hear one."""
        return bool(self.loop.question) and not self.gone and not self.loop.over

    @property
    def waits(self) -> bool:
        """It has a slot and does nothing: it asks, is paused, or waits for a limit."""
        loop = self.loop
        held = self.asks or loop.phase in ("paused", "limited")
        return loop.status == "running" and held and not self.gone


@dataclass
class FleetView:
    """See above; `follow` brings it up to date."""

    state: FleetState
    now: datetime = EPOCH
    live: bool = False
    lost: Lost = ""
    note: str = ""
    rows: tuple[LoopRow, ...] = ()
    selected: int = 0
    log: bool = False
    """The log has the place of the loops."""

    def follow(self, state: FleetState, now: datetime, *, live: bool, lost: Lost) -> None:
        """Another state; the loops keep the order of the plan, and with it their rows."""
        self.state, self.now, self.live, self.lost = state, now, live, lost
        self.rows = tuple(_rows(state, gone=not live, lost=lost))
        self.selected = max(0, min(self.selected, len(self.rows) - 1))

    @property
    def count(self) -> int:
        """How many rows."""
        return len(self.rows)

    @property
    def row(self) -> LoopRow | None:
        """The selected one."""
        return self.rows[self.selected] if self.rows else None

    @property
    def several_hosts(self) -> bool:
        """Whether loops run, or may run, elsewhere than on this machine."""
        return len(self.state.hosts) > 1

    @property
    def asking(self) -> LoopRow | None:
        """The selected loop where it asks, else the next one that does."""
        turned = [*self.rows[self.selected :], *self.rows[: self.selected]]
        return next((row for row in turned if row.asks), None)

    @property
    def all_paused(self) -> bool:
        """Whether the fleet is paused, or all loops that run are."""
        if self.state.paused is not None:
            return True
        running = [row.loop for row in self.rows if row.loop.status == "running"]
        return bool(running) and all(loop.phase == "paused" for loop in running)


def _rows(state: FleetState, *, gone: bool, lost: Lost) -> Iterator[LoopRow]:
    """In the order of the plan; tries at one objective below the first of them."""
    told: set[str] = set()
    for loop in state.loops.values():
        common = loop.spec.tries_at
        if not common:
            yield LoopRow(loop, gone=gone, lost=lost)
        elif common not in told:
            told.add(common)
            tries = state.tries(common)
            for number, one in enumerate(tries, 1):
                yield LoopRow(one, number, len(tries), gone, lost)
