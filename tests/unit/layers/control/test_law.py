"""The control law: worked examples to the printed digit, and each rule at its limit."""

from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ralph_tui.analysis.lab import simulate
from ralph_tui.events.control import Band, Profile
from ralph_tui.layers.control.advice import advice, band_words, profile_words, urgency_of
from ralph_tui.layers.control.evaluation import Evaluation, evaluate
from ralph_tui.layers.control.history import History, Sample
from ralph_tui.layers.control.law import (
    BAND_BOUNDS,
    PROFILES,
    Budget,
    Phase,
    band_of,
    phase_of,
    volatility_class,
)
from ralph_tui.layers.settings import ControlSettings, OversightSettings
from tests.rows import each_row

STEADY = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]


def outputs(progress: Sequence[float], **options: object) -> list[float]:
    return [round(row.output, 3) for row in simulate(progress, **options)]  # type: ignore[arg-type]


def fold(
    samples: list[Sample],
    budget: Budget,
    settings: ControlSettings | None = None,
    *,
    damped: bool = False,
) -> list[Evaluation]:
    history = History()
    found: list[Evaluation] = []
    for sample in samples:
        history.add(sample)
        previous = found[-1] if found else None
        found.append(evaluate(history, budget, settings, previous=previous, damped=damped))
    return found


def series(progress: Sequence[float]) -> list[Sample]:
    return [Sample(iteration, value) for iteration, value in enumerate(progress, start=1)]


def test_a_steady_climb_gives_the_published_signal() -> None:
    assert outputs(STEADY) == [0.340, 0.305, 0.416, 0.401, 0.352, 0.293, 0.231, 0.169, 0.106, 0.043]


def test_a_stuck_loop_gives_the_published_signal() -> None:
    assert outputs([30, 30, 31, 30, 31, 30]) == [0.220, 0.280, 0.422, 0.617, 0.667, 0.692]


def test_the_accumulated_integral_reads_critical_half_way_through_a_steady_climb() -> None:
    rows = simulate(STEADY, control=ControlSettings(integral_term="accumulated"))
    assert rows[4].band == "critical"
    assert rows[4].output == pytest.approx(0.78, abs=0.015)
    assert rows[-1].output == pytest.approx(0.44, abs=0.006)


def test_metrics_of_a_reading() -> None:
    row = simulate([20, 24, 54])[-1]
    assert row.proportional == pytest.approx(0.46)
    assert row.integral == pytest.approx(0.81 * 0.8 + 0.9 * 0.76 + 0.46)
    assert row.integral_mean == pytest.approx(row.integral / 2.71)
    assert row.derivative == pytest.approx(-0.3)
    assert row.velocity == pytest.approx(0.18)
    assert row.volatility == pytest.approx((0.16 + 0.26) / 2)


def test_the_baseline_is_the_reading_before_the_first() -> None:
    row = simulate([45], baseline=40)[0]
    assert (row.derivative, row.velocity) == pytest.approx((-0.05, 0.05))
    assert simulate([44.9], baseline=40)[0].derivative == 0


def test_a_step_of_exactly_the_noise_threshold_counts_whatever_floats_say() -> None:
    assert 8.2 - 3.2 < 5
    assert simulate([3.2, 8.2])[1].derivative == pytest.approx(-0.05)
    assert simulate([8.2, 3.2])[1].derivative == pytest.approx(0.05)


def test_the_window_bounds_velocity_and_volatility() -> None:
    progress: list[float] = [50, 50, 60, 70]
    row = simulate(progress, control=ControlSettings(window_size=2))[-1]
    assert (row.velocity, row.volatility) == pytest.approx((0.1, 0))
    assert simulate(progress, control=ControlSettings(window_size=1))[-1].volatility == 0


@each_row("decay", [0.0, 1.0])
def test_the_integral_mean_stands_at_both_ends_of_decay(decay: float) -> None:
    row = simulate([20, 60], control=ControlSettings(decay=decay))[-1]
    assert row.integral_mean == pytest.approx(0.4 if decay == 0 else 0.6)


def test_issue_load_decays_and_grows_with_issues() -> None:
    history, budget = History(), Budget(10)
    history.add(Sample(1, 10))
    first = evaluate(history, budget, issues=3)
    history.add(Sample(2, 20))
    second = evaluate(history, budget, previous=first, issues=1)
    assert (first.signal.issue_load, second.signal.issue_load) == pytest.approx((3, 3.7))


