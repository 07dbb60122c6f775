"""Agents that speak the Agent Client Protocol: how their sessions are started."""

import shlex
from dataclasses import replace

from ralph_tui.adapters.agents.acp.opencode_rules import with_rules
from ralph_tui.adapters.agents.acp.opening import Ledger, Plan
from ralph_tui.adapters.agents.acp.quirks import Quirks, of_command
from ralph_tui.adapters.agents.acp.session import AcpSession
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.installed import program_path
from ralph_tui.adapters.agents.start import start_child
from ralph_tui.ports import Emit, Turn


class AcpAgent:
    """One program, run anew for each session."""

    def __init__(
        self, name: str, command_line: list[str], quirks: Quirks, context: AgentContext
    ) -> None:
        self.name = name
        self.resumes = quirks.resumes
        self.ledger = Ledger()
        self._command_line = command_line
        self._quirks = quirks
        self._context = context

    def start(self, turn: Turn, emit: Emit) -> AcpSession:
        """Start a session; raises ``AgentError`` when the program cannot be started."""
        context = self._context
        if self._quirks.takes_rules:
            environ = with_rules(context.environ, turn.permissions, turn.command)
            context = replace(context, environ=environ)
        child = start_child(self._command_line, context, turn)
        plan = Plan(
            self._quirks,
            str(context.root),
            context.settings.model,
            context.settings.silence_s,
            self.ledger,
        )
        session = AcpSession(child, turn, emit, context.timeout_s, plan=plan)
        session.begin(self.name)
        return session


def known_agent(name: str, quirks: Quirks, context: AgentContext) -> AcpAgent:
    """An agent of the table; raises ``UsageError`` when its program is missing."""
    model = context.settings.model
    flags = ["-m", model] if model and quirks.model_by_flag else []
    program = [program_path(context, quirks.commands[0]), *quirks.arguments, *flags]
    return AcpAgent(name, program, quirks, context)


def any_agent(name: str, context: AgentContext) -> AcpAgent:
    """The agent of a command line; one that is known is driven as it needs."""
    command = context.settings.command or ""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    return AcpAgent(name, ["/bin/sh", "-c", command], of_command(words), context)
