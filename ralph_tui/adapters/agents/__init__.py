"""The agents a run can drive, and which one works.

A new agent is a folder here and one entry in `AGENTS`. Rule: light, as `description` says.
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
"""Every agent of this version; the first that says so works where none is chosen."""


_NPM = "npm install -g "
LONGEST_PLACE = 300
"""Characters of where a program was looked for."""
ON = (
    'your own     ralph-tui run ... --agent-command "my-agent --stdin"',
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


def choose_fallbacks(
    settings: "AgentSettings", environ: Mapping[str, str] = os.environ
) -> tuple[AgentDescription, ...]:
    """The agents that take over where the chosen one cannot work, in their order, without itself.

    Raises ``UsageError`` for a name that none has that may be chosen.
    """
    first, known = find_agent(settings, environ), {agent.name: agent for agent in AGENTS}
    fallbacks = []
    for name in settings.fallback:
        if name not in known:
            raise unknown_agent(name, "agent.fallback")
        if known[name].reserved:
            raise UsageError(
                f"{clip(name, 80)!r} (agent.fallback) takes no work over: leave it out"
            )
        if first is None or name != first.name:
            fallbacks.append(known[name])
    # A scripted agent works in its own project: nobody else has any business there.
    return () if first is not None and first.reserved else tuple(fallbacks)


def fallback_settings(settings: "AgentSettings", name: str) -> "AgentSettings":
    """What is set for an agent that takes over: program and model are those of the first one."""
    return settings.model_copy(update={"name": name, "binary": None, "model": None})


def unknown_agent(name: str, where: str = "--agent") -> UsageError:
    """What to say of a name that no agent has; `where` it was given."""
    known = [agent.name for agent in offered()]
    near = difflib.get_close_matches(name[:80], known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(known)}"
    return UsageError(f"there is no agent {clip(name, 80)!r} ({where}): {hint}")


def no_agent(
    settings: "AgentSettings", environ: Mapping[str, str], missing: str = "no agent was found"
) -> UsageError:
    """What to say where no agent is found: what was looked for, and the ways to get on."""
    wanted = [agent for agent in offered() if agent.program]
    if settings.name:
        wanted = [agent for agent in wanted if agent.name == settings.name] or wanted
    looked_for = looked_for_all(wanted, settings, environ)
    ways = [f"looked for   {clip(looked_for, LONGEST_PLACE)}"]
    if wanted:
        others = ", ".join(agent.install.removeprefix(_NPM) for agent in wanted[1:])
        ways.append(f"install one  {wanted[0].install}{f' (or {others})' if others else ''}")
    return UsageError(
        f"{missing}: install one, name a program of your own, or see the demo first",
        ways=[*ways, *ON],
    )


def looked_for_all(
    wanted: Sequence[AgentDescription], settings: "AgentSettings", environ: Mapping[str, str]
) -> str:
    """``claude, codex in the 9 folders of PATH``: one place for all that were looked for there."""
    places: dict[str, list[str]] = {}
    for agent in wanted:
        program, where, place = agent.looks_for(settings, environ).partition(" in the ")
        names = places.setdefault(where + place, [])
        if program not in names:  # as `agent.binary` names it
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
    "looked_for_all",
    "no_agent",
    "offered",
    "unknown_agent",
]
