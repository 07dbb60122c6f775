"""Judge whether an iteration helped, to credit the learnings in its prompt."""

from collections.abc import Iterable

from ralph_tui.events import AlarmRaised
from ralph_tui.layers.control.alarms import PROGRESS_ALARMS
from ralph_tui.layers.control.history import History, below
from ralph_tui.layers.control.law import Budget
from ralph_tui.state.memory import SeenLearning


def success(history: History, budget: Budget, iteration: int) -> bool | None:
    """Return True if the run completed, or the best rose by more than a flaky test.

    The required rise is a gain, or the run's mean pace (at least one test) if that is less. None if
    the iteration cannot be judged because it was not measured or only estimated. The same applies
    if a rollback, a larger total or a change of source caused its step.
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
    """True if a run credits a learning with this result; each result counts once.

    A progress alarm raised before any prompt contained the learning is not blamed on it.
    """
    if any(credit.success is success for credit in one.credits.values()):
        return False
    first = min(one.sent, default=0)
    older = (up for up in alarms if up.alarm in PROGRESS_ALARMS and up.iteration < first)
    return success or not any(older)
