"""An iteration helps only when the best rises by more than a flaky test could."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.control.history import History, Sample
from ralph_tui.layers.control.law import Budget
from ralph_tui.layers.memory.feedback import success

BUDGET = Budget(10, tests=50)


def history(*samples: float | Sample, baseline: float = 20.0) -> History:
    made = History(baseline)
    for k, sample in enumerate(samples, 1):
        made.add(sample if isinstance(sample, Sample) else Sample(k, sample))
    return made


def test_a_rise_by_the_runs_own_pace_helps() -> None:
    assert success(history(40), BUDGET, 1) is True
    # The mean pace is 10 points an iteration, and a gain 4: that is enough.
    assert success(history(40, 44), BUDGET, 2) is True
    assert success(history(40, 43), BUDGET, 2) is False


def test_one_test_is_the_least_that_counts() -> None:
    # Of 10 tests each is worth 10 points, but a gain is 4: a rise of 5 cannot be half a test.
    assert success(history(20, 24), Budget(10, tests=10), 2) is True
    assert success(history(20, 20.5), BUDGET, 2) is False
    assert success(history(20, 22), Budget(200, tests=50), 2) is True, "slow, and one test a time"


def test_what_does_not_raise_the_best_does_not_help() -> None:
    assert success(history(40, 30), BUDGET, 2) is False
    assert success(history(40, 30, 40), BUDGET, 3) is False, "back where it was"
    assert success(history(20), BUDGET, 1) is False
    assert success(history(100, 60), BUDGET, 2) is False, "a gain of zero is not a gain"


def test_completion_helps_whatever_made_the_step() -> None:
    assert success(history(40, 100), BUDGET, 2) is True
    assert success(history(40, Sample(2, 100, grew=True)), BUDGET, 2) is True


def test_a_step_that_the_iteration_did_not_make_is_not_judged() -> None:
    assert success(history(40, Sample(2, 60, rolled_back=True)), BUDGET, 2) is None
    assert success(history(40, Sample(2, 60, grew=True)), BUDGET, 2) is None
    assert success(history(40, Sample(2, 60, restarted=True)), BUDGET, 2) is None
    assert success(history(40, Sample(2, 60, estimated=True)), BUDGET, 2) is None
    assert success(history(40), BUDGET, 2) is None, "there is no reading"


readings = st.lists(st.floats(0, 99), min_size=1, max_size=30)


@given(readings, st.integers(1, 500))
def test_a_flat_or_falling_run_is_credited_with_nothing(falls: list[float], tests: int) -> None:
    made, level = History(99.0), 99.0
    for k, fall in enumerate(falls, 1):
        level = max(0.0, level - fall)
        made.add(Sample(k, level))
        assert success(made, Budget(30, tests=tests), k) is False


@given(readings, st.integers(1, 500))
def test_what_helps_has_raised_the_best(values: list[float], tests: int) -> None:
    made, best = History(0.0), 0.0
    for k, value in enumerate(values, 1):
        made.add(Sample(k, value))
        if success(made, Budget(30, tests=tests), k):
            assert value > best
        best = max(best, value)
