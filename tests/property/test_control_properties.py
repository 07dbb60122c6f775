"""Rules for every series: bounds, monotony, patience, one result per prefix."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.analysis.lab import simulate
from ralph_tui.layers.control.evaluation import Evaluation
from ralph_tui.layers.control.evaluation import evaluate as evaluate_reading
from ralph_tui.layers.control.history import History, Sample
from ralph_tui.layers.control.law import PROFILES, Budget, Gains, measure, output
from ralph_tui.layers.oversight import OversightSettings
from ralph_tui.layers.settings import ControlSettings
from tests.examples import FEWER

READINGS = st.one_of(
    st.integers(0, 100).map(float),
    st.integers(0, 1000).map(lambda tenths: tenths / 10),
    st.floats(0, 100),
)
SERIES = st.lists(READINGS, min_size=1, max_size=40)
BUDGETS = st.integers(1, 60)
TESTS = st.one_of(st.none(), st.integers(0, 300))
SETTINGS = st.builds(
    ControlSettings,
    enabled=st.booleans(),
    window_size=st.integers(1, 8),
    decay=st.sampled_from([0.0, 0.5, 0.9, 1.0]),
    noise_threshold=st.sampled_from([0.0, 0.05, 0.2]),
    smoothing=st.sampled_from([0.0, 0.3, 1.0]),
    integral_term=st.sampled_from(["mean", "accumulated"]),
    patience=st.sampled_from([0.5, 1.0, 2.0]),
)
LAB = st.fixed_dictionaries(
    {
        "progress": SERIES,
        "baseline": READINGS,
        "max_iterations": BUDGETS,
        "tests": TESTS,
        "control": SETTINGS,
        "oversight": st.builds(
            OversightSettings,
            enabled=st.booleans(),
            act=st.booleans(),
            pause_on_critical=st.booleans(),
        ),
    }
)


@given(LAB)
def test_everything_stays_within_its_bounds(options: dict[str, Any]) -> None:
    rows = simulate(**options)
    assert [row.iteration for row in rows] == [*range(1, len(rows) + 1)]
    for row in rows:
        assert 0 <= row.output <= 1
        assert 0 <= row.proportional <= 1
        assert -1e-9 <= row.integral_mean <= 1 + 1e-9
        assert -1 <= row.derivative <= 1
        assert -1 <= row.velocity <= 1
        assert 0 <= row.volatility <= 2
        if row.completion == 1:
            assert (row.alarms, row.detections, row.intervention) == ((), (), None)


@given(LAB)
def test_an_overseer_that_must_not_act_sees_the_same_and_only_warns(
    options: dict[str, Any],
) -> None:
    watched = {**options, "oversight": OversightSettings(act=False)}
    acting = {**options, "oversight": OversightSettings()}
    for row, acted in zip(simulate(**watched), simulate(**acting), strict=True):
        assert row.detections == acted.detections
        assert row.intervention in (None, "LOG", "WARN")
        assert (row.intervention is None) is (acted.intervention is None)


@FEWER
@given(LAB)
def test_a_series_has_one_answer_and_the_future_does_not_change_it(options: dict[str, Any]) -> None:
    rows = simulate(**options)
    assert simulate(**options) == rows
    for length in range(1, len(rows)):
        assert simulate(**{**options, "progress": options["progress"][:length]}) == rows[:length]


@given(
    st.sampled_from([*PROFILES.values()]),
    SETTINGS,
    st.tuples(st.floats(0, 100), st.floats(0, 100)),
    st.floats(0, 5),
    st.floats(-1, 1),
)
def test_at_fixed_gains_the_signal_rises_with_the_error(
    gains: Gains,
    chosen: ControlSettings,
    readings: tuple[float, float],
    integral: float,
    derivative: float,
) -> None:
    signals = []
    for reading in sorted(readings, reverse=True):
        history = History(50)
        history.add(Sample(1, reading))
        found = measure(history, Budget(10), chosen, previous_integral=integral)
        signals.append(output(found._replace(derivative=derivative), gains, chosen))
    assert signals[0] <= signals[1]


@FEWER
@given(st.integers(5, 200), st.integers(0, 2000), st.floats(0, 95), st.data())
def test_the_pace_a_budget_needs_never_raises_a_progress_alarm(
    most: int, tests: int, baseline: float, data: st.DataObject
) -> None:
    pace = (100 - baseline) / most
    surplus = data.draw(st.lists(st.floats(0, 3), min_size=most, max_size=most))
    completion, progress = baseline, []
    for extra in surplus:
        completion = min(100.0, completion + pace * (1 + extra))
        progress.append(completion)
        if completion == 100:
            break
    steady = [min(100.0, baseline + pace * k) for k in range(1, most + 1)]
    for climb in (progress, steady):
        rows = simulate(climb, baseline=baseline, max_iterations=most, tests=tests)
        assert {name for row in rows for name in row.alarms} <= {"BUDGET_EXCEEDED"}
        assert {row.intervention for row in rows} <= {None, "LOG", "WARN", "PAUSE"}
    assert {row.intervention for row in rows} <= {None, "LOG", "WARN"}


@given(SERIES, st.integers(1, 60))
def test_alarms_up_are_those_raised_and_not_yet_cleared(progress: list[float], most: int) -> None:
    history, previous, up = History(), None, set[str]()
    for iteration, value in enumerate(progress, start=1):
        history.add(Sample(iteration, value))
        found: Evaluation = evaluate_reading(history, Budget(most), previous=previous)
        assert not up & {alarm.alarm for alarm in found.raised}
        up |= {alarm.alarm for alarm in found.raised}
        up -= {alarm.alarm for alarm in found.cleared}
        assert up == {alarm.alarm for alarm in found.alarms}
        previous = found
