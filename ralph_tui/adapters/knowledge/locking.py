"""The lock that limits the knowledge files to one writer at a time."""

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ralph_tui.base.errors import KnowledgeError, why
from ralph_tui.base.file_lock import PATIENCE_S, holder_of
from ralph_tui.base.file_lock import locked as file_locked
from ralph_tui.base.plain_files import make_folder, write_whole

_IGNORED = b"""\
# What runs have learned stays out of git, unless you add it:
#   git add -f .aiwg/knowledge/ralph-learnings.json
*
"""


@contextmanager
def locked(path: Path, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Hold the lock file next to the knowledge files; anything in its way is removed.

    Raises ``KnowledgeError`` if it cannot be created, or if another process holds it for too long.
    """
    with ExitStack() as held:
        try:
            _make_folder(path.parent)
            held.enter_context(file_locked(path, patience_s, below=path.parent))
        except OSError as error:
            raise KnowledgeError(_refusal(path, patience_s, error)) from error
        yield


def explain_refusal(error: OSError) -> str:
    """Return why the system refused access to these files, and what to do."""
    if isinstance(error, NotADirectoryError):
        return "a part of its path is not a folder; move it out of the way"
    return why(error, "make its folder writable")


def _make_folder(folder: Path) -> None:
    """Create the folder, hidden from Git; an existing folder belongs to the user."""
    if not folder.is_dir():
        if os.path.lexists(folder):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
        make_folder(folder)
        write_whole(folder / ".gitignore", _IGNORED, below=folder, durable=False)


def _refusal(path: Path, patience_s: float, error: OSError) -> str:
    if error.errno != errno.EAGAIN:
        fault = explain_refusal(error)
        return f"the knowledge files cannot be locked with {path}: {fault}"
    pid = holder_of(path, below=path.parent)
    return (
        f"the knowledge files have been locked by {f'process {pid}' if pid else 'another process'} "
        f"for more than {patience_s:g} s ({path}); let it finish, or end it"
    )