@each_row(("most", "last_explored"), [(1, 2), (10, 2), (11, 3), (20, 4), (25, 5), (200, 5)])
def test_exploration_lasts_a_fifth_of_the_budget(most: int, last_explored: int) -> None:
    rows = simulate([40, 45, 50, 55, 60, 65, 70], max_iterations=most)
    explored = [row.iteration for row in rows if row.profile == "exploration"]
    assert explored == list(range(1, last_explored + 1))


def test_gains_follow_gently_and_stand_at_once_only_at_the_start() -> None:
    rows = simulate(STEADY)
    assert (rows[0].kp, rows[0].ki, rows[0].kd) == (0.3, 0.1, 0.2)
    assert rows[2].kp == pytest.approx(0.3 * 0.3 + 0.7 * 0.5)
    assert rows[3].kp == pytest.approx(0.3 * rows[2].kp + 0.7 * 0.5)
    assert simulate(STEADY, control=ControlSettings(smoothing=0))[2].kp == 0.5


def test_far_from_done_is_aggressive_only_when_the_pace_does_not_fit() -> None:
    assert simulate([2, 4, 6, 8], max_iterations=50)[-1].profile == "exploration"
    fits = simulate([2 * k for k in range(1, 12)], max_iterations=50)[-1]
    slow = simulate([*range(1, 12)], max_iterations=50)[-1]
    assert (fits.profile, slow.profile) == ("focused", "aggressive")


def test_volatility_of_exactly_the_threshold_is_not_aggressive() -> None:
    row = simulate([40, 60, 40])[-1]
    assert row.volatility == pytest.approx(0.3)
    assert row.profile == "focused"
    assert simulate([40, 60, 39])[-1].profile == "aggressive"


def test_oscillation_is_never_answered_with_aggressive_gains() -> None:
    rows = simulate([10, 60, 10, 60, 10, 60], max_iterations=10)
    assert [row.profile for row in rows[2:]] == ["aggressive", "aggressive", "focused", "damped"]


def test_a_stuck_loop_is_corrected_harder_unless_it_oscillates() -> None:
    flat = simulate([30.0] * 6, max_iterations=50)
    assert [row.profile for row in flat][:5] == [*["exploration"] * 3, "aggressive", "aggressive"]
    assert flat[4].kp > flat[2].kp
    never = ControlSettings(stuck_after=1000)
    assert {row.profile for row in simulate([30.0] * 5, max_iterations=50, control=never)} == {
        "exploration"
    }
    unwatched = OversightSettings(enabled=False)  # no redirect that damps the gains
    both = simulate([40, 60] * 8, max_iterations=50, oversight=unwatched)
    assert {"OSCILLATING", "STUCK"} <= set(both[-1].alarms)
    assert "aggressive" not in {row.profile for row in both if "OSCILLATING" in row.alarms}


@each_row("profile", ["focused", "aggressive"])
def test_the_first_gains_can_be_set(profile: Profile) -> None:
    rows = simulate([40, 45, 50, 55], control=ControlSettings(first_profile=profile))
    assert [row.profile for row in rows] == [profile, profile, "focused", "focused"]
    assert rows[0].kp == PROFILES[profile].kp


@each_row(
    ("iteration", "most", "completion", "phase"),
    [
        (1, 10, 0.0, "early"), (2, 10, 79.9, "early"), (3, 10, 40.0, "mid"), (8, 10, 40.0, "mid"),
        (9, 10, 40.0, "late"), (1, 10, 80.0, "late"), (5, 100, 0.0, "early"), (6, 100, 0.0, "mid"),
    ],
)  # fmt: skip
def test_the_phase_follows_iterations_and_completion(
    iteration: int, most: int, completion: float, phase: Phase
) -> None:
    assert phase_of(iteration, Budget(most), completion) == phase


@given(st.integers(1, 200), st.data(), st.floats(0, 100))
def test_phases_never_go_back_while_a_run_advances(
    most: int, data: st.DataObject, completion: float
) -> None:
    earlier = data.draw(st.integers(1, most))
    later = data.draw(st.integers(earlier, most))
    higher = data.draw(st.floats(completion, 100))
    order = get_args(Phase)
    before, after = (
        order.index(phase_of(earlier, Budget(most), completion)),
        order.index(phase_of(later, Budget(most), higher)),
    )
    assert before <= after


