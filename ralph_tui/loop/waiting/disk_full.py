"""Behavior of a run when the disk is full.

A run waits for room as long as it takes: only the user's stop or abort ends the wait. The wait is
reported once when it begins, and once when there is room again. Meanwhile, the reaction depends on
which operation found the disk full:

- A job the loop waits for is started again every `RETRY_S` seconds (`Scheduler.run_job`).
- A job that saves the agent's work, such as a checkpoint, stops the agent, because its work could
  not be saved (`Scheduler.spawn` with ``holds_work``). The step that waits for the session
  continues in the same iteration when there is room.
- The journal also stops the agent, keeps the items in the inbox, and tries again (`Engine`).
"""

from ralph_tui.base.errors import NO_ROOM, JournalFullError, NoRoomError
from ralph_tui.events import WaitEnded, WaitStarted
from ralph_tui.text.terms import DISK_FULL

RETRY_S = 2.0
"""Seconds between two attempts of a job."""


def is_full(error: BaseException | None) -> bool:
    """True if an operation failed because the disk is full."""
    if isinstance(error, OSError):
        return error.errno in NO_ROOM
    return isinstance(error, NoRoomError | JournalFullError)


def wait_began(iteration: int, found_by: str) -> WaitStarted:
    """Return the event that begins a wait for room; `found_by`: the operation that found none."""
    return WaitStarted(iteration=iteration, cause="disk_full", reason=f"{DISK_FULL} ({found_by})")


def wait_ended(iteration: int, waited_s: float, by: str = "the clock") -> WaitEnded:
    """Return the event that ends a wait for room; `waited_s` in seconds."""
    return WaitEnded(iteration=iteration, by=by, waited_s=waited_s)
