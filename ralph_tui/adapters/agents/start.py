"""How a session's process is started: in the worktree, under the keeper."""

from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.processes.child import PIPE, Child, launch
from ralph_tui.errors import AgentError, ProcessError
from ralph_tui.ports import Turn


def start_child(argv: list[str], context: AgentContext, turn: Turn) -> Child:
    """The agent's process under the keeper; raises ``AgentError``."""
    environ = {
        **context.environ,
        "RALPH_ITERATION": str(turn.iteration),
        "RALPH_RUN_ID": context.run_id,
    }
    try:
        return launch(
            argv,
            cwd=context.root,
            env=environ,
            run_id=context.run_id,
            lock_fd=context.lock_fd,
            stdin="pipe",
            stdout=PIPE,
            stderr=PIPE,
        )
    except ProcessError as error:
        raise AgentError(str(error)) from error
