"""Each alarm at its limits, and the effect of the sensor's marks."""

from pathlib import Path

import pytest

from ralph_tui.analysis import lab
from ralph_tui.analysis.lab import simulate
from ralph_tui.config.sources import load
from ralph_tui.events import UsageReported
from ralph_tui.layers.control.evaluation import Evaluation
from ralph_tui.layers.control.evaluation import evaluate as evaluate_reading
from ralph_tui.layers.control.history import History, Sample
from ralph_tui.layers.control.law import Budget, Patience
from ralph_tui.layers.inputs import budget_of
from ralph_tui.layers.settings import ControlSettings
from ralph_tui.state import RunState
from tests.rows import each_row


def raised(progress: list[float], **options: object) -> dict[int, tuple[str, ...]]:
    """Alarms by iteration, without the budget's."""
    rows = simulate(progress, **options)  # type: ignore[arg-type]
    found = {
        row.iteration: tuple(name for name in row.alarms if name != "BUDGET_EXCEEDED")
        for row in rows
    }
    return {iteration: names for iteration, names in found.items() if names}


def follow(
    samples: list[Sample], budget: Budget | None = None, baseline: float = 0
) -> list[Evaluation]:
    history = History(baseline)
    found: list[Evaluation] = []
    for sample in samples:
        history.add(sample)
        previous = found[-1] if found else None
        found.append(evaluate_reading(history, budget or Budget(50), previous=previous))
    return found


def names(evaluation: Evaluation) -> list[str]:
    return [alarm.alarm for alarm in evaluation.alarms]


def test_worked_examples() -> None:
    assert raised([*range(10, 101, 10)]) == {}
    budget = [row.iteration for row in simulate([*range(10, 101, 10)]) if row.alarms]
    assert budget == [9]
    assert min(raised([30, 30, 31, 30, 31, 30])) == 4
    assert raised([40, 60, 40, 60, 40]) == {5: ("OSCILLATING",)}
    assert raised([70, 60, 50]) == {3: ("REGRESSING",)}
    assert raised([*range(2, 101, 2)], max_iterations=50) == {}
    saw: list[float] = [20, 14, 30, 25, 45, 40, 60, 55, 75, 90]
    assert raised(saw, max_iterations=20) == {}
    assert raised([80, 80, 20, 20], max_iterations=20) == {4: ("REGRESSING",)}


@each_row(
    ("most", "tests", "patience", "expected"),
    [
        (10, None, 1, (3, 3)),
        (30, 100, 1, (3, 3)),
        (31, 100, 1, (3, 4)),
        (50, 0, 1, (3, 5)),
        (50, 10, 1, (13, 13)),
        (90, 100, 1, (3, 9)),
        (91, 100, 1, (4, 10)),
        (200, 100, 1, (7, 20)),
        (200, 1000, 1, (7, 20)),
        (400, 1000, 1, (10, 40)),
        (8, 1, 1, (3, 3)),
        (10, None, 2, (6, 6)),
        (10, None, 0.5, (2, 2)),
        (50, None, 0.1, (1, 1)),
    ],
)
def test_patience(most: int, tests: int | None, patience: float, expected: tuple[int, int]) -> None:
    found = Patience.of(History(), Budget(most, tests), ControlSettings(patience=patience))
    assert (found.short, found.long) == expected


def after(readings: list[float]) -> History:
    history = History()
    for k, reading in enumerate(readings, 1):
        history.add(Sample(k, reading))
    return history


