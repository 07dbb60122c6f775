"""Limits of the agent's service: how long the run waits before it tries again."""

from datetime import datetime, timedelta

from ralph_tui.events import SessionFinished, WaitEnded, WaitStarted
from ralph_tui.events.waiting import WaitCause
from ralph_tui.loop.run import Run
from ralph_tui.loop.waiting.controls import Steps

FIRST_WAIT_S: dict[WaitCause, float] = {"overload": 30.0, "usage_limit": 300.0}
LONGEST_WAIT_S = 1800.0
AFTER_RESET_S = 5.0
"""Clocks differ: a reset is waited for a little longer."""
STALE_RESET_S = 60.0
"""A session ends a little after it was refused: its reset may have passed by then, and counts."""


def wait_for_service(run: Run, k: int, finished: SessionFinished) -> Steps[None]:
    """Wait until the service may take a session again; `finished` is the one it refused."""
    scheduler, clock = run.scheduler, run.scheduler.host.clock
    attempt = run.state.needs.waits + 1
    cause: WaitCause = finished.limit or "overload"
    began = clock.now()
    until = wait_until(began, cause, attempt, finished.resets_at)
    yield WaitStarted(
        iteration=k,
        cause=cause,
        reason=finished.reason,
        until=until,
        resets_at=finished.resets_at,
        attempt=attempt,
    )
    by = yield from scheduler.sleep_until(until)
    yield WaitEnded(iteration=k, by=by, waited_s=scheduler.seconds_since(began))


def wait_until(
    now: datetime, cause: WaitCause, attempt: int, resets_at: datetime | None
) -> datetime:
    """When to try again: at the reset, where it is known; else after a growing pause."""
    if resets_at is not None and resets_at > now - timedelta(seconds=STALE_RESET_S):
        return max(now, resets_at) + timedelta(seconds=AFTER_RESET_S)
    first = FIRST_WAIT_S.get(cause, FIRST_WAIT_S["overload"])
    return now + timedelta(seconds=min(first * 2 ** min(attempt - 1, 20), LONGEST_WAIT_S))
