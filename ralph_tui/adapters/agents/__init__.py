"""The agents a run can drive, by name. Each starts one process per session, under the keeper."""

import os
from collections.abc import Callable, Mapping

from ralph_tui.adapters.agents.claude.agent import ClaudeAgent, find
from ralph_tui.adapters.agents.claude.stream_agent import StreamAgent
from ralph_tui.adapters.agents.command.agent import CommandAgent
from ralph_tui.adapters.agents.context import AgentContext
from ralph_tui.errors import UsageError
from ralph_tui.ports import Agent


def _demo(context: AgentContext) -> Agent:
    from ralph_tui import demo  # noqa: PLC0415 - only the demo needs it

    return StreamAgent("demo", demo.command(context.scenario, fast=context.fast), context)


AGENTS: Mapping[str, Callable[[AgentContext], Agent]] = {
    "claude": ClaudeAgent,
    "command": CommandAgent,
    "demo": _demo,
}
"""Every agent of this version."""


def default_agent(binary: str = "claude", environ: Mapping[str, str] = os.environ) -> str | None:
    """The agent to take when none is chosen: Claude Code where it is installed."""
    return "claude" if find(binary, environ) else None


def build(name: str, context: AgentContext) -> Agent:
    """The agent of this name; raises ``UsageError`` for an unknown one."""
    factory = AGENTS.get(name)
    if factory is None:
        others = ", ".join(each for each in AGENTS if each != "demo")
        chosen = f"There is no agent {name!r}" if name else "No agent is chosen"
        raise UsageError(
            f"{chosen}; choose one with --agent: {others}"
            " (`command` runs any program given with --agent-command), or try `ralph-tui demo`."
        )
    return factory(context)


__all__ = [
    "AGENTS",
    "AgentContext",
    "ClaudeAgent",
    "CommandAgent",
    "StreamAgent",
    "build",
    "default_agent",
]