@each_row(
    ("settings", "readings", "most", "alarms"),
    [
        ({"stuck_after": 2}, [50, 50, 50], 10, {3: ("STUCK",)}),
        ({"stuck_after": 5}, [50] * 6, 10, {6: ("STUCK",)}),
        ({"stuck_after": 5, "patience": 9}, [50] * 6, 10, {6: ("STUCK",)}),
        ({"oscillations": 2}, [60, 60, 40, 60], 10, {4: ("OSCILLATING",)}),
        ({"oscillations": 4}, [40, 60, 40, 60, 40], 10, {}),
        ({"falls": 1}, [70, 50], 10, {2: ("REGRESSING",)}),
        ({"falls": 3}, [90, 86, 80, 77], 10, {4: ("REGRESSING",)}),
    ],
)
def test_thresholds_are_settings(
    tmp_path: Path,
    settings: dict[str, float],
    readings: list[float],
    most: int,
    alarms: dict[int, tuple[str, ...]],
) -> None:
    options = [f"control.{name}={value}" for name, value in settings.items()]
    control = load(tmp_path, {}, {}, options).settings.control
    assert raised(readings, max_iterations=most, control=control) == alarms
    assert raised(readings, max_iterations=most) != alarms


def test_the_reason_counts_falls_and_turns_as_set() -> None:
    rows = ([70.0, 50.0], "1 fall cost 20 points."), ([60.0, 60, 60, 40], "direction 1 time in")
    for readings, words in rows:
        history, settings = after(readings), ControlSettings(falls=1, oscillations=1)
        found = evaluate_reading(history, Budget(10), settings).conditions
        assert any(words in one.reason for one in found), found


@each_row(("share", "first"), [(0.5, 5), (0.9, 9), (0.95, 10), (1.0, 10)])
def test_the_share_of_the_budget_that_warns_is_a_setting(share: float, first: int) -> None:
    rows = simulate(
        [float(5 * k) for k in range(1, 11)], control=ControlSettings(budget_warning=share)
    )
    assert min(row.iteration for row in rows if "BUDGET_EXCEEDED" in row.alarms) == first
    asked = [row.iteration for row in rows if row.intervention == "PAUSE"]
    assert asked == ([first] if first < 10 else [])
    state = RunState()
    run = state.run
    run.max_iterations = 100
    run.on_usage_reported(UsageReported(iteration=1, context_tokens=90, tokens=90, cost_usd=9.0))
    control = ControlSettings(budget_warning=share)

    def warns() -> bool:
        (row,) = lab.follow([Sample(1, 5.0)], budget_of(state), control=control)
        return "BUDGET_EXCEEDED" in row.alarms

    assert not warns()
    run.budget_tokens, run.budget_usd = 100, None
    assert warns() == (share <= 0.9)
    run.budget_tokens, run.budget_usd = None, 10.0
    assert warns() == (share <= 0.9)


def test_patience_is_three_times_what_a_rise_took_in_this_run() -> None:
    plan = Budget(60, 100)
    climb: list[float] = [4, 8, 8, 8, 12, 16, 16, 16, 16, 16, 16, 20]
    found = [
        Patience.of(after(climb[:k]), plan, ControlSettings()).short
        for k in range(1, len(climb) + 1)
    ]
    assert found == [3, 3, 3, 3, 9, 9, 9, 9, 9, 9, 9, 15]


def test_the_size_of_a_test_counts_until_the_fifth_rise() -> None:
    coarse = Budget(60, 12)
    climb = [8.0 * k for k in range(1, 6)]
    found = [Patience.of(after(climb[:k]), coarse, ControlSettings()).short for k in (1, 4, 5)]
    assert found == [15, 15, 3]


def test_stuck_waits_for_three_iterations_without_a_rise() -> None:
    assert raised([50, 50, 50]) == {}
    assert raised([50, 50, 50, 50]) == {4: ("STUCK",)}
    assert raised([20, 30, 40, 50, 50, 50, 50], max_iterations=20) == {7: ("STUCK",)}


def test_a_run_that_waited_before_is_given_three_times_as_long() -> None:
    late: list[float] = [20, 20, 30, 30, 30, 30, 30, 30]
    assert raised(late, max_iterations=40) == {}
    assert raised([*late, 30], max_iterations=40) == {9: ("STUCK",)}


