"""Whether an iteration helped, so that what its prompt carried is credited with it."""

from collections.abc import Iterable

from ralph_tui.events import AlarmRaised
from ralph_tui.layers.control import PROGRESS_ALARMS, Budget, History, below
from ralph_tui.state.memory import SeenLearning


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


def counts(one: SeenLearning, alarms: Iterable[AlarmRaised], *, success: bool) -> bool:
    """Whether a run credits a learning with this result: each result once.

    An alarm about progress that was up before a prompt carried it first, and still is, is no fault
    of the learning.
    """
    if any(credit.success is success for credit in one.credits.values()):
        return False
    first = min(one.sent, default=0)
    older = (up for up in alarms if up.alarm in PROGRESS_ALARMS and up.iteration < first)
    return success or not any(older)
