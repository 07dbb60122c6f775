"""Codex CLI's sessions over its app-server, one process each; what they begin with."""

from ralph_tui import __version__
from ralph_tui.adapters.agents.codex import CODEX
from ralph_tui.adapters.agents.codex.program import installed_program
from ralph_tui.adapters.agents.codex.reader import Ledger
from ralph_tui.adapters.agents.codex.session import CodexSession, Plan
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.installed import dotted
from ralph_tui.adapters.agents.process_session import start_child
from ralph_tui.ports import Emit, Turn


class CodexAgent:
    """Codex CLI; raises ``UsageError`` when it is missing or too old."""

    name = CODEX.name
    resumes = True

    def __init__(self, context: AgentContext) -> None:
        self._path, version = installed_program(context)
        self._context = context
        self._plan = Plan(
            root=context.root,
            ledger=Ledger(),
            model=context.settings.model,
            version=dotted(version) if version else "",
            client=__version__,
        )

    def start(self, turn: Turn, emit: Emit) -> CodexSession:
        """Start a session; raises ``AgentError`` when the program cannot be started."""
        child = start_child([self._path, "app-server"], self._context, turn)
        session = CodexSession(child, turn, emit, self._context.timeout_s, plan=self._plan)
        session.begin(self.name)
        return session
