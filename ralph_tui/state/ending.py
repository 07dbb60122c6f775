"""The last event of a run, computed from its state. Pure."""

from datetime import datetime

from ralph_tui.events import RunFinished
from ralph_tui.events.run import Outcome
from ralph_tui.state.run import RunFold


def ended(
    run: RunFold, outcome: Outcome, reason: str, at: datetime, worked_s: float | None = None
) -> RunFinished:
    """Return the event that ends a run.

    `worked_s` is the measured working time in seconds; without it, clock times are used.
    """
    return RunFinished(
        outcome=outcome,
        reason=reason,
        iterations=run.iteration,
        completion=run.completion or 0.0,
        best=run.best,
        best_iteration=run.best_iteration,
        duration_s=run.worked_s(at) if worked_s is None else worked_s,
        cost_usd=run.cost_usd if run.cost_known else None,
        tokens=run.tokens or None,
    )
