"""Driving the cockpit in tests: a frozen clock, conditions for sleeps, the screen as text."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from datetime import timedelta
from functools import cache, partial
from typing import Any

import textual.app
import textual.pilot
from rich.cells import cell_len
from textual._compositor import Compositor
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.pilot import Pilot

from ralph_tui.commands import Command, Present
from ralph_tui.events import Event
from ralph_tui.ports.source import Source
from ralph_tui.runtime.sources.live import Live
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.tui.app import RalphApp
from ralph_tui.tui.cockpit.screen import CockpitScreen
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.modals.modal import Modal
from tests.waiting import PATIENCE_S
from tests.world.asking import ASKING
from tests.world.decisions import DECISIONS
from tests.world.stories import STORIES
from tests.world.takeovers import TAKEOVERS
from tests.world.taught import TAUGHT
from tests.world.windows import WINDOWS

LOOK_S = 0.005
"""Between two looks at a condition, which a timer or a thread may bring about."""

_parse_rules = Stylesheet._parse_rules
_parsed: dict[Hashable, list[RuleSet]] = {}


def _cached_rules(
    sheet: Stylesheet, css: str, read_from: CSSLocation, *rest: Any, **named: Any
) -> Any:
    """The rules of a text are the same in every app: parsing them is a tenth of a short test."""
    variables = frozenset(sheet._variables.items())
    key = (css, read_from, rest, *sorted(named.items()), variables)
    if key not in _parsed:
        _parsed[key] = _parse_rules(sheet, css, read_from, *rest, **named)
    return _parsed[key]


Stylesheet._parse_rules = _cached_rules  # type: ignore[assignment,method-assign]
# Same result as the original, which is slow Python called a hundred times per widget.
RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]


async def idle(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Wait until the loop has nothing to do but timers and threads; Textual sleeps 20 ms for it."""
    loop, end = asyncio.get_running_loop(), time.monotonic() + max_sleep
    await asyncio.sleep(min_sleep)
    while loop._ready and time.monotonic() < end:  # type: ignore[attr-defined]
        await asyncio.sleep(0)


async def _wait_for_screen(pilot: Pilot[Any], timeout: float = PATIENCE_S) -> bool:
    await idle(max_sleep=timeout)
    return True


_render_update = Compositor.render_update


def _drawn_on_demand(compositor: Compositor, *, full: bool = False, **named: Any) -> Any:
    """Skip frames that no test looks at; dirty regions stay dirty until `draw`."""
    return _render_update(compositor, full=full, **named) if full else None


Compositor.render_update = _drawn_on_demand  # type: ignore[assignment,method-assign]
textual.app.wait_for_idle = textual.pilot.wait_for_idle = idle  # type: ignore[attr-defined]
Pilot._wait_for_screen = _wait_for_screen  # type: ignore[assignment,method-assign]


class Stopwatch:
    """Monotonic time that moves only when a test advances it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Driver:
    """An app under test with its inputs."""

    def __init__(self, source: Source, **options: Any) -> None:
        self.watch = Stopwatch()
        self.source = source
        self.sent: list[Command] = []
        self.inbox: deque[Event] = deque()
        self.app = RalphApp(partial(CockpitScreen, source), monotonic=self.watch, **options)
        self.pilot: Pilot[str]

    @property
    def cockpit(self) -> CockpitScreen:
        return next(s for s in self.app.screen_stack if isinstance(s, CockpitScreen))

    def text(self) -> list[str]:
        """The rows of the screen as they are seen."""
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    def draw(self) -> None:
        """Let each visible widget lay out its rows, as the frame before a key does."""
        for widget in self.app.screen._compositor.visible_widgets:
            if isinstance(widget, LineWidget) and widget.size:
                widget.render_line(0)

    async def until(self, condition: Callable[[], object], timeout: float = PATIENCE_S) -> None:
        """Wait for a condition, letting the app work."""
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, "\n".join(["still not so:", *self.text()])
            await self.pilot.pause(LOOK_S)

    async def sees(self, text: str) -> None:
        """Wait until the screen shows a text."""
        await self.until(lambda: text in "\n".join(self.text()))

    async def resize(self, size: tuple[int, int]) -> None:
        """Another terminal: cheaper than another app."""
        await self.pilot.resize_terminal(*size)
        await self.until(
            lambda: (
                self.app.screen.size == size
                and [cell_len(row) for row in self.text()] == [size[0]] * size[1]
            )
        )
        await self.pilot.pause()

    async def opened(self) -> None:
        await self.until(lambda: self.cockpit.state.run.started)

    def _opens(self) -> bool:
        """A dialog is on its way up: it does not know yet since when it can be seen."""
        screen = self.app.screen
        return isinstance(screen, Modal) and screen._accepts_from == float("inf")

    async def press(self, *keys: str) -> None:
        """Press keys, long enough after whatever opened last."""
        for key in keys:
            await self.until(lambda: not self._opens())
            self.watch.now += 3.0
            self.draw()
            await self.pilot.press(key)
            await self.pilot.pause()
            for screen in self.app.screen_stack:
                if screen.is_running and hasattr(screen, "tick"):
                    screen.tick()
            await self.pilot.pause()


def live(events: Sequence[Event], **options: Any) -> Driver:
    """A driver of a live run that has come this far; `sent` collects its commands."""
    now = events[-1].at + timedelta(seconds=3)
    inbox = deque(events)
    sent: list[Command] = []
    folder = options.pop("folder", None)

    def send(command: Command) -> None:
        if not isinstance(command, Present):  # any key says that; it is no wish
            sent.append(command)

    source = Live(inbox, send, folder, wall_clock=lambda: now)
    source.files = options.pop("files", None)
    driver = Driver(source, **options)
    driver.sent, driver.inbox = sent, inbox
    return driver


def replay(events: Sequence[Event], **options: Any) -> Driver:
    """A driver of a recorded run."""
    files = options.pop("files", None)
    return Driver(Replay(events, note=options.pop("note", ""), files=files), **options)


def drive(
    driver: Driver, scenario: Callable[[Driver], Awaitable[None]], size: tuple[int, int] = (80, 24)
) -> Driver:
    """Run a scenario in the app; anything that goes wrong in the app fails the test."""

    async def run() -> None:
        async with driver.app.run_test(size=size, notifications=True) as pilot:
            driver.pilot = pilot
            await driver.until(lambda: driver.cockpit.state.run.started)
            await pilot.pause()
            await scenario(driver)

    task: Coroutine[Any, Any, None] = run()
    asyncio.run(task)
    return driver


@cache
def story(name: str) -> list[Event]:
    """The events of a named story."""
    return (STORIES | DECISIONS | TAUGHT | WINDOWS | ASKING | TAKEOVERS)[name]()
