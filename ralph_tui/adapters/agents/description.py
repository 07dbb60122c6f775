"""The description of each agent, and the context in which one is built.

Rule: keep this module light. Parsing the command line and checking readiness quickly need only the
descriptions; an agent's own modules are loaded when it is checked or built.
"""

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from ralph_tui.config.settings import AgentSettings
    from ralph_tui.ports.agents import Agent


class AgentContext(NamedTuple):
    """The worktree, the run and the agent's settings."""

    settings: "AgentSettings"
    """The ``agent`` section; each agent reads the settings that concern it."""
    root: Path
    """The worktree the agent works in."""
    run_id: str = ""
    """Empty while the agent is only being checked."""
    lock_fd: int | None = None
    """Descriptor of the run's lock, passed to the keeper."""
    timeout_s: float = 8 * 3600
    """Maximum seconds per session."""
    environ: Mapping[str, str] = os.environ
    hands_off: bool = False
    """True if ralph-tui ends sessions before their context is full, so that none is compacted."""
    scenario: str = "steady"
    """The scenario that a scripted agent plays."""
    fast: bool = False
    """True if a scripted agent works without pauses."""


def lazily(place: str, *further: object) -> Callable[[AgentContext], Any]:
    """Return a function that loads ``module:name`` below `agents` when it is called.

    It passes on the context and `further`. Nothing is loaded while a command line is parsed.
    """
    module, _, name = place.partition(":")

    def call(context: AgentContext) -> Any:
        loaded = importlib.import_module(f"ralph_tui.adapters.agents.{module}")
        return getattr(loaded, name)(context, *further)

    return call


Ready = Callable[["AgentSettings", Mapping[str, str]], bool]
"""A quick check of the ``agent`` section and the environment."""


class Abilities(NamedTuple):
    """An agent's abilities beyond its work. Anything unreported is unknown, never zero."""

    questions: bool = False
    """True if it can ask the user before it uses a tool."""
    refusal_continues: bool = False
    """True if its turn continues after a refusal; otherwise it is prompted again."""
    words_mid_turn: bool = False
    """True if guidance can reach it while it works."""
    context: Literal["live", "turn end", ""] = ""
    """When it reports how full its context window is; empty if it does not."""
    cost: bool = False
    """True if it reports the cost of a session."""
    tokens: Literal["all", "last call", ""] = "all"
    """The calls whose tokens it reports: all, only each prompt's last one, or none ("")."""
    limits: Literal["with reset", "class", ""] = ""
    """How it reports a usage limit: with its reset time, as a limit, or like any failure ("")."""
    resume: bool = False
    """True if an ended session can be resumed."""


class AgentDescription(NamedTuple):
    """An agent, as the rest of the program sees it."""

    name: str
    """The value of ``agent.name`` that chooses it."""
    is_ready: Ready
    """True if a quick check finds everything the agent needs; `check` is thorough."""
    check: Callable[[AgentContext], None]
    """Raises ``UsageError`` if the agent cannot work; writes nothing."""
    build: Callable[[AgentContext], "Agent"]
    """Builds the agent for one run, after `check`."""
    is_default: Ready = lambda settings, environ: False
    """True if this agent is used when the user chooses none."""
    small_model: str = ""
    """A cheap model for one-shot questions; empty if the agent cannot be asked."""
    default_when: str = ""
    """The condition of `is_default` in words, for the help."""
    takes_command: bool = False
    """True if the agent runs ``agent.command``."""
    restricted: bool = True
    """False if the agent ignores ``permissions`` and may do anything its user may do."""
    program: str = ""
    """The usual name of the agent's program; empty if it is not a program of its own."""
    title: str = ""
    """The product's name, as in ``Claude Code``."""
    search_place: Callable[["AgentSettings", Mapping[str, str]], str] = lambda settings, environ: ""
    """Where ralph-tui looks for the program, as in ``claude in the 9 folders of PATH``."""
    found: Callable[[AgentContext], str] = lambda context: ""
    """The result of `check` in a few words: version, path. Runs the program."""
    install: str = ""
    """The command that installs the program."""
    login: str = ""
    """How to sign in, or what to set instead, as part of a sentence."""
    abilities: Abilities = Abilities()
    """Abilities of its sessions, as verified by tests."""
    seen_versions: str = ""
    """Versions of the program used in tests, as in ``2.0.20 to 2.1.332``."""
    hint: str = ""
    """A short description for users who are choosing, as in ``runs any program …``."""
    reserved: str = ""
    """Why ``run`` refuses it; empty if users may choose it."""


HEAD = (
    "agent",
    "asks you",
    "after a refusal",
    "guidance mid-turn",
    "context usage",
    "cost",
    "usage limits",
    "resumes a session",
    "tested with",
)
_CONTEXT = {"live": "live", "turn end": "when a turn ends"}
_LIMITS = {"with reset": "with reset time", "class": "without reset time"}


def can_words(abilities: Abilities) -> str:
    """List what an agent can do, as in ``can ask you, ...; unknown: its cost``."""
    context = f"reports its context{'' if abilities.context == 'live' else ' when a turn ends'}"
    able = (
        (abilities.questions, "can ask you"),
        (abilities.words_mid_turn, "accepts guidance while it works"),
        (abilities.context, context),
        (abilities.cost, "reports its cost"),
        (abilities.limits, f"reports limits {_LIMITS.get(abilities.limits, '')}"),
        (abilities.resume, "resumes sessions"),
    )
    unknown = (
        (not abilities.context, "its context"),
        (not abilities.cost, "its cost"),
        (abilities.limits != "with reset", "when a limit ends"),
    )
    can = ", ".join(words for holds, words in able if holds) or "works on the prompt"
    cannot = ", ".join(words for holds, words in unknown if holds)
    return f"{can}; unknown: {cannot}" if cannot else can


def row(agent: AgentDescription) -> Sequence[str]:
    """Return an agent's row for the table in `docs/guide/agents.md`."""
    abilities = agent.abilities
    after = "continues" if abilities.refusal_continues else "is prompted again"
    return (
        f"`{agent.name}`",
        _yes(abilities.questions),
        after if abilities.questions else "—",
        _yes(abilities.words_mid_turn),
        _CONTEXT.get(abilities.context, "unknown"),
        "reported" if abilities.cost else "unknown",
        _LIMITS.get(abilities.limits, "unknown"),
        _yes(abilities.resume),
        f"{agent.title} {agent.seen_versions}" if agent.seen_versions else "—",
    )


def table(agents: Sequence[AgentDescription]) -> str:
    """Return the table of abilities in `docs/guide/agents.md`."""
    rows = [HEAD, tuple("---" for _ in HEAD), *map(row, agents)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _yes(able: bool) -> str:  # noqa: FBT001 - turns a flag into a word
    return "yes" if able else "no"
