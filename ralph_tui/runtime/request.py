"""A user's request: to start a run, or to resume one."""

from dataclasses import dataclass

from ralph_tui.config.settings import Settings
from ralph_tui.events.run import Mode


@dataclass(frozen=True)
class RunRequest:
    """A run to start."""

    objective: str
    command: str | None
    """The completion command; None if there is a criterion."""
    settings: Settings
    plan: str | None = None
    """Path of the plan file, relative to the repository."""
    scenario: str | None = None
    """Scenario of the demo."""
    fast: bool = False
    """Demo only: True to play it in seconds instead of a minute."""
    criterion: str | None = None
    """Completion criterion in words; if there is a command, it must also pass."""
    until_promise: bool = False
    """True if a passing command completes the run only once the agent promises that it is done."""
    mode: Mode = "attended"
    set_names: tuple[str, ...] = ()
    """Settings given by ``--set``, by dotted name."""


@dataclass(frozen=True)
class ResumeRequest:
    """A run to resume, and the values that replace recorded ones."""

    command: str | None = None
    """The completion command; None for the recorded one."""
    from_seq: int | None = None
    """For a damaged journal: the last event to keep."""
    max_iterations: str | None = None
    """The new limit, as typed; None for the recorded one."""
    budget_usd: str | None = None
    """US dollars for the whole run, as typed; None for the recorded budget."""
    budget_tokens: str | None = None
    """Tokens for the whole run, as typed; None for the recorded budget."""
    mode: Mode = "attended"
