"""Rules for every strategy, whatever is measured, reported and answered."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.config.settings import Settings
from ralph_tui.events import AgentReported
from ralph_tui.layers.control.advice import advice
from ralph_tui.layers.control.history import TOLERANCE, Sample
from ralph_tui.layers.control.law import Budget
from ralph_tui.layers.governor import Evaluated, Governor
from ralph_tui.layers.intelligence.strategy import IDLE, PRIORITIES, Grounds
from ralph_tui.layers.oversight import Episode
from ralph_tui.layers.settings import IntelligenceSettings
from ralph_tui.loop.run import Layers
from tests.examples import FEWER
from tests.prompt_reading import control_words
from tests.world import FakeSession, World
from tests.world.owner import first

WORDS = st.text(max_size=12)
READINGS = st.one_of(st.integers(0, 100).map(float), st.sampled_from([30.0, 30.0, 31.0, 60.0]))
SOURCES = st.sampled_from(["report", "gate", "tool", "text"])
GROUNDS = st.builds(
    Grounds,
    standing=st.lists(st.tuples(SOURCES, WORDS), max_size=3).map(tuple),
    said=st.lists(WORDS, max_size=3).map(tuple),
    failing=st.lists(WORDS, max_size=5).map(tuple),
    item=WORDS,
    next_step=WORDS,
    proven=WORDS,
    avoid=st.one_of(st.just(""), WORDS),
)
BLOCKED = st.builds(replace, GROUNDS, standing=st.just((("report", "no network"),)))


class Seen(NamedTuple):
    """One reading, and what was before it."""

    k: int
    most: int
    grounds: Grounds
    episode: Episode | None
    found: Evaluated
    since_new: int
    start: float


@st.composite
def runs(draw: st.DrawFn, grounds: st.SearchStrategy[Grounds] = GROUNDS) -> list[Seen]:
    most, tests = draw(st.integers(1, 60)), draw(st.one_of(st.none(), st.integers(0, 300)))
    estimated = draw(st.booleans())
    start = draw(READINGS)
    governor, seen = Governor(start), list[Seen]()
    stretches = st.tuples(READINGS, grounds, st.booleans(), st.booleans(), st.integers(1, 14))
    for reading, known, approved, novel, times in draw(st.lists(stretches, max_size=6)):
        for turn in range(times):
            k, episode = len(seen) + 1, governor.memory.episode
            sample = Sample(k, reading, novel=novel and not turn, estimated=estimated)
            found = governor.take(sample, Budget(most, tests), grounds=known)
            if found.finding and found.finding.opened:
                governor.answered(approved=approved)
            seen.append(Seen(k, most, known, episode, found, governor.history.since_new, start))
    return seen


def row(one: Seen) -> tuple[str, str, float]:
    """The table, word by word."""
    up = {condition.alarm for condition in one.found.evaluation.conditions}
    signal = one.found.evaluation.signal
    alarm = bool(up & {"STUCK", "OSCILLATING", "REGRESSING"})
    if one.grounds.standing or (one.grounds.said and alarm):
        return "pivot", "blocker_resolution", 0.9
    for name, focus, confidence in (
        ("STUCK", "reframe", 0.85),
        ("OSCILLATING", "stabilize", 0.7),
        ("REGRESSING", "review", 0.75),
    ):
        if name in up:
            return "pivot", focus, confidence
    if one.grounds.avoid and one.since_new >= IDLE:
        return "pivot", "reframe", 0.7
    if signal.completion * 100 > 80 + 1e-6:
        return "persist", "finish", 0.9
    return "persist", "continue", 0.8 if signal.trend == "improving" else 0.5


@given(runs())
def test_the_first_row_that_fits_decides_with_a_reason_of_the_programs_own(run: list[Seen]) -> None:
    for one in run:
        strategy = one.found.course.strategy
        approach = "pivot" if strategy.approach == "escalate" else strategy.approach
        assert (approach, strategy.focus, strategy.confidence) == row(one)
        assert strategy.reasoning.endswith(".")
        assert len(strategy.priorities) <= PRIORITIES
        assert len(set(strategy.priorities)) == len(strategy.priorities)
        assert all(text.strip() for text in strategy.priorities)
        foreign = {text for _, text in one.grounds.standing} | {
            *one.grounds.said,
            *one.grounds.failing,
            one.grounds.item,
            one.grounds.next_step,
            one.grounds.proven,
            one.grounds.avoid,
        }
        assert set(strategy.priorities) <= foreign
        assert 1 <= strategy.since <= one.k + 1


@given(runs())
def test_an_agent_reads_of_its_work_and_not_of_alarms(run: list[Seen]) -> None:
    readings = [
        *(one.start for one in run[:1]),
        *(100 * one.found.evaluation.signal.completion for one in run),
    ]
    for one in run:
        evaluation = one.found.evaluation
        said = advice(evaluation.signal, evaluation.alarms, Budget(one.most))
        for text in (said, one.found.course.strategy.reasoning):
            assert control_words(text) == []
            for since in re.findall(r"not risen since (?:iteration (\d+)|the run began)", text):
                best = readings[int(since or 0)]
                assert best + TOLERANCE >= max(readings[: one.k + 1])


@given(runs())
def test_an_approach_is_counted_from_where_it_began(run: list[Seen]) -> None:
    was, since = "persist", 1
    for one in run:
        strategy = one.found.course.strategy
        now = "persist" if strategy.approach == "persist" else "pivot"
        since = since if now == was else one.k + 1
        assert strategy.since == since
        was = now


@given(st.one_of(runs(), runs(BLOCKED)))
def test_a_human_is_asked_once_per_pivot_and_in_an_episode_only_in_its_turn(
    run: list[Seen],
) -> None:
    asked = set[int]()
    for one in run:
        finding, strategy = one.found.finding, one.found.course.strategy
        assert finding
        about = [(s.level, s.about) for s in finding.situations if s.about == "strategy"]
        assert about == [("PAUSE", "strategy")] * (strategy.approach == "escalate")
        if not about:
            continue
        now = finding.state.episode
        if one.episode is None:
            assert now is None
        else:
            last = one.episode.mark.iteration
            assert now is not None
            assert now.mark.iteration == one.k, "it counts as the episode's question"
            assert one.k - last >= 2
        assert one.k < one.most
        assert one.k - strategy.since + 1 >= IntelligenceSettings().escalate_at
        assert one.since_new >= IntelligenceSettings().escalate_at
        assert one.grounds.standing
        assert strategy.since not in asked
        asked.add(strategy.since)


@given(runs(st.just(Grounds())))
def test_without_a_blocker_nobody_is_asked_about_a_strategy(run: list[Seen]) -> None:
    for one in run:
        assert one.found.finding
        assert one.found.course.strategy.approach != "escalate"
        assert all(found.about != "strategy" for found in one.found.finding.situations)


@given(runs())
def test_a_pivot_begins_with_what_has_worked_and_no_persisting_approach_names_it(
    run: list[Seen],
) -> None:
    for one in run:
        strategy, known = one.found.course.strategy, one.grounds
        pivots = strategy.approach != "persist"
        if known.proven.strip() and pivots:
            assert strategy.priorities[0] == known.proven
        if known.avoid.strip():
            assert ("learned to avoid" in strategy.reasoning) is pivots


def reporting(blockers: list[str], next_step: str) -> Callable[[FakeSession], None]:
    def act(session: FakeSession) -> None:
        report = AgentReported(iteration=session.iteration, blockers=blockers, next=next_step)
        session.emit(report)
        session.finish()

    return act


@FEWER
@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=12),
    st.lists(st.tuples(st.lists(st.sampled_from(["no network", "no disk"]), max_size=2), WORDS)),
    st.sampled_from(["auto", "estimate"]),
)
def test_what_is_folded_again_is_what_the_run_had_at_every_event(
    passed: list[int], reports: list[tuple[list[str], str]], progress: str
) -> None:
    settings = Settings(progress="estimate" if progress == "estimate" else "auto")
    world = World(passed, mode="attended", max_iterations=len(passed), settings=settings)
    world.agent.acts.extend(reporting(*report) for report in reports)
    governor, had = world.loop.iteration.governor, []
    record = world.record

    def watched(event: object) -> object:
        stamped = record(event)  # type: ignore[arg-type]
        had.append(governor.course)
        return stamped

    world.record = watched  # type: ignore[method-assign, assignment]
    world.play(first)
    again = Layers.of(settings, world.loop.start.command)
    state = type(world.state)()
    for event, course in zip(world.events, had, strict=True):
        again.governor.recall(event, state)
        state.apply(event)
        assert again.governor.course == course
