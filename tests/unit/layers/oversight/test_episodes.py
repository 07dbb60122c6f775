"""Episodes and the situation table: when the overseer warns, redirects, asks and aborts."""

from ralph_tui.analysis.lab import simulate
from ralph_tui.layers.control.evaluation import Evaluation, evaluate
from ralph_tui.layers.control.history import History, Sample
from ralph_tui.layers.control.law import Budget
from ralph_tui.layers.oversight import (
    Finding,
    Level,
    Oversight,
    OversightSettings,
    Situation,
    assess,
)
from ralph_tui.layers.settings import ControlSettings


def levels(progress: list[float], **options: object) -> dict[int, Level]:
    rows = simulate(progress, **options)  # type: ignore[arg-type]
    return {row.iteration: row.intervention for row in rows if row.intervention}


def asked(progress: list[float], **options: object) -> dict[int, Level]:
    """Only the levels that reach a human or end the run."""
    spoken = ("REDIRECT", "PAUSE", "ABORT")
    return {k: level for k, level in levels(progress, **options).items() if level in spoken}


class Run:
    """A run judged measurement by measurement, with a budget that may change."""

    def __init__(self, budget: Budget, settings: ControlSettings | None = None) -> None:
        self.budget = budget
        self.settings = settings or ControlSettings()
        self.history = History()
        self.state = Oversight()
        self.evaluation: Evaluation | None = None

    def take(self, completion: float, **marks: bool) -> Finding:
        self.history.add(Sample(self.history.iteration + 1, completion, **marks))
        self.evaluation = evaluate(
            self.history,
            self.budget,
            self.settings,
            previous=self.evaluation,
            damped=self.state.damps(self.history),
        )
        finding = assess(self.state, self.history, self.evaluation, self.budget, self.settings)
        self.state = finding.state
        return finding

    def take_all(self, *completions: float) -> list[Finding]:
        return [self.take(completion) for completion in completions]

    @property
    def profile(self) -> str:
        assert self.evaluation
        return self.evaluation.signal.profile


def test_worked_examples() -> None:
    assert levels([*range(10, 101, 10)]) == {7: "WARN", 9: "WARN"}
    assert levels([30, 30, 31, 30, 31, 30]) == {4: "REDIRECT", 6: "PAUSE"}
    assert asked([40, 60, 40, 60, 40]) == {5: "REDIRECT"}
    assert asked([70, 60, 50]) == {3: "REDIRECT"}
    assert asked([*range(2, 101, 2)], max_iterations=50) == {}
    assert asked([80, 80, 20, 20], max_iterations=20) == {4: "REDIRECT"}


def test_nothing_at_100_and_nothing_asked_at_the_limit() -> None:
    assert levels([0, 0, 0, 100], max_iterations=4) == {3: "REDIRECT"}
    assert levels([60, 60, 60, 60], max_iterations=4) == {3: "WARN"}
    assert levels([0, 0, 0, 0], max_iterations=4) == {3: "REDIRECT", 4: "ABORT"}
    assert simulate([60, 60, 60, 60], max_iterations=4)[-1].detections == ("stuck", "budget")


def test_without_a_gain_the_limit_aborts() -> None:
    assert levels([4, 4.9], max_iterations=2)[2] == "ABORT"
    assert levels([4, 5], max_iterations=2).get(2) != "ABORT"
    assert levels([80, 80.9], baseline=80, max_iterations=2)[2] == "ABORT"
    assert levels([80, 81], baseline=80, max_iterations=2).get(2) != "ABORT"


def test_a_pace_below_half_of_the_mean_is_logged() -> None:
    progress: list[float] = [10, 20, 30, 40, 50, 55, 57, 61, 62, 67, 68]
    rows = simulate(progress, max_iterations=50)
    slow = [
        row.iteration
        for row in rows
        if row.iteration >= 3 and row.velocity < row.completion / row.iteration / 2 - 1e-9
    ]
    assert slow
    assert [row.iteration for row in rows if row.intervention == "LOG"] == slow
    assert levels([30, 0], max_iterations=50) == {}


def test_the_budget_warns_once_at_70_and_once_at_90_percent() -> None:
    assert levels([*range(5, 100, 5)], max_iterations=20) == {14: "WARN", 18: "WARN"}


def test_a_forecast_that_does_not_fit_pauses_once_before_the_limit() -> None:
    slow = [float(4 * k) for k in range(1, 21)]
    assert levels(slow, max_iterations=20) == {14: "WARN", 18: "PAUSE"}


