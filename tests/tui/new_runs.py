"""The form above an empty screen, and surroundings that are always the same."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from textual import events
from textual.widgets import Input, TextArea

from ralph_tui.base.errors import RalphError
from ralph_tui.config.sources import problem_of
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.ports.new_runs import (
    AgentOffer,
    Default,
    Draft,
    Finding,
    NewRuns,
    Suggestion,
    Surroundings,
    Trial,
)
from ralph_tui.tui.app import BaseScreen, RalphApp
from ralph_tui.tui.home.form import NewRun
from tests.tui.driving import Driver

GOOD = Surroundings(
    folder="~/calculator",
    findings=(
        Finding("git repository", "good", "~/calculator"),
        Finding("commits", "good", "at 5c1e0f2ab9"),
        Finding("agent", "good", "claude: Claude Code"),
    ),
    agents=(
        AgentOffer("claude", True, "Claude Code", "npm install -g @anthropic-ai/claude-code"),
        AgentOffer("command", True, "runs any program given with --agent-command"),
    ),
    chosen="claude",
    suggestions=(
        Suggestion("pytest -q", "pyproject.toml names pytest"),
        Suggestion("make test", "Makefile has a test target"),
    ),
    defaults={
        "limits.max_iterations": Default("10"),
        "limits.budget_usd": Default("5", ".ralph-tui.toml"),
        "limits.session_timeout_s": Default("8h"),
        "permissions.mode": Default("edits"),
        "agent.command": Default(),
    },
)
ASKED = (
    AgentOffer("claude", True, "2.1.198, /usr/local/bin/claude"),
    AgentOffer("command", True, "runs any program given with --agent-command"),
)
COUNTED = GateResult(
    ok=False, exit_code=1, duration_s=2.3, counts=Counts("pytest", passed=41, failed=25)
)


class EndedTrial:
    """A trial that has ended before it began."""

    def __init__(self, result: GateResult) -> None:
        self.result = result

    def run(self) -> GateResult:
        return self.result

    def last_line(self) -> str:
        return ""

    def cancel(self) -> None:
        pass


class FixedSurroundings:
    """The same surroundings on every machine."""

    def __init__(self, place: Surroundings = GOOD, result: GateResult = COUNTED) -> None:
        self.place, self.result = place, result
        self.kept: Draft | None = None
        self.broken = ""

    def look(self) -> Surroundings:
        if self.broken:
            raise RalphError(self.broken)
        return self.place

    def agents(self) -> Sequence[AgentOffer]:
        return ASKED if self.place.agents == GOOD.agents else self.place.agents

    def problem(self, name: str, text: str) -> str:
        return problem_of(name, text).partition(") ")[2]

    def trial(self, command: str) -> Trial:
        return EndedTrial(self.result)

    def draft(self) -> Draft | None:
        return self.kept

    def keep(self, draft: Draft) -> None:
        self.kept = draft


class OpenerScreen(BaseScreen):
    """The screen that the form was opened from."""

    def __init__(self, here: NewRuns, answers: list[list[str] | None]) -> None:
        super().__init__()
        self._here, self._answers = here, answers

    def on_mount(self) -> None:
        self.open()

    def open(self) -> None:
        self.app.push_screen(NewRun(lambda: self._here), self._answers.append)

    def before_key(self) -> None:
        pass

    def open_help(self) -> None:
        self._answers.append(["help"])

    def leave(self) -> None:
        self._answers.append(["left"])

    def interrupt(self) -> None:
        self.app.exit()

    def ask_to_leave(self) -> None:
        self.app.exit()

    def hang_up(self, by: str) -> None:
        self.app.exit()


class FormDriver(Driver):
    """An app with the form open; `answers` collects its results."""

    def __init__(self, here: NewRuns | None = None, **options: Any) -> None:
        self.here = here or FixedSurroundings()
        self.answers: list[list[str] | None] = []
        self.sent = []
        self.app = RalphApp(lambda: OpenerScreen(self.here, self.answers), **options)

    @property
    def form(self) -> NewRun:
        found = self.app.screen
        assert isinstance(found, NewRun)
        return found

    async def press(self, *keys: str) -> None:
        for key in keys:
            self.draw()
            await self.pilot.press(key)
            await self.pilot.pause()

    async def sees(self, text: str) -> None:
        """Wait until the screen shows these words, wherever lines break."""
        words = " ".join(text.split())
        await self.until(lambda: words in " ".join("\n".join(self.text()).split()))

    async def type(self, text: str) -> None:
        """Type into the focused widget."""
        await self.press(*({" ": "space", "\n": "enter", "-": "minus"}.get(c, c) for c in text))

    async def paste(self, text: str) -> None:
        """Paste all text at once, as a terminal does."""
        focused = self.app.focused
        assert isinstance(focused, TextArea | Input)
        before = self.content(focused)
        self.app.post_message(events.Paste(text))
        await self.until(lambda: self.content(focused) != before)

    @staticmethod
    def content(field: TextArea | Input) -> str:
        return field.text if isinstance(field, TextArea) else field.value

    async def to(self, name: str) -> None:
        """Go to a field; that tab leads to each has a test of its own."""
        self.form.page.fields[name].control.focus()
        await self.pilot.pause()

    async def opened(self) -> None:
        await self.until(lambda: isinstance(self.app.screen, NewRun))
        await self.until(lambda: self.form.page.place.folder or self.form.keys_row.notice)


def drive(
    driver: FormDriver,
    scenario: Callable[[FormDriver], Awaitable[None]],
    size: tuple[int, int] = (80, 24),
) -> FormDriver:
    """Like `driving.drive`."""

    async def run() -> None:
        async with driver.app.run_test(size=size) as pilot:
            driver.pilot = pilot
            await driver.opened()
            await pilot.pause()
            await scenario(driver)

    asyncio.run(run())
    return driver