@each_row(
    ("volatility", "shown"),
    [(0.0, "low"), (0.1, "low"), (0.11, "medium"), (0.3, "medium"), (0.31, "high"), (2.0, "high")],
)
def test_volatility_is_shown_in_three_classes(volatility: float, shown: str) -> None:
    assert volatility_class(volatility) == shown


def test_fixed_gains_when_control_is_off() -> None:
    for settings in (ControlSettings(enabled=False), ControlSettings(adaptive_gains=False)):
        rows = simulate([30] * 6, control=settings)
        assert {(row.profile, row.kp, row.ki, row.kd) for row in rows} == {
            ("focused", 0.5, 0.2, 0.3)
        }
    off = simulate([30] * 6, control=ControlSettings(enabled=False))
    assert all(row.alarms == () for row in off)
    assert off[-1].detections == ("stuck",)


def test_a_damped_evaluation_takes_the_damped_profile_before_any_other() -> None:
    found = fold(series([90]), Budget(10), damped=True)
    assert (found[0].signal.profile, found[0].signal.kd) == ("damped", 0.5)


@each_row(
    ("signal", "band"),
    [
        (0.0, "near_completion"),
        (0.2999, "near_completion"),
        (0.3, "moderate"),
        (0.5, "significant"),
        (0.7, "critical"),
        (1.0, "critical"),
    ],
)
def test_bands_begin_at_their_lower_bound(signal: float, band: str) -> None:
    assert band_of(signal) == band


def test_the_bounds_of_the_bands_are_told_to_who_draws_them() -> None:
    assert list(BAND_BOUNDS.values()) == sorted(BAND_BOUNDS.values())
    for band, bound in BAND_BOUNDS.items():
        assert band_of(bound) == band
        assert band_of(bound - 1e-9) != band


def test_every_profile_has_a_name_for_people() -> None:
    words = [profile_words(profile) for profile in get_args(Profile)]
    assert len(set(words)) == len(words)
    assert (profile_words("exploration"), profile_words("focused")) == (
        "first iterations",
        "settled",
    )


def test_the_forecast_may_exceed_what_is_left_by_rounding_only() -> None:
    third = 100 / 3
    found = fold(series([third, 2 * third]), Budget(3))[-1].signal
    assert found.forecast == pytest.approx(1)
    assert found.fits
    assert not fold(series([33.3, 66.6]), Budget(3))[-1].signal.fits


def test_no_forecast_without_velocity() -> None:
    found = fold(series([40, 0]), Budget(10))[-1].signal
    assert (found.forecast, found.fits) == (None, False)


def test_a_rollback_moves_no_metric() -> None:
    samples = [Sample(1, 50), Sample(2, 20), Sample(3, 50, rolled_back=True)]
    found = fold(samples, Budget(20))[-1].signal
    assert found.derivative == 0
    assert found.velocity == pytest.approx((0.5 - 0.3) / 3)
    assert found.proportional == 0.5


def test_another_source_starts_the_windows_anew_but_not_the_gains() -> None:
    samples = [Sample(1, 10), Sample(2, 20), Sample(3, 90, restarted=True), Sample(4, 91)]
    found = fold(samples, Budget(20))
    assert (found[2].signal.derivative, found[2].signal.velocity) == (0, 0)
    assert found[3].signal.velocity == pytest.approx(0.01)
    assert found[3].signal.integral_mean == pytest.approx(
        (0.729 * 0.9 + 0.81 * 0.8 + 0.9 * 0.1 + 0.09) / 3.439
    )


@each_row(("standing", "budget"), [(25, 20), (25, 40)])
def test_a_plateau_on_a_bound_stays_in_its_band(standing: int, budget: int) -> None:
    never_stuck = ControlSettings(stuck_after=1000)
    rows = simulate([standing] * 8, baseline=standing, max_iterations=budget, control=never_stuck)
    explored = [row for row in rows if row.profile == "exploration"]
    assert len(explored) >= 4
    assert {(row.output, row.band) for row in explored} == {(0.3, "moderate")}


def test_urgency_follows_the_band_and_an_alarm_or_a_late_forecast_lifts_it() -> None:
    bands: tuple[Band, ...] = ("near_completion", "moderate", "significant", "critical")
    assert [urgency_of(band, alarm_up=False, fits=True) for band in bands] == [
        "low", "normal", "high", "critical",
    ]  # fmt: skip
    assert [urgency_of(band, alarm_up=False, fits=False) for band in bands] == [
        "normal", "normal", "high", "critical",
    ]  # fmt: skip
    assert [urgency_of(band, alarm_up=True, fits=True) for band in bands] == [
        "high", "high", "high", "critical",
    ]  # fmt: skip


