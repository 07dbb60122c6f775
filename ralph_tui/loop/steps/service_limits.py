"""Limits and outages of the agent's service: how long the run waits before it tries again.

The run waits as long as an outage lasts, without using up an iteration.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from ralph_tui.events import WaitEnded, WaitStarted
from ralph_tui.events.waiting import WaitCause
from ralph_tui.loop.run import Run

FIRST_WAIT_S: dict[WaitCause, float] = {"overload": 30.0, "usage_limit": 300.0, "outage": 15.0}
LONGEST_WAIT_S: dict[WaitCause, float] = {
    "overload": 1800.0,
    "usage_limit": 1800.0,
    "outage": 600.0,
}
"""Maximum seconds before another attempt, so that little time is lost after an outage ends."""
AFTER_RESET_S = 5.0
"""Seconds added to a reset time, because clocks differ."""
STALE_RESET_S = 60.0
"""Seconds for which a past reset still counts: a session ends a little after its refusal."""

NEVER_SERVED = (
    "it has never answered in this run: check the network and the address that the agent uses"
)


def wait_for_service(run: Run, k: int, agent: str, until: datetime, others: Sequence[str]) -> None:
    """Wait until an agent's service may accept a session again, and record the wait.

    `others`: the other agents, if none of them can work either.
    """
    scheduler, refusal = run.scheduler, run.state.roster.refusals[agent]
    cause: WaitCause = refusal.limit or "overload"
    doubt = f"; {NEVER_SERVED}" if cause == "outage" and not run.state.needs.served else ""
    run.record(
        WaitStarted(
            iteration=k,
            cause=cause,
            reason=f"{refusal.reason.rstrip('.')}{doubt}" if doubt else refusal.reason,
            until=until,
            resets_at=refusal.resets_at,
            attempt=max(1, refusal.tries),
            since=refusal.since,
            agent=agent if others else "",
            others=list(others),
        )
    )
    began = scheduler.host.clock.now()
    # Runs that wait for the same reset must not all try at once: `after_limit_s` staggers them.
    turn_s = run.settings.agent.after_limit_s if refusal.resets_at is not None else 0.0
    by = scheduler.sleep_until(until + timedelta(seconds=turn_s))
    run.record(WaitEnded(iteration=k, by=by, waited_s=scheduler.seconds_since(began)))


def wait_until(
    now: datetime, cause: WaitCause, attempt: int, resets_at: datetime | None
) -> datetime:
    """Return when to try again: at the reset if it is known, else after a growing pause."""
    if resets_at is not None and resets_at > now - timedelta(seconds=STALE_RESET_S):
        return max(now, resets_at) + timedelta(seconds=AFTER_RESET_S)
    pause = FIRST_WAIT_S[cause] * 2 ** min(attempt - 1, 20)
    return now + timedelta(seconds=min(pause, LONGEST_WAIT_S[cause]))
