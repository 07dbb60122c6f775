"""Expected failures, each told in one sentence: what is wrong, where, and what to do.

    RalphError                 anything a user can meet and mend; shown without a traceback
    ├── UsageError             the command line or a setting is not what it should be (exit 2)
    ├── WorkspaceError         git or the file system refused what a run needs
    ├── LockHeldError          another run owns this worktree
    ├── AgentError             the agent's program cannot be started or spoken to
    ├── ProcessError           a command under the keeper cannot be started
    └── JournalError           a journal cannot be read or written

A bug is any other exception: the engine journals it as ``run_crashed``.
"""


class RalphError(Exception):
    """An expected failure; its text is one whole sentence for the user."""

    exit_code = 1


class UsageError(RalphError):
    """The command line or a setting is not what it should be."""

    exit_code = 2


class WorkspaceError(RalphError):
    """Git or the file system refused what a run needs."""


class LockHeldError(RalphError):
    """Another run owns this worktree; the sentence names it."""

    exit_code = 2


class AgentError(RalphError):
    """The agent's program cannot be started or spoken to."""


class ProcessError(RalphError):
    """A command under the keeper cannot be started."""


class JournalError(RalphError):
    """A journal cannot be read or written; the sentence names ``path:line`` where it can."""