def test_small_regular_steps_of_a_big_suite_are_rises() -> None:
    assert raised([100 * k / 171 for k in range(1, 50)], max_iterations=50, tests=171) == {}


def test_what_never_passed_before_ends_a_wait_but_is_no_rise() -> None:
    flat = [Sample(k, 30, novel=k == 4) for k in range(1, 8)]
    found = [names(one) for one in follow(flat)]
    assert found == [[], [], [], [], [], [], ["STUCK"]]
    always = follow([Sample(k, 30, novel=True) for k in range(1, 11)])
    assert [names(one) for one in always[-2:]] == [[], ["STUCK"]]
    assert always[-1].alarms[0].reason == (
        "New tests pass, but no new best for 9 iterations; the longest gap between gains so far "
        "was 1."
    )


def test_a_loss_and_the_best_it_is_measured_from_have_the_same_digits() -> None:
    # 33.3 points below a best of 33 would be less than nothing.
    found = follow([Sample(k, 0) for k in (1, 2)], Budget(6, 6), baseline=100 / 3)
    assert found[-1].alarms[0].reason == (
        "The last 2 measurements were at least 33.3 points below the best, 33.3, and the last one "
        "gained less than 5."
    )


def test_a_step_of_five_is_not_small_whatever_floats_say() -> None:
    assert 8.2 - 3.2 < 5
    assert raised([8.2, 8.2, 3.2, 3.2, 3.2]) == {}
    assert raised([8.2, 8.2, 3.21, 3.21, 3.21]) == {4: ("STUCK",), 5: ("STUCK",)}


def test_creeping_is_no_rise_and_a_quarter_of_the_own_pace_is() -> None:
    # The pace is 50 points per iteration at first: a rise by 5 counts, by 4.9 it does not.
    assert raised([50, 51, 52, 53], max_iterations=30) == {4: ("STUCK",)}
    assert raised([50, 52, 54, 55], max_iterations=30) == {}
    assert raised([10, 12, 12, 13], max_iterations=30) == {}
    assert raised([10, 10.2, 10.3, 10.4], max_iterations=30) == {4: ("STUCK",)}


def test_near_the_end_a_quarter_of_what_is_left_is_progress() -> None:
    assert raised([90, 91, 92, 92.5], max_iterations=30) == {}
    assert raised([90, 91, 92, 92.4], max_iterations=30) == {4: ("STUCK",)}


def test_stuck_by_large_moves_that_lead_nowhere() -> None:
    progress: list[float] = [60, 52, 58, 52, 58, 52, 58, 52, 58]
    found = raised(progress, tests=30, max_iterations=24)
    assert found == {7: ("STUCK",), 8: ("STUCK",), 9: ("STUCK",)}


def test_oscillation_needs_moves_larger_than_two_tests() -> None:
    swings: list[float] = [40, 50, 40, 50, 40]
    assert 5 in raised(swings)
    assert 5 in raised(swings, tests=20)
    assert raised(swings, tests=19) == {}


def test_oscillation_that_climbs_is_no_oscillation() -> None:
    assert raised([40, 60, 50, 70, 60, 80], max_iterations=30) == {}


def test_oscillation_sees_through_small_steps_and_forgets_after_six() -> None:
    assert 6 in raised([40, 60, 61, 40, 60, 40], max_iterations=30)
    calm: list[float] = [40, 60, 40, 60, 40, 41, 42, 43]
    found = raised(calm, max_iterations=80)
    assert "OSCILLATING" in found[6]
    # The swings are among the last six steps still, but neither of the last two is one.
    assert "OSCILLATING" not in found.get(7, ())


