"""Fleets in tests: journals that a test thinks up, and the app that shows them."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from typing import Any

from ralph_tui.base.errors import RalphError
from ralph_tui.commands import Command, Present
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.plan import Plan
from ralph_tui.fleet.ports import TargetedCommand
from ralph_tui.fleet.state import FleetState, Lost
from ralph_tui.fleet.tui.screen import FleetScreen
from ralph_tui.ports.clones import Loop
from ralph_tui.runtime.sources.live import Live
from ralph_tui.tui.app import RalphApp, SideScreen
from ralph_tui.tui.cockpit.recorded import LoopScreen
from tests.fleet_events import START
from tests.tui.archive import OneRun, beside
from tests.tui.driving import Driver, Stopwatch, story

FIX, MOVE, FAST, DOCS, RUST = (
    "Fix the failing parser tests",
    "Move the storage to the new client without changing what callers see",
    "Make the importer as fast as the old one",
    "Write the guide for new users",
    "Port the lexer",
)


def _loop(name: str, objective: str, **more: Any) -> Loop:
    return Loop(id=name, objective=objective, command="pytest -q", **more)


PLAN = Plan(
    name="night",
    agents=4,
    budget_usd=40.0,
    loops=(
        _loop("1", FIX),
        _loop("2", MOVE, account="work", issue=42),
        *(
            _loop(f"3{one}", FAST, tries_at="3", settings={"agent.name": agent})
            for one, agent in zip("abc", ("claude", "codex", "gemini"), strict=True)
        ),
        _loop("4", DOCS, account="work"),
        _loop("5", RUST, after=("1",)),
    ),
)
BEGINS = ev.FleetStarted(
    fleet_id="4e1c", name="fleet-001", root="/home/me/parser", commit="c0ffee", plan=PLAN
)


def joined(host: str, slots: int = 2, machine: str = "desk") -> FleetEvent:
    return ev.HostJoined(host=host, slots=slots, machine=machine, version="1")


def placed(loop: str, host: str = "local", attempt: int = 1) -> list[FleetEvent]:
    branch = f"ralph/fleet-001/{loop}"
    return [
        ev.LoopPlaced(loop=loop, attempt=attempt, host=host, branch=branch),
        ev.LoopStage(loop=loop, stage="cloning"),
    ]


def began(loop: str, host: str = "local", attempt: int = 1) -> list[FleetEvent]:
    folder = f"/home/me/.local/state/ralph-tui/fleets/4e1c/{loop}"
    return [
        *placed(loop, host, attempt),
        ev.LoopBegan(
            loop=loop, run_id=f"run-{loop}", run="task-001/001", folder=folder, machine="desk",
            ports=(20000, 20009),
        ),
    ]  # fmt: skip


def works(loop: str, *completions: float, **more: Any) -> list[FleetEvent]:
    fields: dict[str, Any] = {"phase": "agent", "cost_usd": 0.6 * len(completions)} | more
    return [
        ev.LoopProgressed(
            loop=loop, iteration=number, max_iterations=10, completion=value, **fields
        )
        for number, value in enumerate(completions, 1)
    ]


def ended(loop: str, outcome: Any = "completed", **more: Any) -> FleetEvent:
    fields: dict[str, Any] = {"iterations": 4, "completion": 1.0, "cost_usd": 2.1} | more
    return ev.LoopEnded(loop=loop, outcome=outcome, **fields)


def collected(loop: str, files: int = 5) -> FleetEvent:
    return ev.ResultCollected(
        loop=loop, branch=f"ralph/fleet-001/{loop}", commit=f"{loop}c0ffee123", files=files,
        changed_lines=120,
    )  # fmt: skip


def timed(events: Sequence[FleetEvent], step_s: float = 20.0) -> list[FleetEvent]:
    """Number and time events as in a journal, some seconds apart."""
    return [
        event.model_copy(update={"seq": n, "at": START + timedelta(seconds=step_s * n)})
        for n, event in enumerate(events, 1)
    ]


def under_way(*more: FleetEvent) -> list[FleetEvent]:
    """Four run, one of them asks, one is placed, and one waits for another; then `more`."""
    last = START + timedelta(seconds=20 * 31)
    return timed([
        BEGINS, joined("local", 4), joined("beta", 2, "bench"),
        *began("1"), *works("1", 0.2, 0.41, 0.62, verdict="on track: about 2 more iterations"),
        *began("2"), *works("2", 0.1, 0.18, phase="paused", question_id="q1",
                            question="Send the agent new instructions?",
                            until=last + timedelta(minutes=4)),
        *began("3a"), *works("3a", 0.3, 0.55, 0.7, 0.7),
        *began("3b", "beta"), *works("3b", 0.3, 0.2, phase="limited", waits_for="usage_limit",
                                     until=last + timedelta(minutes=42)),
        *placed("3c", "beta"),
        *more,
    ])  # fmt: skip


def finished() -> list[FleetEvent]:
    """A finished fleet in which two branches conflict."""
    return timed([
        *under_way()[:-2],
        *began("3c", "beta"), *works("3c", 0.4, 0.9),
        ended("1"), collected("1", 3), ended("2", "limit_reached", completion=0.72), collected("2"),
        ended("3a"), collected("3a", 12), ended("3b", "interrupted", reason="another try has won"),
        collected("3b", 2),
        ended("3c", "failed", reason="the agent cannot sign in", completion=0.9),
        ev.CollectionFailed(loop="3c", reason="the disk of beta is full"),
        ev.WinnerVerified(loop="3a", passed=True),
        ev.WinnerChosen(tries_at="3", loop="3a", reason="the first whose tests pass"),
        ev.ConflictsFound(branch="ralph/fleet-001/1",
                            others={"ralph/fleet-001/3a": ("parser.py", "lexer.py")}),
        *began("4"), ended("4"), collected("4", 1),
        ev.LoopSkipped(loop="5", reason="aborted by you (terminal pts/3)"),
        ev.FleetFinished(outcome="limit_reached", reason="4 of 7 loops completed",
                           spent_usd=12.3),
    ])  # fmt: skip


class PlayedFleet:
    """A fleet played by a test; `sent` holds the commands it received."""

    name = "you"

    def __init__(self, events: Sequence[FleetEvent], *, lost: Lost = "") -> None:
        self.state = FleetState().replay(events)
        self.lost, self.note, self.loaded = lost, "", True
        self.refused: deque[tuple[TargetedCommand, str]] = deque()
        self.sent: list[TargetedCommand] = []
        self.coming: deque[FleetEvent] = deque()
        self.started = self.stopped = 0

    @property
    def live(self) -> bool:
        return self.state.finished is None and not self.lost

    def start(self) -> None:
        self.started += 1

    def poll(self, now: float) -> FleetState:
        while self.coming:
            event = self.coming.popleft()
            at = self.state.at + timedelta(seconds=20)
            self.state.apply(event.model_copy(update={"seq": self.state.seq + 1, "at": at}))
        return self.state

    def clock(self) -> datetime:
        return self.state.at + timedelta(seconds=5) if self.live else self.state.at

    def send(self, loop: str, command: Command) -> None:
        if not isinstance(command, Present):
            self.sent.append(TargetedCommand(loop, command))

    def stop(self) -> None:
        self.stopped += 1


class FleetDriver(Driver):
    """A fleet's screen under test; its loops are shown as a story tells them."""

    def __init__(
        self,
        events: Sequence[FleetEvent],
        *,
        lost: Lost = "",
        at_once: str = "",
        loop: str = "running",
        **options: Any,
    ) -> None:
        self.fleet = PlayedFleet(events, lost=lost)
        self.watch, self.loop_sent = Stopwatch(), list[Command]()
        self.opened_loops: list[str] = []
        self._story = story(loop)
        self.app = RalphApp(
            lambda: FleetScreen(self.fleet, self._open, at_once=at_once),
            monotonic=self.watch,
            beside=beside(OneRun(story("stuck"))),
            **options,
        )

    def _open(self, loop: str) -> SideScreen:
        if self.fleet.state.loops[loop].status == "skipped":
            raise RalphError(f"loop {loop} has no record")
        self.opened_loops.append(loop)
        now = self._story[-1].at + timedelta(seconds=3)
        return LoopScreen(Live(deque(self._story), self.loop_sent.append, wall_clock=lambda: now))

    @property
    def screen(self) -> FleetScreen:
        found = self.app.get_screen_stack("first")[0]
        assert isinstance(found, FleetScreen)
        return found

    async def opened(self) -> None:
        """See `Driver`."""
        await self.until(lambda: self.text() and "fleet-" in self.text()[0])

    def rows(self) -> list[str]:
        """The rows without trailing blanks."""
        return [row.rstrip() for row in self.text()]

    @property
    def page(self) -> str:
        """All of the screen."""
        return "\n".join(self.rows())

    @property
    def answer(self) -> str:
        """The last row's feedback for the most recent key."""
        return self.screen.foot.answer


Story = Callable[[FleetDriver], Coroutine[Any, Any, None]]


def with_fleet(
    story: Story, driver: FleetDriver, *, size: tuple[int, int] = (80, 24)
) -> FleetDriver:
    """Play a story on a fleet's screen."""

    async def play() -> None:
        async with driver.app.run_test(size=size) as driver.pilot:
            await driver.opened()
            await story(driver)

    asyncio.run(play())
    return driver
