"""Rules for every run that the overseer watches."""

from dataclasses import replace
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.analysis.lab import simulate
from ralph_tui.layers.control.alarms import PROGRESS_ALARMS
from ralph_tui.layers.control.evaluation import Evaluation, evaluate
from ralph_tui.layers.control.history import History, Sample
from ralph_tui.layers.control.law import Budget, Patience
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.oversight import LEVELS, Evidence, Finding, Level, Oversight, assess
from ralph_tui.layers.oversight.episodes import Episode
from ralph_tui.layers.settings import ControlSettings
from tests.examples import FEWER

READINGS = st.one_of(
    st.integers(0, 100).map(float), st.sampled_from([40.0, 40.0, 41.0, 45.0, 60.0, 62.5])
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
        self.taken = history.taken
        self.waits = history.since_new, history.since_rise
        self.patience = Patience.of(history, budget, ControlSettings())
        self.complete = history.complete
        self.baseline = history.baseline
        self.budget = budget
        self.evaluation = evaluation
        self.finding: Finding = assess(before, history, evaluation, budget)

    @property
    def progress_up(self) -> set[str]:
        return {
            found.alarm for found in self.evaluation.conditions if found.alarm in PROGRESS_ALARMS
        }

    def reached(self, level: Level) -> bool:
        acts = self.finding.level
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
        state = seen[-1].finding.state
        if seen[-1].finding.opened:
            state = state.answered(approved=approved)
    return seen


RUNS = st.builds(
    run_of, SAMPLES, st.integers(1, 60), st.one_of(st.none(), st.integers(0, 300)), CHANGES
)


@given(RUNS)
def test_never_two_open_episodes_and_each_opens_with_its_redirect(run: list[Seen]) -> None:
    for one in run:
        finding = one.finding
        if finding.opened:
            assert finding.level == "REDIRECT"
            assert one.before.episode is None or finding.ended is not None
            assert finding.state.episode == finding.opened
        if finding.level == "REDIRECT":
            assert finding.opened
        if one.before.episode and not finding.ended:
            assert finding.state.episode
            assert finding.state.episode.opening.iteration == one.before.episode.opening.iteration


@given(RUNS)
def test_nothing_at_100_and_no_question_without_an_iteration_left(run: list[Seen]) -> None:
    for one in run:
        if one.complete:
            assert one.finding.level is None
            assert one.finding.state.episode is None
        if one.k >= one.budget.max_iterations:
            assert one.finding.level not in ("REDIRECT", "PAUSE")


@given(RUNS)
def test_a_condition_without_an_episode_redirects_at_least(run: list[Seen]) -> None:
    for one in run:
        free = one.before.episode is None or one.finding.ended is not None
        lasting = one.k < one.budget.max_iterations
        if free and lasting and one.progress_up:
            assert one.reached("REDIRECT")


@given(RUNS)
def test_an_episode_that_enters_a_pause_row_pauses(run: list[Seen]) -> None:
    for one in run:
        episode = one.before.episode
        lasting = one.k < one.budget.max_iterations
        if episode and lasting and not one.finding.ended and not one.restarted:
            due = _due(one, episode)
            assert not due or one.reached("PAUSE")
            after = one.finding.state.episode
            assert after
            assert (after.mark.iteration == one.k) is due


def _due(one: Seen, episode: Episode) -> bool:
    """The PAUSE row of an episode, word by word."""
    up, n, s = one.progress_up, one.patience.short, one.budget.stride
    last = episode.paused or episode.opening
    standing = max(2, 2 * s, n - 1)
    wait = standing if up == {"STUCK"} else max(2, s)
    if episode.paused:
        wait = max(5, n) * 2 ** (episode.pauses - 1)
    if not up or one.k < last.iteration + wait:
        return False
    mark = last.reading - one.taken
    gain = min(5 * (100 - one.baseline) / 100, (100 - mark) / 4)
    if "OSCILLATING" not in up and one.reading >= mark + gain - 1e-9:
        return False
    since_new, since_rise = one.waits
    return (
        up != {"STUCK"} or since_new >= n + standing or 2 * since_rise >= one.budget.max_iterations
    )


@given(RUNS)
def test_what_speaks_once_speaks_once(run: list[Seen]) -> None:
    spoken = [
        (situation.level, situation.reason.partition(", and")[2])
        for one in run
        for situation in one.finding.situations
        if situation.about == "budget"
    ]
    assert len(spoken) == len(set(spoken)) <= 3


@given(RUNS)
def test_damped_gains_belong_to_an_open_approved_oscillation_alone(run: list[Seen]) -> None:
    for one in run:
        episode = one.before.episode
        expected = (
            episode is not None
            and episode.about == "oscillating"
            and episode.approved is True
            and not one.finding.ended
        )
        if not one.restarted:
            assert (one.evaluation.signal.profile == "damped") is expected


@FEWER
@given(READINGS, st.integers(0, 1000))
def test_a_flat_night_of_200_iterations_asks_at_most_7_times(level: float, tests: int) -> None:
    rows = simulate([level] * 200, max_iterations=200, tests=tests)
    assert sum(row.intervention in ("REDIRECT", "PAUSE") for row in rows) <= 7


# -- with evidence ---------------------------------------------------------------------------------

OBJECTIVE = "Implement user login with JWT tokens"
EVIDENCE = st.builds(
    Evidence,
    objective=st.sampled_from([OBJECTIVE, OBJECTIVE, "Mach alles gut", ""]),
    changed=st.sampled_from([("docs/palette.md",), ("docs/palette.md",), ("src/login.py",), ()]),
    actions=st.integers(0, 1500),
    error=st.sampled_from(["", "", "exit 1", "no such model"]),
    conflicts=st.sampled_from([(), (), ("a.py",), ("a.py", "b.py")]),
)


class AlarmUpdate(NamedTuple):
    """One iteration: its input, the state before it and the result."""

    k: int
    most: int
    completion: float
    estimated: bool
    evidence: Evidence
    before: Oversight
    finding: Finding

    def reached(self, level: Level) -> bool:
        acts = self.finding.level
        return acts is not None and LEVELS.index(acts) >= LEVELS.index(level)


@st.composite
def watched_runs(draw: st.DrawFn) -> list[AlarmUpdate]:
    most, tests = draw(st.integers(1, 60)), draw(st.one_of(st.none(), st.integers(0, 300)))
    inputs = draw(
        st.lists(st.tuples(READINGS, EVIDENCE, st.booleans(), st.integers(1, 4)), max_size=20)
    )
    estimated = draw(st.booleans())
    governor, run = Governor(), list[AlarmUpdate]()
    for completion, evidence, approved, times in inputs:
        for _ in range(times):
            k, before = len(run) + 1, governor.memory
            sample = Sample(k, completion, estimated=estimated)
            finding = governor.take(sample, Budget(most, tests), evidence).finding
            assert finding
            if finding.opened:
                governor.answered(approved=approved)
            run.append(AlarmUpdate(k, most, completion, estimated, evidence, before, finding))
    return run


@given(watched_runs())
def test_every_row_about_evidence_is_reached_when_it_is_entered(run: list[AlarmUpdate]) -> None:
    asked_about_burn = 0
    for one in run:
        shows = {found.name for found in one.finding.detections}
        lasting, before = one.k < one.most, one.before.trail
        if one.completion == 100:
            assert (one.finding.level, shows) == (None, set())
            continue
        if "objective_deviation" in shows:
            assert one.reached("WARN")
            free = one.before.episode is None or one.finding.ended is not None
            if before.deviations >= 2 and free and lasting and not one.estimated:
                assert one.reached("REDIRECT")
        if "resource_burn" in shows and lasting and "resource_burn" not in one.before.spent:
            assert one.reached("PAUSE")
        asked_about_burn += any(found.about == "resource_burn" for found in one.finding.situations)
        if one.evidence.conflicts and not before.conflicted and lasting:
            assert one.reached("PAUSE")
        if one.finding.state.trail.errors >= 3:
            assert one.finding.level == "ABORT"
    assert asked_about_burn <= 1


@given(watched_runs())
def test_with_evidence_too_episodes_are_one_at_a_time_and_the_limit_is_quiet(
    run: list[AlarmUpdate],
) -> None:
    for one in run:
        if one.k >= one.most or one.completion == 100:
            assert one.finding.level not in ("REDIRECT", "PAUSE")
        if one.estimated:
            assert one.finding.opened is None
        if one.finding.opened:
            assert one.finding.level == "REDIRECT"
            assert one.before.episode is None or one.finding.ended is not None
        assert (one.finding.level == "REDIRECT") is (one.finding.opened is not None)
        order = [LEVELS.index(found.level) for found in one.finding.situations]
        assert order == sorted(order, reverse=True)
        for found in one.finding.situations:
            assert found.reason.endswith(".") or found.about == "agent_error"


@FEWER
@given(READINGS, st.integers(0, 1000), EVIDENCE)
def test_a_flat_night_with_the_same_evidence_asks_once_more_about_each(
    level: float, tests: int, evidence: Evidence
) -> None:
    governor, asked = Governor(), 0
    for k in range(1, 201):
        sample = Sample(k, level)
        finding = governor.take(sample, Budget(200, tests), replace(evidence, error="")).finding
        assert finding
        if finding.opened:
            governor.answered(approved=True)
        asked += finding.level in ("REDIRECT", "PAUSE")
    assert asked <= 7 + 2  # its conflicts, its tool calls
