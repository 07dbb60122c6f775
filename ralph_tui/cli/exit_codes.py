"""How a command of ``ralph-tui`` ends. Imports next to nothing: every command reads it."""

from enum import IntEnum
from pathlib import Path


class ExitCode(IntEnum):
    """Exit codes, the same for every command."""

    COMPLETED = 0
    FAILED = 1
    """The run failed, or an expected error ended the command."""
    USAGE = 2
    LIMIT_REACHED = 3
    ABORTED = 4
    QUESTION_OPEN = 5
    """Stopped while a question waited for an answer."""
    INTERRUPTED = 130
    """A signal, or leaving with ``q``."""


class GoOn(Exception):  # noqa: N818 - no error: its screen was left for another command
    """Another command takes the place of this one, in this terminal."""

    def __init__(self, words: tuple[str, ...], worktree: Path | None) -> None:
        """`words`: its command line; `worktree`: where it is typed, None: anywhere."""
        super().__init__(*words)
        self.words, self.worktree = words, worktree


OUTCOME_CODES = {
    "completed": ExitCode.COMPLETED,
    "failed": ExitCode.FAILED,
    "limit_reached": ExitCode.LIMIT_REACHED,
    "aborted": ExitCode.ABORTED,
    "interrupted": ExitCode.INTERRUPTED,
}
"""By ``RunFinished.outcome``."""
