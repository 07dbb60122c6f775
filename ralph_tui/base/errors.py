"""Expected failures, each told in one sentence: what is wrong, where, and what to do.

    RalphError                 anything a user can meet and mend; shown without a traceback
    ├── UsageError             the command line or a setting is not what it should be (exit 2)
    │   └── SettingsError      one or more settings, all that are wrong at once
    ├── WorkspaceError         git or the file system refused what a run needs
    │   ├── NoRoomError        the disk is full: waited for, never given up on
    │   └── GitEndedError      a git was ended that would have waited for ever, or with the run
    ├── LockHeldError          another run owns this worktree
    ├── AgentError             the agent's program cannot be started or spoken to
    ├── ProcessError           a command under the keeper cannot be started
    ├── KnowledgeError         the knowledge files cannot be used; a run goes on without memory
    ├── SearchError            the index of the records cannot be used now; it is a cache
    └── JournalError           a journal cannot be read or written
        └── JournalFullError   the disk is full: waited for, never given up on

A bug is any other exception: the engine journals it as ``run_crashed``.
"""

import errno
from collections.abc import Sequence

MOST_SENTENCES = 20
"""Of failures that are told at once."""
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Errors of a disk or a quota that is full."""
_LIMITS = {
    errno.EFBIG: (
        "a file may not grow beyond the size limit of the shell that started it",
        "raise it with 'ulimit -f unlimited'",
    ),
    errno.ENOSPC: ("No space left on device", "free some space"),
    errno.EDQUOT: ("Disk quota exceeded", "free some space"),
    errno.EMFILE: ("too many files are open", "raise the limit with 'ulimit -n'"),
    errno.ENFILE: ("too many files are open on this machine", "close other programs"),
}
"""What the error means, and what to do, wherever it is met."""


class RalphError(Exception):
    """An expected failure; its text is one whole sentence for the user."""

    exit_code = 1
    sentences: Sequence[str] = ()
    """Of several failures at once, one each; empty: the text is all there is to say."""

    def __init__(self, sentence: str = "", *, ways: Sequence[str] = ()) -> None:
        """`ways`: short lines below it on the command line, where there are several ways on."""
        super().__init__(sentence)
        self.ways = tuple(ways)


class UsageError(RalphError):
    """The command line or a setting is not what it should be."""

    exit_code = 2


class SettingsError(UsageError):
    """Settings are not what they should be."""

    def __init__(self, sentences: Sequence[str], most: int = MOST_SENTENCES) -> None:
        """`sentences`: one about each, all that there are; `most` of them are told."""
        left_out = len(sentences) - most
        shown = list(sentences) if left_out <= 1 else list(sentences[:most])
        if left_out > 1:
            shown.append(f"{left_out} more settings are wrong: correct these first")
        self.sentences = shown
        super().__init__("; ".join(shown))


class WorkspaceError(RalphError):
    """Git or the file system refused what a run needs."""


class NoRoomError(WorkspaceError):
    """The disk is full; the run waits until there is room."""


class GitEndedError(WorkspaceError):
    """A git command was ended, or not begun, because it would not end by itself in time."""


def why(error: OSError, otherwise: str) -> str:
    """What the system refused, and what to do: `otherwise` where the error itself does not say."""
    what, advice = _LIMITS.get(error.errno or 0, (error.strerror or str(error), otherwise))
    return f"{what}; {getattr(error, 'advice', advice)}"


def out_of_means(error: BaseException) -> str:
    """What to say where the system gives no more memory, threads, processes or files.

    Empty for any other error. Nobody's bug: it may be raised wherever anything is begun.
    """
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE, errno.EFBIG):
        return why(error, "")
    # Of a library for which no memory is left the dynamic linker says this alone.
    unmapped = isinstance(error, ImportError) and "failed to map segment" in str(error)
    no_memory = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    if unmapped or no_memory:
        return "there is no memory left; close other programs, or raise the limit with 'ulimit -v'"
    refused = isinstance(error, RuntimeError) and "can't start new thread" in str(error)
    if refused or getattr(error, "errno", None) == errno.EAGAIN:
        return (
            "the system starts no more threads or processes; close other programs, or raise the "
            "limits with 'ulimit -u' and 'ulimit -v'"
        )
    return ""


def workspace_error(sentence: str, cause: OSError) -> WorkspaceError:
    """The error to raise for what the file system refused: `NoRoomError` where the disk is full."""
    kind = NoRoomError if cause.errno in NO_ROOM else WorkspaceError
    return kind(sentence)


class KnowledgeError(RalphError):
    """The knowledge files cannot be used, or know no such learning."""


class SearchError(RalphError):
    """The index of the records cannot be used now."""


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


def install_hint(extra: str) -> str:
    """How to install ralph-tui again with an optional part."""
    return f"in your clone of ralph-tui: uv tool install '.[{extra}]', or the same with pip or pipx"
