"""What holds for every run the overseer watches."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.control import (
    PROGRESS_ALARMS,
    Budget,
    ControlSettings,
    Evaluation,
    History,
    Patience,
    Sample,
    evaluate,
)
from ralph_tui.lab import simulate
from ralph_tui.oversight import LEVELS, Level, Oversight, Verdict, judge
from ralph_tui.oversight.episodes import Episode

READINGS = st.one_of(
    st.integers(0, 100).map(float),
    st.sampled_from([40.0, 40.0, 41.0, 45.0, 60.0, 62.5]),
)
SAMPLES = st.lists(
    st.tuples(
        READINGS,
        st.sampled_from(["plain"] * 12 + ["grew", "rolled_back", "restarted"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=45,
)
CHANGES = st.dictionaries(st.integers(1, 45), st.integers(1, 60), max_size=3)


class Seen:
    """One reading of a run: what was before, and what was made of it."""

    def __init__(
        self, before: Oversight, history: History, budget: Budget, evaluation: Evaluation
    ) -> None:
        self.before = before
        self.k = history.iteration
        self.reading, self.best = history.reading, history.best
        self.restarted = history.restarted
        self.complete = history.complete
        self.baseline = history.baseline
        self.budget = budget
        self.evaluation = evaluation
        self.verdict: Verdict = judge(before, history, evaluation, budget)

    @property
    def progress_up(self) -> set[str]:
        return {
            found.alarm for found in self.evaluation.conditions if found.alarm in PROGRESS_ALARMS
        }

    def reached(self, level: Level) -> bool:
        acts = self.verdict.level
        return acts is not None and LEVELS.index(acts) >= LEVELS.index(level)


def run_of(
    samples: list[tuple[float, str, bool]], most: int, tests: int | None, changes: dict[int, int]
) -> list[Seen]:
    history, state, budget = History(), Oversight(), Budget(most, tests)
    evaluation: Evaluation | None = None
    seen: list[Seen] = []
    for k, (completion, mark, approved) in enumerate(samples, start=1):
        marks: dict[str, Any] = {} if mark == "plain" else {mark: True}
        budget = Budget(changes.get(k, budget.max_iterations), tests)
        history.add(Sample(k, completion, **marks))
        evaluation = evaluate(history, budget, previous=evaluation, damped=state.damps(history))
        seen.append(Seen(state, history, budget, evaluation))
        state = seen[-1].verdict.state
        if seen[-1].verdict.opened:
            state = state.answered(approved=approved)
    return seen


RUNS = st.builds(
    run_of, SAMPLES, st.integers(1, 60), st.one_of(st.none(), st.integers(0, 300)), CHANGES
)


@given(RUNS)
def test_never_two_open_episodes_and_each_opens_with_its_redirect(run: list[Seen]) -> None:
    for one in run:
        verdict = one.verdict
        if verdict.opened:
            assert verdict.level == "REDIRECT"
            assert one.before.episode is None or verdict.ended is not None
            assert verdict.state.episode == verdict.opened
        if verdict.level == "REDIRECT":
            assert verdict.opened
        if one.before.episode and not verdict.ended:
            assert verdict.state.episode
            assert verdict.state.episode.opening.iteration == one.before.episode.opening.iteration


@given(RUNS)
def test_nothing_at_100_and_no_question_without_an_iteration_left(run: list[Seen]) -> None:
    for one in run:
        if one.complete:
            assert one.verdict.level is None
            assert one.verdict.state.episode is None
        if one.k >= one.budget.max_iterations:
            assert one.verdict.level not in ("REDIRECT", "PAUSE")


@given(RUNS)
def test_a_condition_without_an_episode_redirects_at_least(run: list[Seen]) -> None:
    for one in run:
        free = one.before.episode is None or one.verdict.ended is not None
        lasting = one.k < one.budget.max_iterations
        if free and lasting and one.progress_up:
            assert one.reached("REDIRECT")


@given(RUNS)
def test_an_episode_that_enters_a_pause_row_pauses(run: list[Seen]) -> None:
    for one in run:
        episode = one.before.episode
        lasting = one.k < one.budget.max_iterations
        if episode and lasting and not one.verdict.ended and not one.restarted:
            due = _due(one, episode)
            assert not due or one.reached("PAUSE")
            after = one.verdict.state.episode
            assert after
            assert (after.mark.iteration == one.k) is due


def _due(one: Seen, episode: Episode) -> bool:
    """The PAUSE row of an episode, word by word."""
    patience = Patience.of(one.budget, ControlSettings())
    n, long = patience.short, patience.long
    opened, mark = episode.opening.iteration, episode.mark

    def gain(level: float) -> float:
        return min(5 * (100 - one.baseline) / 100, (100 - level) / 4)

    if mark.iteration != opened and one.k < mark.iteration + max(5, n):
        return False
    wait = max(2, n - 1) if episode.kind == "STUCK" else 2
    held = abs(one.best - mark.best) <= 1e-9
    low = one.reading < mark.reading + gain(mark.reading) - 1e-9
    if one.k >= opened + wait and held and low:
        return True
    if one.k >= mark.iteration + 2 * long and one.best - mark.best < gain(mark.best) - 1e-9:
        return True
    return one.k >= opened + 2 and bool(one.progress_up - mark.conditions)


@given(RUNS)
def test_what_speaks_once_speaks_once(run: list[Seen]) -> None:
    spoken = [
        (situation.level, situation.reason.partition(", and")[2])
        for one in run
        for situation in one.verdict.situations
        if situation.about == "budget"
    ]
    assert len(spoken) == len(set(spoken)) <= 3


@given(RUNS)
def test_damped_gains_belong_to_an_open_approved_oscillation_alone(run: list[Seen]) -> None:
    for one in run:
        episode = one.before.episode
        expected = (
            episode is not None
            and episode.kind == "OSCILLATING"
            and episode.approved is True
            and not one.verdict.ended
        )
        if not one.restarted:
            assert (one.evaluation.signal.profile == "damped") is expected


@given(READINGS, st.integers(0, 1000))
def test_a_flat_night_of_200_iterations_asks_at_most_42_times(level: float, tests: int) -> None:
    rows = simulate([level] * 200, max_iterations=200, tests=tests)
    assert sum(row.intervention in ("REDIRECT", "PAUSE") for row in rows) <= 42