def test_an_outranked_once_is_spent() -> None:
    # 70 % falls on the iteration of the REDIRECT, 90 % on one that pauses for another reason.
    assert levels([20, 40, 60, 60, 60, 60], max_iterations=8)[6] == "REDIRECT"
    assert levels([20, 40, 60, 60, 60, 60, 70], max_iterations=8).get(7) is None


def test_a_redirect_outranked_by_the_budget_comes_one_iteration_later() -> None:
    run = Run(Budget(90))
    run.take_all(2, 2, 2)
    run.budget = Budget(90, spent=0.95)
    finding = run.take(2)
    assert [one.level for one in finding.situations] == ["PAUSE", "REDIRECT", "WARN"]
    assert (finding.opened, finding.state.episode) == (None, None)
    finding = run.take(2)
    assert [one.level for one in finding.situations] == ["REDIRECT"]
    assert finding.opened


def test_a_stuck_episode_asks_ever_more_rarely() -> None:
    assert asked([30.0] * 20, max_iterations=20) == {
        4: "REDIRECT", 6: "PAUSE", 11: "PAUSE", 18: "PAUSE",
    }  # fmt: skip
    assert asked([30.0] * 49, max_iterations=50) == {
        4: "REDIRECT", 8: "PAUSE", 13: "PAUSE", 23: "PAUSE", 43: "PAUSE", 45: "PAUSE",
    }  # fmt: skip
    assert asked([30.0] * 179, max_iterations=200) == {
        8: "REDIRECT", 22: "PAUSE", 29: "PAUSE", 43: "PAUSE", 71: "PAUSE", 127: "PAUSE",
    }  # fmt: skip


def test_patience_stretches_the_episode_too() -> None:
    doubled = ControlSettings(patience=2)
    assert asked([50.0] * 24, max_iterations=30, control=doubled) == {
        7: "REDIRECT", 12: "PAUSE", 18: "PAUSE",
    }  # fmt: skip


def test_new_things_without_a_rise_ask_after_half_of_the_budget_and_go_on() -> None:
    run = Run(Budget(20))
    found = [run.take(0, novel=True) for _ in range(12)]
    assert [(k, one.level) for k, one in enumerate(found, 1) if one.level] == [
        (9, "REDIRECT"), (11, "PAUSE"),
    ]  # fmt: skip
    pause = found[10].situations[0]
    assert pause.continues
    assert pause.reason == (
        "New tests pass, but completion has not risen for half of the budget. The run "
        "continues if you do not answer."
    )


def test_a_pause_tells_how_long_the_redirect_has_brought_nothing() -> None:
    found = reply(approved=True)
    assert (found.level, found.continues) == ("PAUSE", False)
    assert found.reason == "Still nothing new 2 iterations after the redirect."


def test_a_pause_speaks_of_no_redirect_that_was_not_made() -> None:
    assert reply(approved=False).reason == "Still nothing new 2 iterations after the intervention."
    unmade = Run(Budget(20)).take_all(*[30.0] * 6)[-1].situations[0]
    assert unmade.reason == "Still nothing new 2 iterations after the first warning."


def reply(*, approved: bool) -> Situation:
    """The PAUSE of a stuck run whose redirect was answered like this."""
    run = Run(Budget(20))
    run.take_all(*[30.0] * 4)
    run.state = run.state.answered(approved=approved)
    return run.take_all(30.0, 30.0)[-1].situations[0]


def test_a_grown_total_moves_the_marks_of_an_episode_along() -> None:
    run = Run(Budget(40))
    run.take_all(50, 50, 50, 50)
    run.take(25, grew=True)
    assert run.state.episode
    assert (run.state.episode.opening.best, run.state.episode.opening.reading) == (25, 25)
    assert run.take(29.9).ended is None
    assert run.take(30).ended


def test_an_episode_ends_with_a_gain_and_another_may_open_in_the_same_iteration() -> None:
    run = Run(Budget(40))
    run.take_all(50, 50, 50, 50)
    assert run.state.episode
    finding = run.take(54.9)
    assert finding.ended is None
    finding = run.take(55)
    assert finding.ended
    assert finding.ended.about == "stuck"
    assert run.state.episode is None


def test_an_end_and_an_opening_in_one_iteration() -> None:
    finding = Run(Budget(40)).take_all(50, 50, 50, 50, 54, 40, 54, 40, 55)[-1]
    assert finding.ended
    assert finding.opened
    assert (finding.ended.about, finding.opened.about) == ("stuck", "oscillating")
    assert finding.level == "REDIRECT"


