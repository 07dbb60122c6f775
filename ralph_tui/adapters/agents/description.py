"""What every agent says of itself, and what it is built from.

Rule: light. The command line is parsed and a request is looked at quickly with the descriptions
alone; an agent's own modules are loaded when it is checked or built.
"""

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ralph_tui.config.settings import AgentSettings
    from ralph_tui.ports.agents import Agent


@dataclass(frozen=True)
class AgentContext:
    """The worktree, the run, and what is set for its agent."""

    settings: "AgentSettings"
    """The section ``agent``: every agent reads from it what is its own."""
    root: Path
    """The worktree the agent works in."""
    run_id: str = ""
    """Empty while the agent is only checked."""
    lock_fd: int | None = None
    """Descriptor of the run's lock, handed to the keeper."""
    timeout_s: float = 8 * 3600
    """Seconds that a session may run."""
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    hands_over: bool = False
    """Whether its sessions are ended before their context is full, so that none need forget."""
    scenario: str = "steady"
    """What a scripted agent plays."""
    fast: bool = False
    """Whether a scripted agent works without pauses."""


def lazily(place: str, *further: object) -> Callable[[AgentContext], Any]:
    """The function ``module:name`` below `agents`, loaded when it is called; given `further`, too.

    A command line is parsed without it.
    """
    module, _, name = place.partition(":")

    def call(context: AgentContext) -> Any:
        loaded = importlib.import_module(f"ralph_tui.adapters.agents.{module}")
        return getattr(loaded, name)(context, *further)

    return call


Ready = Callable[["AgentSettings", Mapping[str, str]], bool]
"""A quick answer from the section ``agent`` and the environment."""


@dataclass(frozen=True)
class Abilities:
    """What an agent can do and tell beside its work; what it cannot tell is unknown, never zero."""

    questions: bool = False
    """Whether it can ask its owner before it uses a tool."""
    refusal_goes_on: bool = False
    """Whether its turn goes on after a refusal; else it is prompted again."""
    words_mid_turn: bool = False
    """Whether words reach it while it works."""
    context: Literal["live", "turn end", ""] = ""
    """When it tells how full its context window is."""
    cost: bool = False
    """Whether it tells what a session costs."""
    tokens: bool = True
    """Whether it tells the tokens of all calls, and not those of each prompt's last one."""
    limits: Literal["with reset", "class", ""] = ""
    """Whether it tells a usage limit from another failure, and when that limit ends."""
    resume: bool = False
    """Whether a session of it can go on after its end."""


@dataclass(frozen=True)
class AgentDescription:
    """One agent, as all but its own modules know it."""

    name: str
    """The value of ``agent.name`` that chooses it."""
    looks_ready: Ready
    """Whether a quick look finds what it needs; `check` decides."""
    check: Callable[[AgentContext], None]
    """Raises ``UsageError`` for what keeps it from working; writes nothing."""
    build: Callable[[AgentContext], "Agent"]
    """The agent of one run, once it is checked."""
    is_default: Ready = lambda settings, environ: False
    """Whether it works where no agent is chosen."""
    small_model: str = ""
    """A cheap model of it, for questions outside of its sessions; empty: it cannot be asked."""
    default_when: str = ""
    """The same in words, for the help."""
    takes_command: bool = False
    """Whether it is what ``agent.command`` runs."""
    restricted: bool = True
    """Whether it keeps to ``permissions``; one that does not may do whatever its user may."""
    program: str = ""
    """Of an agent that is a program of its own: its usual name. Else what it needs is given."""
    title: str = ""
    """What its makers call it: ``Claude Code``."""
    looks_for: Callable[["AgentSettings", Mapping[str, str]], str] = lambda settings, environ: ""
    """Of an agent that is a program of its own: ``claude in the 9 folders of PATH``."""
    found: Callable[[AgentContext], str] = lambda context: ""
    """What `check` has found, in a few words: version, path. Asks the program."""
    install: str = ""
    """The command that installs it."""
    login: str = ""
    """How its user signs in, or what is to be set instead; whole words of a sentence."""
    abilities: Abilities = Abilities()
    """What its sessions are asserted to do."""
    seen_versions: str = ""
    """Of its program, those that were run in tests: ``2.0.20 to 2.1.332``."""
    hint: str = ""
    """What it does, for whoever is offered it: ``runs any program …``."""
    reserved: str = ""
    """Why ``run`` does not take it; empty where anyone may choose it."""


HEAD = (
    "agent",
    "asks you",
    "after a no",
    "words mid-turn",
    "context",
    "cost",
    "limits",
    "goes on later",
    "run with",
)
_CONTEXT = {"live": "live", "turn end": "at a turn's end"}
_LIMITS = {"with reset": "with their end", "class": "without their end"}


def can_words(told: Abilities) -> str:
    """``asks you, ..., resumes; unknown: its cost``: in the order of the table."""
    context = f"tells its context{'' if told.context == 'live' else ' when a turn ends'}"
    able = (
        (told.questions, "can ask you"),
        (told.words_mid_turn, "takes words while it works"),
        (told.context, context),
        (told.cost, "tells its cost"),
        (told.limits, f"tells limits {_LIMITS.get(told.limits, '')}"),
        (told.resume, "resumes sessions"),
    )
    unknown = (
        (not told.context, "its context"),
        (not told.cost, "its cost"),
        (told.limits != "with reset", "when a limit ends"),
    )
    can = ", ".join(words for holds, words in able if holds) or "works on its prompt"
    cannot = ", ".join(words for holds, words in unknown if holds)
    return f"{can}; unknown: {cannot}" if cannot else can


def row(agent: AgentDescription) -> Sequence[str]:
    """Its row in the table of the README."""
    told = agent.abilities
    after = "goes on" if told.refusal_goes_on else "is prompted again"
    return (
        f"`{agent.name}`",
        _yes(told.questions),
        after if told.questions else "—",
        _yes(told.words_mid_turn),
        _CONTEXT.get(told.context, "unknown"),
        "told" if told.cost else "unknown",
        _LIMITS.get(told.limits, "unknown"),
        _yes(told.resume),
        f"{agent.title} {agent.seen_versions}" if agent.seen_versions else "—",
    )


def table(agents: Sequence[AgentDescription]) -> str:
    """The table of abilities, as it stands in the README."""
    rows = [HEAD, tuple("---" for _ in HEAD), *map(row, agents)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _yes(able: bool) -> str:  # noqa: FBT001 - a word for a word
    return "yes" if able else "no"
