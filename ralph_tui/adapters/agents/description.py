"""What every agent says of itself, and what it is built from.

Rule: light. The command line is parsed and a request is looked at quickly with the descriptions
alone; an agent's own modules are loaded when it is checked or built.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ralph_tui.config.settings import AgentSettings
    from ralph_tui.ports import Agent


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
