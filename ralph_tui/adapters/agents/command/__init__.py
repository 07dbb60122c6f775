"""The description of the agent `command`: a shell command that reads the prompt from stdin."""

from ralph_tui.adapters.agents.description import Abilities, AgentDescription, lazily
from ralph_tui.adapters.agents.programs import can_run, checks_command

COMMAND = AgentDescription(
    name="command",
    is_ready=lambda settings, environ: can_run(settings.command, environ),
    check=checks_command("command", "my-agent --stdin"),
    build=lazily("command.agent:CommandAgent"),
    takes_command=True,
    abilities=Abilities(tokens=""),
    restricted=False,
    hint="runs any program that takes the prompt on stdin (--agent-command)",
)
