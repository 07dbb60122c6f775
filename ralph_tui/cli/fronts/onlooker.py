"""The cockpit on a run that goes its own way: recorded, or alive in another process."""

import asyncio
import os
import signal
from functools import partial
from typing import TYPE_CHECKING

# What Textual reads when it is imported has to be settled before.
from ralph_tui.cli.fronts.terminal import prepare_textual

prepare_textual(os.environ)

from ralph_tui.cli.exit_codes import ExitCode  # noqa: E402
from ralph_tui.cli.fronts import signals  # noqa: E402
from ralph_tui.cli.fronts.common import SCREEN_SECONDS, collect_garbage_again  # noqa: E402
from ralph_tui.cli.fronts.side_screens import side_screens  # noqa: E402
from ralph_tui.ports.source import Source  # noqa: E402
from ralph_tui.sources.recorded import opened  # noqa: E402
from ralph_tui.tui.app import RalphApp  # noqa: E402
from ralph_tui.tui.cockpit.screen import CockpitScreen  # noqa: E402

if TYPE_CHECKING:
    from ralph_tui.adapters.records.journal import Recording


def replay_in_cockpit(
    recording: "Recording", note: str = "", theme: str | None = None, at: int | None = None
) -> None:
    """Show a recorded run, held at event number `at`; `note` is one sentence about it."""
    look_on(opened(recording, note=note, at=at), theme)


def look_on(source: Source, theme: str | None = None) -> None:
    """Show a run that goes its own way; every signal only ends the screen.

    Raises ``KeyboardInterrupt`` where ctrl+c came as a signal: before the screen has the keyboard.
    """
    app = RalphApp(
        partial(CockpitScreen, source),
        theme=theme,
        ready=collect_garbage_again,
        beside=side_screens(source),
    )
    loops: list[asyncio.AbstractEventLoop] = []
    came: list[signal.Signals] = []

    def end_screen(number: signal.Signals) -> None:
        interrupted = number is signal.SIGINT
        code = ExitCode.INTERRUPTED if interrupted else ExitCode.COMPLETED
        signals.exit_after(SCREEN_SECONDS, code)
        if number is signal.SIGHUP:
            signals.detach_stdio()
        came.append(number)
        for loop in loops:
            loop.call_soon_threadsafe(app.exit)

    async def show() -> None:
        loops.append(asyncio.get_running_loop())
        if not came:
            await app.run_async()

    with signals.forwarded(end_screen):
        asyncio.run(show())
    if signal.SIGINT in came:
        raise KeyboardInterrupt
