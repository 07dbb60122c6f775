"""What a user asked for."""

from dataclasses import dataclass

from ralph_tui.config.settings import Settings
from ralph_tui.events.run import Mode


@dataclass(frozen=True)
class RunRequest:
    """What a user asked for."""

    objective: str
    command: str | None
    """The completion command; None when there is a criterion."""
    settings: Settings
    plan: str | None = None
    """Path of the plan file, relative to the repository."""
    scenario: str | None = None
    """Of the demo."""
    fast: bool = False
    """Of the demo: seconds instead of a minute."""
    criterion: str | None = None
    """When the work is done, in words."""
    mode: Mode = "attended"
    """How it is started: with a screen, as plain lines, or in the background."""