def test_recovery_of_the_last_reading_alone_withholds_the_pause() -> None:
    progress: list[float] = [80, 70, 60, 66, 72, 78]
    assert asked(progress, max_iterations=30) == {3: "REDIRECT"}
    assert asked([80, 70, 60, 60, 62], max_iterations=30) == {3: "REDIRECT", 5: "PAUSE"}


def test_in_an_episode_nothing_is_asked_while_no_condition_is_up() -> None:
    # A rise that is no gain ends the wait, not the episode.
    run = Run(Budget(60))
    run.take_all(40, 40, 40, 40)
    assert run.state.episode
    found = run.take_all(44.9, 44.9, 44.9)
    assert [one.level for one in found if one.level not in (None, "LOG")] == []
    assert run.state.episode


def test_regressing_within_a_stuck_episode_asks_by_its_own_clock() -> None:
    early = Run(Budget(30)).take_all(50, 50, 50, 50, 47, 45)
    assert [one.level for one in early[3:]] == ["REDIRECT", None, "PAUSE"]
    reason = early[-1].situations[0].reason
    assert reason.startswith("2 falls in a row cost 5 points. That is 2 iterations after the ")


def test_the_most_telling_condition_opens_and_the_others_are_evidence() -> None:
    finding = Run(Budget(30)).take_all(50, 49, 47, 44)[-1]
    assert finding.opened
    assert finding.opened.about == "regressing"
    assert {found.name for found in finding.detections} == {"stuck", "regressing"}
    assert finding.situations[0].reason == "3 falls in a row cost 6 points."


def test_gains_are_damped_from_the_next_reading_until_the_episode_ends() -> None:
    run = Run(Budget(30))
    run.take_all(40, 60, 40, 60, 40)
    assert run.profile != "damped"
    run.state = run.state.answered(approved=True)
    run.take(50)
    assert run.profile == "damped"
    run.take(64.9)
    assert run.profile == "damped"
    run.take(65)
    assert run.profile != "damped"


def test_a_declined_or_unanswered_redirect_damps_nothing_but_its_episode_stands() -> None:
    for answer in (False, None):
        run = Run(Budget(30))
        run.take_all(40, 60, 40, 60, 40)
        if answer is not None:
            run.state = run.state.answered(approved=answer)
        assert run.take(50).opened is None
        assert run.state.episode
        assert run.profile != "damped"


def test_a_budget_pause_does_not_move_the_mark() -> None:
    run = Run(Budget(50))
    run.take_all(2, 2, 2, 2, 2, 2)
    assert run.state.episode
    run.budget = Budget(50, spent=0.9)
    assert run.take(2).situations[0].about == "budget"
    assert run.state.episode.paused is None
    assert run.take(2).level == "PAUSE"
    assert run.state.episode.paused


def test_the_budget_may_grow_in_mid_run() -> None:
    run = Run(Budget(5))
    run.take_all(20, 40, 60, 60)
    run.budget = Budget(10)
    assert [one.about for one in run.take(60).situations if one.level == "ABORT"] == []
    run.budget = Budget(6)
    assert run.take(60).level != "REDIRECT"


def test_a_limit_lowered_below_the_present_asks_nothing_more() -> None:
    run = Run(Budget(20))
    run.take_all(50, 50, 50)
    run.budget = Budget(3)
    assert run.take(50).level not in ("REDIRECT", "PAUSE", "ABORT")


def test_another_source_rebases_an_open_episode() -> None:
    run = Run(Budget(40))
    run.take_all(80, 80, 80, 80)
    assert run.take(20, restarted=True).ended is None
    assert run.take(23.9).ended is None
    assert run.take(24).ended


def test_a_run_that_gained_before_its_source_changed_is_not_given_up() -> None:
    run = Run(Budget(4))
    run.take_all(30, 60)
    run.take(10, restarted=True)
    assert run.take(10).level != "ABORT"


def test_an_estimate_warns_and_asks_nothing_about_progress() -> None:
    run = Run(Budget(40))
    verdicts = [run.take(50, estimated=True) for _ in range(8)]
    assert [finding.level for finding in verdicts[3:]] == ["WARN"] * 5
    assert run.state.episode is None


def test_nobody_watches_when_oversight_is_off() -> None:
    rows = simulate([30.0] * 10, oversight=OversightSettings(enabled=False))
    assert all(row.intervention is None and row.detections == () for row in rows)
    assert rows[-1].alarms == ("STUCK", "BUDGET_EXCEEDED")


def test_two_hundred_flat_iterations_ask_at_most_42_times() -> None:
    for tests in (None, 1, 10, 1000):
        found = asked([0.0] * 200, max_iterations=200, tests=tests)
        assert len(found) <= 42
        assert len(found) >= 5
