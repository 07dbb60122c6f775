"""Whether an iteration helped, so that what its prompt carried is credited with it."""

from ralph_tui.layers.control import Budget, History, below


def success(history: History, budget: Budget, iteration: int) -> bool | None:
    """True when the run completed, or the best rose by enough to be no flaky test.

    Enough is a gain, or the run's mean pace where that is less, but at least one test. None where
    the iteration cannot be judged: it has no reading, what it reached is an estimate, or a
    rollback, a grown total or a switch of the sensor made the step.
    """
    if history.iteration != iteration:
        return None
    if history.complete:
        return True
    if history.excused or history.estimated:
        return None
    before = history.best - history.rise
    enough = min(history.gain(before), max(history.pace, 100 / budget.items))
    return history.rose_since(before) and not below(history.rise, enough)
