"""What a run does when the disk is full, decided once.

A full disk is waited for and never given up on: only the owner's stop or abort ends the wait. It is
told once when it begins and once when there is room again. What happens meanwhile depends on what
found no room:

- a job that the loop waits for is started again every `RETRY_S` seconds (`Scheduler.run_job`);
- a job that holds what an agent does, such as a checkpoint, stops the agent, because its work could
  not be held any more (`Scheduler.spawn` with ``holds_work``); the step that waits for the session
  goes on in the same iteration when there is room;
- the journal stops the agent too, keeps what waits in the inbox, and tries again (`Engine`).
"""

from ralph_tui.base.errors import NO_ROOM, JournalFullError, NoRoomError
from ralph_tui.events import WaitEnded, WaitStarted
from ralph_tui.text.terms import DISK_FULL

RETRY_S = 2.0
"""Seconds between two attempts of a job."""


def is_full(error: BaseException | None) -> bool:
    """Whether something failed because the disk is full."""
    if isinstance(error, OSError):
        return error.errno in NO_ROOM
    return isinstance(error, NoRoomError | JournalFullError)


def wait_began(iteration: int, found_by: str) -> WaitStarted:
    """The event of a wait for room; `found_by` says what found none."""
    return WaitStarted(iteration=iteration, cause="disk_full", reason=f"{DISK_FULL} ({found_by})")


def wait_ended(iteration: int, waited_s: float, by: str = "the clock") -> WaitEnded:
    """The event when there is room again; `waited_s` in seconds."""
    return WaitEnded(iteration=iteration, by=by, waited_s=waited_s)