def test_a_noisy_run_swings_only_beyond_its_noise() -> None:
    # Falls of 3 points are usual here: 12 are a swing, 10 are not.
    usual: list[float] = [*[20, 17] * 5, 20, 20, 20, 20]
    loud: list[float] = [*usual, 30, 20, 30, 20]
    assert not any("OSCILLATING" in names for names in raised(loud, max_iterations=40).values())
    louder: list[float] = [*usual, 32, 20, 32, 20]
    assert "OSCILLATING" in raised(louder, max_iterations=40)[18]


def test_a_glitch_of_one_reading_is_nothing() -> None:
    assert raised([40, 44, 48, 8, 55, 58, 60, 62], max_iterations=50) == {}


def test_regressing_by_two_losses_of_five_together() -> None:
    assert raised([70, 68, 65], max_iterations=30) == {3: ("REGRESSING",)}
    assert raised([70, 68, 65.1], max_iterations=30) == {}
    assert raised([70, 70, 60], max_iterations=30) == {}
    assert "REGRESSING" in raised([70, 68, 66, 65], max_iterations=30)[4]
    assert raised([70, 67, 64], max_iterations=200) == {}
    assert raised([70, 65, 60], max_iterations=200) == {3: ("REGRESSING",)}


def test_regressing_by_two_readings_deep_below_the_best() -> None:
    assert raised([80, 65, 69], max_iterations=30) == {}
    assert raised([80, 60, 64], max_iterations=30) == {3: ("REGRESSING",)}
    assert raised([80, 65, 65], max_iterations=30) == {3: ("REGRESSING",)}
    assert raised([80, 65.1, 65.1], max_iterations=30) == {}
    assert raised([80, 60, 65], max_iterations=30) == {}
    assert raised([80, 60, 64], tests=10, max_iterations=30) == {}


def test_the_budget_is_compared_in_whole_iterations() -> None:
    for most in (1, 3, 10, 11, 19, 20, 30, 70, 200):
        first = next(k for k in range(1, most + 1) if 10 * k >= 9 * most)
        rows = simulate([50.0] * most, max_iterations=most)
        assert (
            next(row.iteration for row in rows if row.alarms[-1:] == ("BUDGET_EXCEEDED",)) == first
        )


def test_cost_uses_the_budget_too() -> None:
    found = follow([Sample(1, 10)], Budget(50, spent=2.7 / 3))[0]
    assert names(found) == ["BUDGET_EXCEEDED"]
    assert found.alarms[0].severity == "emergency"
    assert "90 %" in found.alarms[0].reason


def test_no_alarm_at_100() -> None:
    assert simulate([0] * 9 + [100])[-1].alarms == ()


def test_alarms_are_raised_once_and_cleared_when_their_condition_ends() -> None:
    found = follow([Sample(k, value) for k, value in enumerate([50, 50, 50, 50, 50, 70, 70], 1)])
    assert [[alarm.alarm for alarm in one.raised] for one in found] == [
        [], [], [], ["STUCK"], [], [], [],
    ]  # fmt: skip
    assert [[alarm.alarm for alarm in one.cleared] for one in found] == [
        [], [], [], [], [], ["STUCK"], [],
    ]  # fmt: skip
    event = found[3].raised[0]
    assert event.iteration == 4
    assert event.interventions == ["pivot_strategy", "simplify_scope"]
    assert event.reason == (
        "No new best for 3 iterations; the longest gap between gains so far was 1."
    )


def test_a_rise_that_was_too_small_is_not_said_to_be_none() -> None:
    found = follow([Sample(k, value) for k, value in enumerate([50, 51, 51, 51], 1)])
    assert found[-1].raised[0].reason == (
        "Hardly any rise (1 point) for 3 iterations; the longest gap between gains so far was 1."
    )


def test_adding_tests_first_is_not_regressing() -> None:
    plain = [Sample(1, 60), Sample(2, 40), Sample(3, 30)]
    assert names(follow(plain)[-1]) == ["REGRESSING"]
    grown = [Sample(1, 60), Sample(2, 40, grew=True), Sample(3, 30, grew=True), Sample(4, 31)]
    assert not any("REGRESSING" in names(one) for one in follow(grown))
    lost = [*grown, Sample(5, 15), Sample(6, 15)]
    assert names(follow(lost)[-1]) == ["REGRESSING"]


