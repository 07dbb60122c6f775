"""The exit codes. This module imports almost nothing, because every command uses it."""

from enum import IntEnum
from pathlib import Path


class ExitCode(IntEnum):
    """Exit codes, the same for every command."""

    COMPLETED = 0
    """The run completed, or the command succeeded."""
    FAILED = 1
    """The run failed, or an expected error ended the command."""
    USAGE = 2
    """The command line or a setting is wrong, or the run cannot start."""
    LIMIT_REACHED = 3
    """The iterations or the budget were used up, after enough progress."""
    ABORTED = 4
    """The user or the overseer aborted the run."""
    QUESTION_OPEN = 5
    """The run stopped while a question waited for an answer."""
    INTERRUPTED = 130
    """A signal, a closed output or the key `q` stopped the run or the command."""


class NextCommand(Exception):  # noqa: N818 - not an error: the user left a screen for another command
    """Another command replaces this one in the same terminal."""

    def __init__(self, words: tuple[str, ...], worktree: Path | None) -> None:
        """`words` is the command line; `worktree` is the folder to run it in (None: this one)."""
        super().__init__(*words)
        self.words, self.worktree = words, worktree


OUTCOME_CODES = {
    "completed": ExitCode.COMPLETED,
    "failed": ExitCode.FAILED,
    "limit_reached": ExitCode.LIMIT_REACHED,
    "aborted": ExitCode.ABORTED,
    "interrupted": ExitCode.INTERRUPTED,
}
"""Exit codes by ``RunFinished.outcome``."""
