"""The agents a run can drive, and which one works.

A new agent is a folder here and one entry in `AGENTS`. Rule: light, as `description` says.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ralph_tui.adapters.agents.claude import CLAUDE
from ralph_tui.adapters.agents.command import COMMAND
from ralph_tui.adapters.agents.demo import DEMO
from ralph_tui.adapters.agents.description import AgentContext, AgentDescription
from ralph_tui.errors import UsageError

if TYPE_CHECKING:
    from ralph_tui.config.settings import AgentSettings

AGENTS: tuple[AgentDescription, ...] = (CLAUDE, COMMAND, DEMO)
"""Every agent of this version; the first that says so works where none is chosen."""


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
    known = offered()
    missing = f"There is no agent {settings.name!r}"
    if not settings.name:
        missing = "; ".join(
            ["No agent is chosen", *(agent.missing for agent in known if agent.missing)]
        )
        known = tuple(agent for agent in known if not agent.missing)
    names = ", ".join(agent.name for agent in known)
    hints = "; ".join(f"`{agent.name}` {agent.hint}" for agent in offered() if agent.hint)
    raise UsageError(
        f"{missing}; choose one with --agent: {names} ({hints}), or try `ralph-tui demo`."
    )


__all__ = [
    "AGENTS",
    "AgentContext",
    "AgentDescription",
    "choose_agent",
    "find_agent",
    "offered",
]
