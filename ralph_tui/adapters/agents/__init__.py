"""The agents a run can drive, and which one works.

A new agent is a folder here and one entry in `AGENTS`. Rule: light, as `description` says.
"""

import difflib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ralph_tui.adapters.agents.claude import CLAUDE
from ralph_tui.adapters.agents.codex import CODEX
from ralph_tui.adapters.agents.command import COMMAND
from ralph_tui.adapters.agents.demo import DEMO
from ralph_tui.adapters.agents.description import AgentContext, AgentDescription
from ralph_tui.errors import UsageError
from ralph_tui.text.sanitize import clip

if TYPE_CHECKING:
    from ralph_tui.config.settings import AgentSettings

AGENTS: tuple[AgentDescription, ...] = (CLAUDE, CODEX, COMMAND, DEMO)
"""Every agent of this version; the first that says so works where none is chosen."""


LONGEST_PLACE = 300
"""Characters of where a program was looked for."""
ON = (
    'your own     ralph-tui run ... --agent command --agent-command "my-agent --stdin"',
    "a demo       ralph-tui demo   (no account, a minute)",
)
"""How to get on without any agent that is known here."""


def offered() -> tuple[AgentDescription, ...]:
    """The agents that anyone may choose."""
    return tuple(agent for agent in AGENTS if not agent.reserved)


def find_agent(
    settings: "AgentSettings", environ: Mapping[str, str] = os.environ
) -> AgentDescription | None:
    """The agent of the settings, or else the default one; None where there is none."""
    for agent in AGENTS:
        if agent.name == settings.name if settings.name else agent.is_default(settings, environ):
            return agent
    return None


def choose_agent(
    settings: "AgentSettings", environ: Mapping[str, str] = os.environ
) -> AgentDescription:
    """As `find_agent`; raises ``UsageError`` where there is none."""
    agent = find_agent(settings, environ)
    if agent is not None:
        return agent
    if settings.name:
        raise unknown_agent(settings.name)
    raise no_agent(settings, environ)


def unknown_agent(name: str) -> UsageError:
    """What to say of a name that no agent has."""
    known = [agent.name for agent in offered()]
    near = difflib.get_close_matches(name[:80], known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(known)}"
    return UsageError(f"there is no agent {clip(name, 80)!r} (--agent): {hint}")


def no_agent(
    settings: "AgentSettings", environ: Mapping[str, str], missing: str = "no agent was found"
) -> UsageError:
    """What to say where no agent is found: what was looked for, and the ways to get on."""
    ways = []
    for agent in offered():
        if looked_for := agent.looks_for(settings, environ):
            ways.append(f"looked for   {clip(looked_for, LONGEST_PLACE)}")
            ways.append(f"install it   {agent.install}   ({agent.title})")
    return UsageError(
        f"{missing}: install one, name a program of your own, or see the demo first",
        ways=[*ways, *ON],
    )


__all__ = [
    "AGENTS",
    "AgentContext",
    "AgentDescription",
    "choose_agent",
    "find_agent",
    "no_agent",
    "offered",
    "unknown_agent",
]
