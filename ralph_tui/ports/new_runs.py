"""What a screen needs to begin a run: what is here to begin it with, a trial, the draft."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from ralph_tui.layers.sensor import GateResult


@dataclass(frozen=True)
class Finding:
    """One thing that a run needs, and how it stands with it here."""

    what: str
    """``git repository``, ``commits``, ``agent``, ``settings``, ``other runs``."""
    level: Literal["good", "warn", "critical"]
    """``good``, ``warn``: a run can begin all the same, ``critical``: none can."""
    says: str
    """Sanitized, on one line."""
    ways: Sequence[str] = ()
    """What can be done about it, a line each."""


@dataclass(frozen=True)
class AgentOffer:
    """An agent that can be chosen."""

    name: str
    ready: bool
    says: str
    """Version, path and abilities; or what was looked for; or what it does."""
    install: str = ""
    """The command that installs it."""


@dataclass(frozen=True)
class Suggestion:
    """A completion command that a file of the repository speaks for."""

    command: str
    because: str
    """``pyproject.toml has settings of pytest``."""


@dataclass(frozen=True)
class Default:
    """What a setting is where the form says nothing."""

    text: str = ""
    """As it would be typed."""
    origin: str = ""
    """Where it was set; empty: nowhere."""


By = Literal["command", "both", "criterion"]


@dataclass(frozen=True)
class Draft:
    """What was typed into the form; empty fields leave a setting as it is."""

    objective: str = ""
    by: By = "command"
    """Who says that the work is done: a command, you by a criterion in words, or both."""
    command: str = ""
    criterion: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    """By dotted name, what differs from the default, as it was typed."""


@dataclass(frozen=True)
class Surroundings:
    """Where a run would begin, as a quick look finds it."""

    folder: str = ""
    """The worktree."""
    findings: Sequence[Finding] = ()
    agents: Sequence[AgentOffer] = ()
    chosen: str = ""
    """The agent that works where none is named."""
    suggestions: Sequence[Suggestion] = ()
    defaults: Mapping[str, Default] = field(default_factory=dict)
    """By the dotted names of settings."""
    last: Draft = field(default_factory=Draft)
    """How you started the last run here: without its objective, and only what differs from the
    defaults."""

    def text(self, name: str) -> str:
        """What a setting is where nothing is said, as it would be typed."""
        return self.defaults.get(name, Default()).text

    @property
    def obstacles(self) -> tuple[Finding, ...]:
        """What keeps any run from beginning."""
        return tuple(one for one in self.findings if one.level == "critical")


class Trial(Protocol):
    """One run of a completion command, as a loop would run it."""

    def run(self) -> "GateResult":
        """Run it to its end; blocks. Raises ``RalphError`` where it cannot be run now."""

    def last_line(self) -> str:
        """What it printed last, sanitized; empty before it has; quick, any thread may call."""

    def cancel(self) -> None:
        """End it, also before it has begun; returns at once, any thread may call."""


class NewRuns(Protocol):
    """Runs that could begin here. All but `problem` may block: a screen asks in a thread."""

    def look(self) -> Surroundings:
        """What is here; asks no agent."""

    def agents(self) -> Sequence[AgentOffer]:
        """The agents, each asked for its version; takes seconds."""

    def problem(self, name: str, text: str) -> str:
        """Why a setting cannot have this value, as a sentence; empty where it can."""

    def trial(self, command: str) -> Trial:
        """Get ready to run a completion command once."""

    def draft(self) -> Draft | None:
        """What was typed and not started."""

    def keep(self, draft: Draft) -> None:
        """Keep it for the next time; best effort."""
