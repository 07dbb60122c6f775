"""Expected failures. Each says in one sentence what is wrong, where, and what to do.

    RalphError                 anything a user can meet and fix; shown without a traceback
    ├── UsageError             the command line or a setting is wrong (exit 2)
    │   └── SettingsError      one or more settings are wrong; all are reported together
    ├── WorkspaceError         git or the file system refused what a run needs
    │   ├── NoRoomError        the disk is full: the run waits instead of aborting
    │   └── GitEndedError      git was stopped: it would have hung, or its run ended
    ├── LockHeldError          another run owns this worktree
    ├── AgentError             the agent's program cannot be started, or does not respond
    ├── ProcessError           a command under the keeper cannot be started
    ├── KnowledgeError         the knowledge files cannot be used; a run continues without memory
    ├── SearchError            the index of the records cannot be used now; it is a cache
    └── JournalError           a journal cannot be read or written
        └── JournalFullError   the disk is full: the run waits instead of aborting

A bug is any other exception: the engine journals it as ``run_crashed``.
"""

import errno
from collections.abc import Sequence

MAX_SENTENCES = 20
"""Maximum number of failures reported together."""
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Error numbers that mean a full disk or quota."""
_LIMITS = {
    errno.EFBIG: (
        "the file reached the size limit of the shell",
        "raise it with 'ulimit -f unlimited'",
    ),
    errno.ENOSPC: ("No space left on device", "free some space"),
    errno.EDQUOT: ("Disk quota exceeded", "free some space"),
    errno.EMFILE: ("too many files are open", "raise the limit with 'ulimit -n'"),
    errno.ENFILE: ("too many files are open on this machine", "close other programs"),
}
"""Meaning and remedy, by error number."""


class RalphError(Exception):
    """An expected failure; its text is a complete sentence for the user."""

    exit_code = 1
    sentences: Sequence[str] = ()
    """One sentence per failure if there are several; empty if the text says everything."""

    def __init__(self, sentence: str = "", *, ways: Sequence[str] = ()) -> None:
        """`ways`: possible remedies, which the command line lists below the sentence."""
        super().__init__(sentence)
        self.ways = tuple(ways)


class UsageError(RalphError):
    """The command line or a setting is wrong."""

    exit_code = 2


class SettingsError(UsageError):
    """One or more settings are wrong."""

    def __init__(self, sentences: Sequence[str], most: int = MAX_SENTENCES) -> None:
        """`sentences`: one for each wrong setting; at most `most` of them are shown."""
        left_out = len(sentences) - most
        shown = list(sentences) if left_out <= 1 else list(sentences[:most])
        if left_out > 1:
            shown.append(f"{left_out} more settings are not valid; correct these first")
        self.sentences = shown
        super().__init__("; ".join(shown))


class WorkspaceError(RalphError):
    """Git or the file system refused what a run needs."""


class NoRoomError(WorkspaceError):
    """The disk is full; the run waits until there is room."""


class GitEndedError(WorkspaceError):
    """A git command was stopped, or not started, because it would not have finished in time."""


def why(error: OSError, otherwise: str) -> str:
    """Return the system's reason and a remedy: `otherwise`, unless the error implies another."""
    reason, advice = _LIMITS.get(error.errno or 0, (error.strerror or str(error), otherwise))
    return f"{reason}; {getattr(error, 'advice', advice)}"


def resource_error(error: BaseException) -> str:
    """Return a message if the system is out of memory, threads, processes or files.

    The message is empty for any other error. Running out of resources is not a bug, and can happen
    wherever a process or thread is started.
    """
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE, errno.EFBIG):
        return why(error, "")
    # The dynamic linker reports only this if there is too little memory to load a library.
    unmapped = isinstance(error, ImportError) and "failed to map segment" in str(error)
    no_memory = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    if unmapped or no_memory:
        return "out of memory; close other programs, or raise the limit with 'ulimit -v'"
    refused = isinstance(error, RuntimeError) and "can't start new thread" in str(error)
    if refused or getattr(error, "errno", None) == errno.EAGAIN:
        return (
            "the system cannot start more threads or processes; close other programs, or raise the "
            "limits with 'ulimit -u' and 'ulimit -v'"
        )
    return ""


def workspace_error(sentence: str, cause: OSError) -> WorkspaceError:
    """Return the error for a file system failure: `NoRoomError` if the disk is full."""
    kind = NoRoomError if cause.errno in NO_ROOM else WorkspaceError
    return kind(sentence)


class KnowledgeError(RalphError):
    """The knowledge files cannot be used, or the learning is not in them."""


class SearchError(RalphError):
    """The index of the records cannot be used now."""


class LockHeldError(RalphError):
    """Another run owns this worktree; the sentence names it."""

    exit_code = 2


class AgentError(RalphError):
    """The agent's program cannot be started, or does not respond."""


class ProcessError(RalphError):
    """A command under the keeper cannot be started."""


class JournalError(RalphError):
    """A journal cannot be read or written; the sentence names ``path:line`` if possible."""


class JournalFullError(JournalError):
    """The disk is full; earlier records are safe, and the run waits until there is room."""


def install_hint(extra: str) -> str:
    """Return how to reinstall ralph-tui with an optional part."""
    return f"in your clone of ralph-tui, run uv tool install '.[{extra}]', or use pip or pipx"
