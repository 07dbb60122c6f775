"""Expected failures, each told in one sentence: what is wrong, where, and what to do.

    RalphError                 anything a user can meet and mend; shown without a traceback
    ├── UsageError             the command line or a setting is not what it should be (exit 2)
    ├── WorkspaceError         git or the file system refused what a run needs
    │   └── NoRoomError        the disk is full: waited for, never given up on
    ├── LockHeldError          another run owns this worktree
    ├── AgentError             the agent's program cannot be started or spoken to
    ├── ProcessError           a command under the keeper cannot be started
    └── JournalError           a journal cannot be read or written
        └── JournalFullError   the disk is full: waited for, never given up on

A bug is any other exception: the engine journals it as ``run_crashed``.
"""

import errno

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a disk, a quota or a file size limit that is full."""


class RalphError(Exception):
    """An expected failure; its text is one whole sentence for the user."""

    exit_code = 1


class UsageError(RalphError):
    """The command line or a setting is not what it should be."""

    exit_code = 2


class WorkspaceError(RalphError):
    """Git or the file system refused what a run needs."""


class NoRoomError(WorkspaceError):
    """The disk is full; the run waits until there is room."""


def workspace_error(sentence: str, cause: OSError) -> WorkspaceError:
    """The error to raise for what the file system refused: `NoRoomError` where the disk is full."""
    kind = NoRoomError if cause.errno in NO_ROOM else WorkspaceError
    return kind(sentence)


class LockHeldError(RalphError):
    """Another run owns this worktree; the sentence names it."""

    exit_code = 2


class AgentError(RalphError):
    """The agent's program cannot be started or spoken to."""


class ProcessError(RalphError):
    """A command under the keeper cannot be started."""


class JournalError(RalphError):
    """A journal cannot be read or written; the sentence names ``path:line`` where it can."""


class JournalFullError(JournalError):
    """The disk is full; what was recorded before is safe, and the run waits until there is room."""
