"""The agent `command`: any shell command that takes the prompt on stdin. Its description."""

from typing import TYPE_CHECKING

from ralph_tui.adapters.agents.description import AgentContext, AgentDescription
from ralph_tui.errors import UsageError

if TYPE_CHECKING:
    from ralph_tui.ports import Agent


def _check(context: AgentContext) -> None:
    if not context.settings.command:
        raise UsageError(
            "The agent `command` needs a command: give one with --agent-command,"
            ' for example --agent-command "my-agent --stdin".'
        )


def _build(context: AgentContext) -> "Agent":
    # A command line is parsed without it.
    from ralph_tui.adapters.agents.command.agent import CommandAgent  # noqa: PLC0415

    return CommandAgent(context)


COMMAND = AgentDescription(
    name="command",
    looks_ready=lambda settings, environ: settings.command is not None,
    check=_check,
    build=_build,
    takes_command=True,
    restricted=False,
    hint="runs any program that takes the prompt on stdin (--agent-command)",
)
