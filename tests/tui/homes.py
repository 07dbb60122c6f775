"""Home in tests: runs that a test thinks up, and the app that lists them."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ralph_tui.base.errors import WorkspaceError
from ralph_tui.commands import Command
from ralph_tui.ports.runs import FleetGlance, RunRow
from ralph_tui.tui.app import RalphApp
from ralph_tui.tui.home.screen import HomeScreen
from ralph_tui.tui.home.table import Listing
from tests.tui.archive import OneRun, beside
from tests.tui.driving import Driver, Stopwatch, story
from tests.tui.new_runs import GOOD, FixedSurroundings

NOW = datetime(2026, 1, 9, 12, tzinfo=UTC)
DONE = RunRow(
    name="task-001/001",
    objective="Fix the failing parser tests",
    status="completed",
    agent="claude",
    iterations=5,
    max_iterations=10,
    completions=(0.2, 0.4, 0.62, 0.8, 1.0),
    interventions=2,
    cost_usd=1.82,
    started=NOW - timedelta(days=3, hours=1),
    updated=NOW - timedelta(days=3),
    seconds=2460,
)
LIVE = replace(
    DONE,
    name="task-002/001",
    objective="Move the storage to the new client",
    status="agent",
    completions=(0.1, 0.3),
    interventions=0,
    updated=NOW - timedelta(minutes=1),
    started=NOW - timedelta(minutes=21),
    seconds=1200,
    live=True,
)
ASKS = replace(LIVE, status="paused", question=True)
USED_UP = replace(DONE, name="task-004/001", status="limit_reached", iterations=10)
DIED = replace(DONE, name="task-003/001", status="died", completions=(), cost_usd=None)


class Recorded:
    """Runs chosen by a test; records which were read."""

    place = "~/parser"

    def __init__(self, *rows: RunRow) -> None:
        self.rows = {row.name: row for row in rows}
        self.read_names: list[str] = []
        self.looks = 0
        self.problem = ""
        self.lost_runs: Sequence[str] = ()
        self.fleet_seen: FleetGlance | None = None
        self._names: Sequence[str] | None = None

    def names(self) -> Sequence[str] | None:
        if self.problem:
            raise WorkspaceError(self.problem)
        self.looks += 1
        names = list(self.rows)
        known, self._names = self._names, names
        return None if names == known else names

    def lost(self) -> Sequence[str]:
        return self.lost_runs

    def fleet(self) -> FleetGlance | None:
        return self.fleet_seen

    def live_names(self) -> Sequence[str]:
        return [name for name, row in self.rows.items() if row.live]

    def read(self, names: Iterable[str]) -> Mapping[str, RunRow]:
        names = list(names)
        self.read_names += names
        return {name: self.rows[name] for name in names if name in self.rows}


class HomeDriver(Driver):
    """A home under test; `chosen` is the command line that it has ended with."""

    def __init__(
        self, *rows: RunRow, said: str = "", listing: Listing | None = None, **options: Any
    ) -> None:
        self.runs, self.listing = Recorded(*rows), listing or Listing()
        self.now = NOW
        self.chosen: Sequence[str] | None = None
        self.sent: list[Command] = []
        self.watch = Stopwatch()
        archive = beside(OneRun(story("stuck")))
        self.app = RalphApp(
            lambda: self._screen(said), monotonic=self.watch, beside=archive, **options
        )

    def _screen(self, said: str) -> HomeScreen:
        def choose(command: Sequence[str]) -> None:
            self.chosen = command

        place = replace(GOOD, folder=Recorded.place)
        return HomeScreen(
            self.runs,
            self.listing,
            choose,
            new_runs=lambda: FixedSurroundings(place),
            message=said,
            clock=lambda: self.now,
        )

    async def opened(self) -> None:
        await self.until(lambda: self.listing.loaded or self.runs.problem)

    def rows(self) -> list[str]:
        """The rows without trailing blanks."""
        return [row.rstrip() for row in self.text()]

    @property
    def page(self) -> str:
        """All of the screen."""
        return "\n".join(self.rows())


Story = Callable[[HomeDriver], Coroutine[Any, Any, None]]


def at_home(story: Story, home: HomeDriver, *, size: tuple[int, int] = (80, 24)) -> HomeDriver:
    """Play a story at home."""

    async def play() -> None:
        async with home.app.run_test(size=size) as home.pilot:
            await home.opened()
            await story(home)

    asyncio.run(play())
    return home
