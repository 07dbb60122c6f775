"""What a user asked for: a run, or that one goes on."""

from dataclasses import dataclass

from ralph_tui.config.settings import Settings
from ralph_tui.events.run import Mode


@dataclass(frozen=True)
class RunRequest:
    """A run that is to begin."""

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
    """When the work is done, in words; with a command, that has to pass as well."""
    until_promise: bool = False
    """A command that passes completes the run only once the agent promises that it is done."""
    mode: Mode = "attended"
    """How it is started: with a screen, as plain lines, or in the background."""
    set_names: tuple[str, ...] = ()
    """Settings that ``--set`` gave, by dotted name."""


@dataclass(frozen=True)
class ResumeRequest:
    """A run that is to go on, and what is to be different from its record."""

    command: str | None = None
    """The completion command; None: the recorded one."""
    from_seq: int | None = None
    """Of a damaged journal: the last event to keep."""
    max_iterations: str | None = None
    """The new limit as it was typed; None: the recorded one."""
    budget_usd: str | None = None
    """US dollars for the whole run as they were typed; None: as recorded."""
    mode: Mode = "attended"
    """How it is started."""
