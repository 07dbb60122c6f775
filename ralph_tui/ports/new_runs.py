"""Everything a screen needs to start a run: the environment, a trial, and the saved draft."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from ralph_tui.layers.sensor.gate import GateResult


@dataclass(frozen=True)
class Finding:
    """A prerequisite for a run, and whether it is met here."""

    what: str
    """``git repository``, ``commits``, ``agent``, ``settings``, ``other runs``."""
    level: Literal["good", "warn", "critical"]
    """``good`` and ``warn`` allow a run to start; ``critical`` prevents it."""
    says: str
    """One sanitized line."""
    ways: Sequence[str] = ()
    """Possible remedies, one line each."""


@dataclass(frozen=True)
class AgentOffer:
    """An agent that the user can choose."""

    name: str
    ready: bool
    says: str
    """Version, path and abilities; or which programs were searched for; or what the agent does."""
    install: str = ""
    """Shell command that installs it."""


@dataclass(frozen=True)
class Suggestion:
    """A completion command suggested by a file in the repository."""

    command: str
    because: str
    """Example: ``pyproject.toml has settings for pytest``."""


@dataclass(frozen=True)
class Default:
    """Value of a setting whose field in the form is empty."""

    text: str = ""
    """As the user would type it."""
    origin: str = ""
    """Where it was set; empty if it was not set."""


By = Literal["command", "both", "criterion"]


@dataclass(frozen=True)
class Draft:
    """Values typed into the form; empty fields leave a setting unchanged."""

    objective: str = ""
    by: By = "command"
    """Who judges completion: a command, the user by a written criterion, or both."""
    command: str = ""
    criterion: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Values that differ from the defaults, as typed, by dotted name."""


@dataclass(frozen=True)
class Surroundings:
    """Where a run would start, according to a quick check."""

    folder: str = ""
    """The worktree, as a path for display."""
    findings: Sequence[Finding] = ()
    agents: Sequence[AgentOffer] = ()
    chosen: str = ""
    """The agent used if none is named."""
    suggestions: Sequence[Suggestion] = ()
    defaults: Mapping[str, Default] = field(default_factory=dict)
    """Default values by dotted setting name."""
    last: Draft = field(default_factory=Draft)
    """How the user started the last run here.

    It has no objective and holds only values that differ from the defaults.
    """

    def text(self, name: str) -> str:
        """Return the default of a setting as the user would type it."""
        return self.defaults.get(name, Default()).text

    @property
    def obstacles(self) -> tuple[Finding, ...]:
        """Findings that prevent any run from starting."""
        return tuple(one for one in self.findings if one.level == "critical")


class Trial(Protocol):
    """A single run of a completion command, as a loop would run it."""

    def run(self) -> "GateResult":
        """Run it to its end; blocks. Raises ``RalphError`` if it cannot be run now."""

    def last_line(self) -> str:
        """Return the last printed line, sanitized, or an empty string; quick, from any thread."""

    def cancel(self) -> None:
        """Cancel it, even before it has started. Returns at once, from any thread."""


class NewRuns(Protocol):
    """Runs that could start here. All methods except `problem` may block, so use a thread."""

    def look(self) -> Surroundings:
        """Check the environment without running an agent."""

    def agents(self) -> Sequence[AgentOffer]:
        """Return the agents with their versions; takes seconds, because each agent is run."""

    def problem(self, name: str, text: str) -> str:
        """Return why a setting cannot have this value, as a sentence; empty if it can."""

    def trial(self, command: str) -> Trial:
        """Prepare a single run of a completion command."""

    def draft(self) -> Draft | None:
        """Return the saved draft of a run that was never started."""

    def keep(self, draft: Draft) -> None:
        """Save the draft for next time; best effort."""