@given(
    st.lists(st.integers(0, 100).map(float), min_size=1, max_size=30),
    st.integers(1, 60),
    st.sampled_from([None, 7, 12, 171]),
)
def test_a_pace_that_will_not_do_is_never_praised(
    progress: list[float], most: int, tests: int | None
) -> None:
    budget = Budget(most, tests)
    for one in fold(series(progress), budget):
        said = advice(one.signal, one.alarms, budget)
        praised = "keep the approach" in said
        troubled = any(alarm.alarm != "BUDGET_EXCEEDED" for alarm in one.alarms)
        assert praised is (one.signal.fits and not troubled)
        assert not (praised and ("behind" in said or "nother approach" in said or "djust" in said))
        assert "Trend over the last iterations: " in said


def test_where_a_redirect_stands_the_law_gives_no_advice_of_its_own() -> None:
    budget = Budget(10)
    stuck = fold(series([30] * 4), budget)[-1]
    said = advice(stuck.signal, stuck.alarms, budget, episode=True, redirected=True)
    assert "The redirect above says how to continue." in said
    assert stuck.alarms[0].work not in said, "the redirect says it in plain words"
    assert "nother approach" not in said
    good = fold(series([30, 60]), budget)[-1]
    assert "keep the approach" in advice(good.signal, good.alarms, budget)
    assert "keep the approach" not in advice(good.signal, good.alarms, budget, episode=True)


def test_the_pace_is_told_in_points_and_left_to_the_alarm_when_one_is_up() -> None:
    good, stuck = fold(series([30, 60]), Budget(10))[-1], fold(series([30] * 4), Budget(10))[-1]
    assert " Pace: +30 points per iteration. " in advice(good.signal, good.alarms, Budget(10))
    assert "Pace:" not in advice(stuck.signal, stuck.alarms, Budget(10))


def test_an_estimate_has_no_pace() -> None:
    good = fold(series([30, 60]), Budget(10))[-1]
    said = advice(good.signal, good.alarms, Budget(10), measured=False)
    assert not any(word in said for word in ("Trend", "pace", "to go"))
    assert said.endswith("8 iterations are left.")


def test_the_trend_is_one_word() -> None:
    def trends(progress: list[float], most: int) -> list[str | None]:
        return [one.signal.trend for one in fold(series(progress), Budget(most))]

    assert trends([10, 20, 30], 10) == ["improving"] * 3
    assert trends([30, 30, 30, 30, 30, 30], 10)[-1] == "flat"
    assert trends([10, 30, 30, 30, 30], 20)[3:] == ["improving", "flat"]  # STUCK at 5
    assert trends([70, 60, 50], 10)[-1] == "regressing"
    assert trends([40, 60, 40, 60, 40], 10)[-1] == "oscillating"
    assert trends([60, 40, 42, 44, 46, 48, 50], 200)[-1] == "improving"  # the forecast fits
    assert trends([50, 40, 41, 42, 43, 44, 45], 8)[-1] == "flat"


def test_bands_are_told_as_how_hard_the_loop_is_pushed() -> None:
    bands: tuple[Band, ...] = ("near_completion", "moderate", "significant", "critical")
    assert [band_words(band) for band in bands] == ["low", "moderate", "high", "critical"]


def test_a_change_of_strategy_is_advised_only_when_something_is_wrong() -> None:
    budget = Budget(10)
    steady = fold(series([10, 20, 30]), budget)[-1]
    wide = steady.signal.model_copy(update={"band": "critical"})
    unfit = wide.model_copy(update={"fits": False, "forecast": None})
    assert "nother approach" not in advice(wide, (), budget)
    assert "nother approach" in advice(unfit, (), budget)
    stuck = fold(series([30] * 4), budget)[-1]
    said = advice(stuck.signal, stuck.alarms, budget)
    assert stuck.alarms[0].work in said
    assert "try another approach" in said
    assert "Continue" not in said


@each_row(
    "wrong",
    [
        {"window_size": 0},
        {"decay": 1.1},
        {"noise_threshold": -1},
        {"smoothing": float("nan")},
        {"patience": 0},
        {"integral_term": "seed"},
        {"windowsize": 5},
    ],
)
def test_settings_refuse_what_makes_no_sense(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ControlSettings.model_validate(wrong)
