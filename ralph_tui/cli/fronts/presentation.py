"""How a run is to be shown, and how long its end may take. Rule: it loads nothing of a run."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from ralph_tui.events.run import Mode
    from ralph_tui.runtime.assembly import AssembledRun

END_SECONDS = 8.0
"""How long the end of a run may take after a stop: the stop ladder, a snapshot, the record."""
SCREEN_SECONDS = 3.0
"""How long a screen may take to end behind a closed terminal."""

Warn = Callable[[str], None]
"""Takes a sentence that is to be told on stderr."""
RunFactory = Callable[[Warn], "AbstractContextManager[AssembledRun]"]
"""Assembles a run, and releases what it holds when the block is left.

It is given what takes a sentence about what the end of the run could not do.
"""


class Presentation(NamedTuple):
    """How a run is to be shown."""

    headless: bool = False
    as_json: bool = False
    lasting: bool = True
    """Whether the record is kept when the command ends."""
    on_hangup: Literal["leave", "stop"] = "leave"
    """What a closed terminal does: the run goes on without a screen, or stops."""
    detached: bool = False
    """This process was started to work in the background."""
    commands_from: int | None = None
    """An inherited socket, through which who started this process commands the run."""

    @property
    def mode(self) -> "Mode":
        """How a run is started that is shown like this."""
        commanded = self.commands_from is not None and not (self.headless or self.as_json)
        if self.detached or commanded:
            return "detached"  # somebody may answer what it asks, from elsewhere
        return (
            "attended" if wants_screen(headless=self.headless, as_json=self.as_json) else "headless"
        )


def on_terminal() -> bool:
    """Whether input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def wants_screen(*, headless: bool, as_json: bool) -> bool:
    """Whether a command that was given these flags opens a screen."""
    return on_terminal() and not (headless or as_json)


Prepare = Callable[[Warn], tuple[RunFactory, Presentation]]
"""Looks at what was asked for, and raises ``RalphError`` where that cannot be done."""
