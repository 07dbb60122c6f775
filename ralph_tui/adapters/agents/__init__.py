"""The agents that a run can drive, and how one is chosen.

To add an agent, add a subpackage here and an entry in `AGENTS`. Rule: keep imports light; see
`description`.
"""

import difflib
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ralph_tui.adapters.agents.acp import ANY_ACP, GEMINI_ACP, OPENCODE_ACP
from ralph_tui.adapters.agents.claude import CLAUDE
from ralph_tui.adapters.agents.codex import CODEX
from ralph_tui.adapters.agents.command import COMMAND
from ralph_tui.adapters.agents.demo import DEMO
from ralph_tui.adapters.agents.description import AgentContext, AgentDescription
from ralph_tui.base.errors import UsageError
from ralph_tui.text.sanitize import clip

if TYPE_CHECKING:
    from ralph_tui.config.settings import AgentSettings

AGENTS: tuple[AgentDescription, ...] = (
    CLAUDE,
    CODEX,
    GEMINI_ACP,
    OPENCODE_ACP,
    ANY_ACP,
    COMMAND,
    DEMO,
)
"""Every agent in this version. If the user chooses none, the first default agent is used."""


_NPM = "npm install -g "
LONGEST_PLACES = 300
"""Maximum length of the list of places searched for a program, in characters."""
ON = (
    'your own     ralph-tui run ... --agent-command "my-agent --stdin"',
    "a demo       ralph-tui demo   (no account, a minute)",
)
"""Ways to continue without an installed agent."""


def selectable_agents() -> tuple[AgentDescription, ...]:
    """Return the agents that users may choose."""
    return tuple(agent for agent in AGENTS if not agent.reserved)


def find_agent(
    settings: "AgentSettings", environ: Mapping[str, str] = os.environ
) -> AgentDescription | None:
    """Return the agent named in the settings, or the default agent, or None."""
    for agent in AGENTS:
        if agent.name == settings.name if settings.name else agent.is_default(settings, environ):
            return agent
    return None


def choose_agent(
    settings: "AgentSettings", environ: Mapping[str, str] = os.environ
) -> AgentDescription:
    """Return the agent found by `find_agent`; raise ``UsageError`` if it finds nothing."""
    agent = find_agent(settings, environ)
    if agent is not None:
        return agent
    if settings.name:
        raise unknown_agent_error(settings.name)
    raise no_agent_error(settings, environ)


def choose_fallbacks(
    settings: "AgentSettings", environ: Mapping[str, str] = os.environ
) -> tuple[AgentDescription, ...]:
    """Return the fallback agents in order, without the chosen agent itself.

    Raises ``UsageError`` for a name that is unknown or reserved. A reserved first agent has no
    fallbacks.
    """
    first, known = find_agent(settings, environ), {agent.name: agent for agent in AGENTS}
    fallbacks = []
    for name in settings.fallback:
        if name not in known:
            raise unknown_agent_error(name, "agent.fallback")
        if known[name].reserved:
            raise UsageError(f"{clip(name, 80)!r} (agent.fallback) cannot be a fallback; remove it")
        if first is None or name != first.name:
            fallbacks.append(known[name])
    # A scripted agent works in its own project, where no other agent may take over.
    return () if first is not None and first.reserved else tuple(fallbacks)


def fallback_settings(settings: "AgentSettings", name: str) -> "AgentSettings":
    """Return a fallback agent's settings, without the first agent's program and model."""
    return settings.model_copy(update={"name": name, "binary": None, "model": None})


def unknown_agent_error(name: str, where: str = "--agent") -> UsageError:
    """Return the error for an unknown agent name; `where` is the option or setting that has it."""
    known = [agent.name for agent in selectable_agents()]
    near = difflib.get_close_matches(name[:80], known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(known)}"
    return UsageError(f"unknown agent {clip(name, 80)!r} ({where}): {hint}")


def no_agent_error(
    settings: "AgentSettings", environ: Mapping[str, str], missing: str = "no agent found"
) -> UsageError:
    """Return the error for a missing agent: the places searched, and ways to continue."""
    wanted = [agent for agent in selectable_agents() if agent.program]
    if settings.name:
        wanted = [agent for agent in wanted if agent.name == settings.name] or wanted
    search_place = search_places(wanted, settings, environ)
    ways = [f"looked for   {clip(search_place, LONGEST_PLACES)}"]
    if wanted:
        others = ", ".join(agent.install.removeprefix(_NPM) for agent in wanted[1:])
        ways.append(f"install one  {wanted[0].install}{f' (or {others})' if others else ''}")
    return UsageError(f"{missing}: install one, or use a program of your own", ways=[*ways, *ON])


def search_places(
    wanted: Sequence[AgentDescription], settings: "AgentSettings", environ: Mapping[str, str]
) -> str:
    """List programs grouped by search place: ``claude, codex in the 9 folders of PATH``."""
    places: dict[str, list[str]] = {}
    for agent in wanted:
        program, where, place = agent.search_place(settings, environ).partition(" in the ")
        names = places.setdefault(where + place, [])
        if program not in names:  # `agent.binary` can give several agents the same program
            names.append(program)
    return "; ".join(f"{', '.join(names)}{place}" for place, names in places.items())


__all__ = [
    "AGENTS",
    "AgentContext",
    "AgentDescription",
    "choose_agent",
    "choose_fallbacks",
    "fallback_settings",
    "find_agent",
    "no_agent_error",
    "search_places",
    "selectable_agents",
    "unknown_agent_error",
]
