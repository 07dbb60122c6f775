"""How to show a run, and how long its end may take; imports nothing that a run needs."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from ralph_tui.events.run import Mode
    from ralph_tui.runtime.assembly import AssembledRun

END_SECONDS = 8.0
"""Time limit for the end of a run after a stop: ending processes, a snapshot, the record."""
SCREEN_SECONDS = 3.0
"""Time limit for a screen to end after its terminal has closed."""

Warn = Callable[[str], None]
"""Reports a sentence on stderr."""
RunFactory = Callable[[Warn], "AbstractContextManager[AssembledRun]"]
"""Assembles a run, and releases its resources at the end of the block.

Its argument reports what could not be done at the end of the run."""


class Presentation(NamedTuple):
    """How to show a run."""

    headless: bool = False
    as_json: bool = False
    lasting: bool = True
    """True if the record is kept when the command ends."""
    on_hangup: Literal["leave", "stop"] = "leave"
    """Effect of a closed terminal: the run continues without a screen (leave), or stops."""
    detached: bool = False
    """True if this process was started to work in the background."""
    commands_from: int | None = None
    """An inherited socket, on which the process that started this one sends commands."""

    @property
    def mode(self) -> "Mode":
        """The mode in which the run is started."""
        commanded = self.commands_from is not None and not (self.headless or self.as_json)
        if self.detached or commanded:
            return "detached"  # the user may answer its questions from elsewhere
        return (
            "attended" if wants_screen(headless=self.headless, as_json=self.as_json) else "headless"
        )


def on_terminal() -> bool:
    """True if both input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def wants_screen(*, headless: bool, as_json: bool) -> bool:
    """True if a command with these flags opens a screen."""
    return on_terminal() and not (headless or as_json)


Prepare = Callable[[Warn], tuple[RunFactory, Presentation]]
"""Checks a request. Raises ``RalphError`` if it cannot be carried out."""
