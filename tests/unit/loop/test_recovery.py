"""A run that broke off anywhere goes on: nothing is forgotten, nothing is done twice."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_tui.commands import Abort, Answer, Command, Extend, Stop
from ralph_tui.events import (
    Event,
    FilesChanged,
    IterationStarted,
    QuestionAsked,
    RunResumed,
)
from ralph_tui.events.workspace import CategoryTotal
from ralph_tui.loop.recovery import found
from ralph_tui.state import RunState
from tests.unit.loop.steps.test_overseer import Reply, check, first, levels, play
from tests.world.fakes import World

LONG_AGO = datetime(2025, 12, 31, tzinfo=UTC)


def world(passed: list[int], **fields: object) -> World:
    return World(passed, **{"mode": "attended", **fields})  # type: ignore[arg-type]


def broken_off(source: World, number: int) -> World:
    """Another process, on the journal of `source` up to its event `number`."""
    events = source.events[:number]
    gates = sum(event.kind == "gate_finished" for event in events)
    passed = list(source.passed)[gates:]
    later = world(passed, max_iterations=source.max_iterations, past=events)
    later.gate.last = [0, *source.passed][min(gates, len(source.passed))]
    later.gate.total = source.gate.total
    later.workspace.taken = [""] * sum(event.kind == "snapshot_taken" for event in events)
    later.host.clock.seconds = source.host.clock.seconds + 3600
    return later


def go_on(source: World, number: int, reply: Reply = first) -> World:
    """The rest of the run, however often it asks."""
    later = broken_off(source, number)
    resumed = later.loop.resume(RunResumed(pid=2, host="h"))
    return play(later, reply, resumed)


def kinds_of(world: World, *kinds: str) -> list[Event]:
    return [event for event in world.events if event.kind in kinds]


STORIES = {
    "steady": [0, 2, 4, 6, 10],
    "stuck": [0, 3, 3, 3, 3, 3, 5, 7, 10],
    "regressing": [0, 7, 6, 5, 8, 10],
    "flat": [3] * 20,
}


@pytest.mark.parametrize(
    ("story", "step"), [("steady", 1), ("stuck", 2), ("regressing", 1), ("flat", 3)]
)
def test_a_run_broken_off_after_any_event_comes_to_its_end(story: str, step: int) -> None:
    whole = play(world(STORIES[story], max_iterations=9), first)
    for number in range(1, len(whole.events), step):
        later = go_on(whole, number)
        check(later)
        end = later.events[-1]
        assert end.kind == "run_finished"
        assert [e.seq for e in later.events] == list(range(1, len(later.events) + 1))
        numbers = [e.number for e in kinds_of(later, "snapshot_taken")]  # type: ignore[attr-defined]
        assert len(set(numbers)) == len(numbers)
        records = [e.iteration for e in kinds_of(later, "iteration_finished")]  # type: ignore[attr-defined]
        assert records == list(range(1, records[-1] + 1))
        judged = [e.iteration for e in kinds_of(later, "signal_computed")]  # type: ignore[attr-defined]
        assert len(set(judged)) == len(judged)
        assert end.outcome == whole.events[-1].outcome, number  # type: ignore[attr-defined]


def test_control_and_overseer_remember_everything() -> None:
    whole = play(world(STORIES["stuck"]), first)
    asked = next(e.seq for e in whole.events if e.kind == "iteration_finished" and e.iteration == 3)  # type: ignore[attr-defined]
    later = go_on(whole, asked)
    assert levels(later) == levels(whole)
    signals = [(e.iteration, e.output, e.kp) for e in kinds_of(whole, "signal_computed")]  # type: ignore[attr-defined]
    assert [
        (e.iteration, e.output, e.kp)  # type: ignore[attr-defined]
        for e in kinds_of(later, "signal_computed")
    ] == signals


def test_an_interrupted_iteration_is_marked_not_spent_and_told_to_the_next_session() -> None:
    whole = play(world(STORIES["steady"]), first)
    started = [e.seq for e in whole.events if e.kind == "session_started"][1]
    later = go_on(whole, started)
    record = kinds_of(later, "iteration_finished")[1]
    assert (record.iteration, record.status, record.files) == (2, "interrupted", 1)  # type: ignore[attr-defined]
    assert later.state.run.max_iterations == 11
    assert "Iteration 2 was interrupted" in later.agent.prompts[0]
    assert "a.py" in later.agent.prompts[0]
    assert not any("was interrupted" in prompt for prompt in later.agent.prompts[1:])


def test_resumed_twice_it_is_spared_once() -> None:
    whole = play(world(STORIES["steady"]), first)
    started = [e.seq for e in whole.events if e.kind == "session_started"][1]
    once = go_on(whole, started)
    spared = next(e.seq for e in once.events if e.kind == "limits_changed")
    once.passed = whole.passed
    twice = go_on(once, spared)
    assert twice.state.run.max_iterations == 11


def test_an_open_question_is_asked_again() -> None:
    whole = play(world(STORIES["stuck"]), first)
    asked = next(e for e in whole.events if e.kind == "question_asked")
    later = go_on(whole, asked.seq)
    questions = kinds_of(later, "question_asked")
    assert [q.text for q in questions] == [asked.text] * 2  # type: ignore[attr-defined]
    assert questions[0].question_id != questions[1].question_id  # type: ignore[attr-defined]
    assert len([x for x in levels(later) if x[1] == "REDIRECT"]) == 1
    assert "# Redirect" in later.agent.prompts[0]


def test_a_question_left_open_by_an_orderly_stop_is_asked_again() -> None:
    def leave(_: World, asked: QuestionAsked) -> Command:
        return Stop()

    whole = play(world(STORIES["stuck"]), leave)
    assert whole.state.run.finished is not None
    assert "a question was open" in found(whole.state)
    later = go_on(whole, len(whole.events))
    assert len(kinds_of(later, "question_asked")) == 2
    assert kinds_of(later, "iteration_finished")[3].status != "interrupted"  # type: ignore[attr-defined]


def test_a_run_at_its_limit_is_over_at_once() -> None:
    whole = play(world([0, 2, 3], max_iterations=2), first)
    later = go_on(whole, len(whole.events))
    assert later.events[-1].outcome == "limit_reached"  # type: ignore[attr-defined]
    assert not later.agent.sessions


def test_an_aborted_run_may_go_on() -> None:
    def abort(_: World, asked: QuestionAsked) -> Command:
        return Answer(question_id=asked.question_id, answer="abort")

    whole = play(world(STORIES["stuck"]), abort)
    assert whole.events[-1].outcome == "aborted"  # type: ignore[attr-defined]
    later = go_on(whole, len(whole.events))
    assert later.events[-1].outcome == "completed"  # type: ignore[attr-defined]


def test_what_was_in_progress_is_said() -> None:
    assert found(RunState()) == "nothing was done yet"
    whole = play(world(STORIES["steady"]), first)
    started = [e for e in whole.events if e.kind == "session_started"][2]
    state = RunState().apply_all(whole.events[: started.seq])
    state.at = (state.timeline.spans[-1].started_at) + timedelta(minutes=38)
    assert found(state) == "iteration 3, 38m in, 0 files touched, last checkpoint 00:00"


@settings(deadline=None, max_examples=60)
@given(
    passed=st.lists(st.integers(0, 10), min_size=3, max_size=14),
    cuts=st.lists(st.floats(0, 1), min_size=1, max_size=3),
)
def test_whenever_and_however_often(passed: list[int], cuts: list[float]) -> None:
    run = play(world(passed, max_iterations=8), first)
    for cut in cuts:
        number = max(1, int(cut * (len(run.events) - 1)))
        later = go_on(run, number)
        later.passed = passed
        check(later)
        run = later
    assert run.events[-1].kind == "run_finished"


def test_an_abort_is_obeyed_while_a_run_is_being_resumed() -> None:
    whole = play(world(STORIES["steady"]), first)
    later = broken_off(whole, 30)
    later.host.inbox.append(Abort())
    resumed = later.loop.resume(RunResumed())
    play(later, first, resumed)
    assert later.events[-1].outcome == "aborted"  # type: ignore[attr-defined]


def test_a_restore_that_was_cut_off_is_finished_and_can_still_be_undone() -> None:
    def back(_: World, asked: QuestionAsked) -> Command:
        return Answer(question_id=asked.question_id, answer="roll_back")

    whole = play(world(STORIES["regressing"]), back)
    began = kinds_of(whole, "restore_began")[0]
    held = [e.number for e in kinds_of(whole, "snapshot_taken") if e.seq < began.seq][-1]  # type: ignore[attr-defined]
    assert began.present == held  # type: ignore[attr-defined]
    later = go_on(whole, began.seq, back)
    restored = kinds_of(later, "worktree_restored")
    assert [(e.snapshot, e.present) for e in restored] == [(began.snapshot, began.present)]  # type: ignore[attr-defined]
    assert len(later.workspace.restored) == 1
    assert later.state.oversight.restoring is None


def test_time_in_which_nothing_ran_counts_for_nothing() -> None:
    whole = play(world(STORIES["steady"]), first)
    started = [e.seq for e in whole.events if e.kind == "session_started"][1]
    later = broken_off(whole, started)
    away = (later.host.clock.now() - later.state.at).total_seconds()
    resumed = later.loop.resume(RunResumed(away_s=away))
    play(later, first, resumed)
    assert away >= 3600
    assert later.events[-1].duration_s < 60  # type: ignore[attr-defined]
    assert kinds_of(later, "iteration_finished")[1].duration_s < 60  # type: ignore[attr-defined]


def test_who_sets_the_limit_anew_has_counted_the_interrupted_iteration() -> None:
    whole = play(world(STORIES["steady"]), first)
    started = [e.seq for e in whole.events if e.kind == "session_started"][1]
    later = broken_off(whole, started)
    later.host.inbox.append(Extend(iterations=5))
    play(later, first, later.loop.resume(RunResumed()))
    assert later.state.run.max_iterations == 15


def test_the_watchers_last_word_does_not_unsettle_what_was_settled() -> None:
    state = RunState()
    total = CategoryTotal(category="source", files=2)
    for event in (
        IterationStarted(iteration=1, max_iterations=9),
        FilesChanged(iteration=1, live=True, totals=[]),
        FilesChanged(iteration=1, live=False, totals=[total]),
        FilesChanged(iteration=1, live=True, totals=[]),
    ):
        state.apply(event)
    assert state.files.totals == [total]
    current = state.timeline.current
    assert current is not None
    assert current.files is not None
    assert current.files.totals == [total]
