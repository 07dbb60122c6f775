"""The agent `command`: any shell command that takes the prompt on stdin. Its description."""

from typing import TYPE_CHECKING

from ralph_tui.adapters.agents.description import AgentContext, AgentDescription
from ralph_tui.adapters.agents.programs import checks_command, looks_runnable

if TYPE_CHECKING:
    from ralph_tui.ports import Agent


def _build(context: AgentContext) -> "Agent":
    # A command line is parsed without it.
    from ralph_tui.adapters.agents.command.agent import CommandAgent  # noqa: PLC0415

    return CommandAgent(context)


COMMAND = AgentDescription(
    name="command",
    looks_ready=lambda settings, environ: looks_runnable(settings.command, environ),
    check=checks_command("command", "my-agent --stdin"),
    build=_build,
    takes_command=True,
    restricted=False,
    hint="runs any program that takes the prompt on stdin (--agent-command)",
)