def test_a_rollback_counts_for_nothing() -> None:
    samples = [
        Sample(1, 40),
        Sample(2, 60),
        Sample(3, 40),
        Sample(4, 60, rolled_back=True),
        Sample(5, 40),
    ]
    assert "OSCILLATING" not in names(follow(samples)[-1])


def test_a_grown_total_moves_the_best_along() -> None:
    readings = (40, 45, 50, 25, 27.5, 30, 32.5, 35, 37.5)
    samples = [Sample(k, reading, grew=k == 4) for k, reading in enumerate(readings, 1)]
    found = follow(samples, Budget(30), baseline=35)
    assert all(names(one) == [] for one in found)
    history = History(35)
    for sample in samples[:4]:
        history.add(sample)
    assert (history.best, history.reading, history.taken) == (25, 25, 25)
    assert history.pace == pytest.approx(15 / 4)


def test_a_pace_speaks_of_what_stands_not_of_what_was_undone() -> None:
    readings = [Sample(1, 20), Sample(2, 40), Sample(3, 30), Sample(4, 25)]
    back = [*readings, Sample(5, 45, rolled_back=True, undone=2), Sample(6, 55)]
    signal = follow(back, Budget(30))[-1].signal
    assert signal.velocity == pytest.approx((20 + 0 + 0 + 5 + 10) / 5 / 100)
    assert signal.forecast == pytest.approx(0.45 / (55 / 6 / 100))
    kept = follow([*readings, Sample(5, 45, rolled_back=True)], Budget(30))[-1].signal
    assert kept.velocity == pytest.approx((20 + 20 - 10 - 5) / 5 / 100)


def test_the_fall_by_a_restore_is_no_slowness() -> None:
    """Six tests, one more each time; after the second, the files of the first are restored."""
    sixth = 100 / 6
    gained = [Sample(1, sixth), Sample(2, 2 * sixth)]
    back = Sample(3, 2 * sixth, rolled_back=True, undone=1)
    on = [Sample(4, 3 * sixth), Sample(5, 4 * sixth), Sample(6, 5 * sixth)]
    signals = [one.signal for one in follow([*gained, back, *on], Budget(9))]
    assert [signal.forecast for signal in signals] == pytest.approx([5, 4, 4, 3, 2, 1])
    assert [signal.velocity for signal in signals] == pytest.approx([sixth / 100] * 6)
    assert all(signal.fits for signal in signals)
    # One that gains nothing on the restored files is slow, and not for the fall.
    idle = follow([*gained, Sample(3, sixth, rolled_back=True, undone=1)], Budget(9))[-1].signal
    assert idle.forecast == pytest.approx(10)


def test_an_estimate_raises_no_alarm_above_a_warning() -> None:
    found = follow([Sample(k, value, estimated=True) for k, value in enumerate([70, 60, 50], 1)])
    assert [(one.alarm, one.severity) for one in found[-1].alarms] == [("REGRESSING", "warning")]


def test_another_source_starts_the_windows_anew() -> None:
    samples = [Sample(k, 50) for k in range(1, 5)]
    assert names(follow(samples)[-1]) == ["STUCK"]
    switched = [*samples, Sample(5, 20, restarted=True), Sample(6, 20), Sample(7, 20)]
    assert names(follow(switched)[-1]) == []
    assert names(follow([*switched, Sample(8, 20)])[-1]) == ["STUCK"]


def test_a_larger_budget_lends_patience_in_mid_run() -> None:
    history = History()
    for k in range(1, 5):
        history.add(Sample(k, 50))
    assert names(evaluate_reading(history, Budget(10))) == ["STUCK"]
    assert names(evaluate_reading(history, Budget(200))) == []
