"""What the exit code of ``ralph-tui`` says. Imports nothing: every command reads it."""

from enum import IntEnum


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


OUTCOME_CODES = {
    "completed": ExitCode.COMPLETED,
    "failed": ExitCode.FAILED,
    "limit_reached": ExitCode.LIMIT_REACHED,
    "aborted": ExitCode.ABORTED,
    "interrupted": ExitCode.INTERRUPTED,
}
"""By ``RunFinished.outcome``."""
