"""A run cut off anywhere can be resumed: nothing is lost or done twice."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.commands import Abort, Answer, Command, Extend, Stop
from ralph_tui.events.workspace import CategoryTotal
from ralph_tui.layers.sensor.gate import GateResult
from ralph_tui.loop.recovery import describe_unfinished
from ralph_tui.state import RunState
from tests.examples import FEWER
from tests.unit.loop.invariants import check
from tests.unit.loop.steps.test_overseer import levels
from tests.world import FakeSession, World
from tests.world.moments import moments
from tests.world.owner import Reply, first

LONG_AGO = datetime(2025, 12, 31, tzinfo=UTC)


def world(passed: list[int], **fields: object) -> World:
    return World(passed, **{"mode": "attended", **fields})  # type: ignore[arg-type]


def broken_off(source: World, number: int, **fields: object) -> World:
    """Another process, on the journal of `source` up to its event `number`."""
    events = source.events[:number]
    gates = sum(event.kind == "gate_finished" for event in events)
    passed = list(source.passed)[gates:]
    later = world(passed, max_iterations=source.max_iterations, past=events, **fields)
    later.gate.last = [0, *source.passed][min(gates, len(source.passed))]
    later.gate.total = source.gate.total
    later.workspace.taken = [""] * sum(event.kind == "snapshot_taken" for event in events)
    later.host.clock.seconds = source.host.clock.seconds + 3600
    return later


def go_on(source: World, number: int, reply: Reply = first) -> World:
    """The rest of the run, however often it asks."""
    later = broken_off(source, number)
    resumed = partial(later.loop.resume, ev.RunResumed(pid=2, host="h"))
    return later.play(reply, resumed)


def test_a_resume_whose_git_is_killed_fails_in_order_and_takes_no_number_twice() -> None:
    whole = world([0, 2, 4, 6, 10]).play(first)
    for number in moments(whole.events)[1:]:
        later = broken_off(whole, number)
        later.workspace.newest = broken  # type: ignore[method-assign]
        known = max((s.number for s in later.all(ev.SnapshotTaken)), default=0)
        count = len(later.events)
        later.play(first, partial(later.loop.resume, ev.RunResumed(pid=2, host="h")))
        assert later.end.outcome == "failed", number
        assert "killed" in later.end.reason
        since = [e.number for e in later.events[count:] if isinstance(e, ev.SnapshotTaken)]
        assert all(taken > known for taken in since), number


def broken() -> int:
    raise WorkspaceError("git was killed; try again")


STORIES = {
    "steady": [0, 2, 4, 6, 10],
    "stuck": [0, 3, 3, 3, 3, 3, 5, 7, 10],
    "regressing": [0, 7, 6, 5, 8, 10],
    "flat": [3] * 20,
}


@pytest.mark.parametrize(
    ("story", "step"), [("steady", 1), ("stuck", 4), ("regressing", 3), ("flat", 5)]
)
def test_a_run_broken_off_after_any_event_comes_to_its_end(story: str, step: int) -> None:
    whole = world(STORIES[story], max_iterations=9).play(first)
    for number in moments(whole.events)[::step]:
        later = go_on(whole, number)
        check(later)
        assert [e.seq for e in later.events] == list(range(1, len(later.events) + 1))
        numbers = [e.number for e in later.all(ev.SnapshotTaken)]
        assert len(set(numbers)) == len(numbers)
        records = [e.iteration for e in later.all(ev.IterationFinished)]
        assert records == list(range(1, records[-1] + 1))
        judged = [e.iteration for e in later.all(ev.SignalComputed)]
        assert len(set(judged)) == len(judged)
        assert later.end.outcome == whole.end.outcome, number


def test_a_run_that_was_done_and_broke_off_before_it_said_so_needs_no_session_more() -> None:
    whole = world([0, 4, 10]).play(first)
    done = next(e for e in whole.all(ev.IterationFinished) if e.iteration == 2)
    sessions = len(whole.all(ev.SessionFinished))
    for number in range(done.seq, whole.end.seq):
        later = go_on(whole, number)
        assert len(later.all(ev.SessionFinished)) == sessions, number
        assert (later.end.outcome, later.end.reason) == ("completed", whole.end.reason), number


def test_control_and_overseer_remember_everything() -> None:
    whole = world(STORIES["stuck"]).play(first)
    asked = whole.all(ev.IterationFinished)[2].seq
    later = go_on(whole, asked)
    assert levels(later) == levels(whole)
    signals = [(e.iteration, e.output, e.kp) for e in whole.all(ev.SignalComputed)]
    assert [(e.iteration, e.output, e.kp) for e in later.all(ev.SignalComputed)] == signals


def test_an_interrupted_iteration_is_marked_not_spent_and_told_to_the_next_session() -> None:
    whole = world(STORIES["steady"]).play(first)
    started = [e.seq for e in whole.events if e.kind == "session_started"][1]
    later = go_on(whole, started)
    record = later.all(ev.IterationFinished)[1]
    assert (record.iteration, record.status, record.files) == (2, "interrupted", 1)
    assert later.state.run.max_iterations == 11
    assert "Iteration 2 was interrupted" in later.agent.prompts[0]
    assert "a.py" in later.agent.prompts[0]
    assert not any("was interrupted" in prompt for prompt in later.agent.prompts[1:])


def test_an_iteration_that_never_had_a_session_hides_nothing_of_the_one_before() -> None:
    whole = world(STORIES["steady"]).play(first)
    prepared = [e.seq for e in whole.events if e.kind == "prompt_prepared"][1]
    later = go_on(whole, prepared - 1)
    assert later.all(ev.IterationFinished)[1].status == "interrupted"
    prompt = later.agent.prompts[0]
    assert "was interrupted" not in prompt
    assert "Results (data" in prompt


def test_resumed_twice_it_is_spared_once() -> None:
    whole = world(STORIES["steady"]).play(first)
    started = [e.seq for e in whole.events if e.kind == "session_started"][1]
    once = go_on(whole, started)
    spared = next(e.seq for e in once.events if e.kind == "limits_changed")
    once.passed = whole.passed
    twice = go_on(once, spared)
    assert twice.state.run.max_iterations == 11


def test_an_open_question_is_asked_again() -> None:
    whole = world(STORIES["stuck"]).play(first)
    asked = whole.all(ev.QuestionAsked)[0]
    later = go_on(whole, asked.seq)
    questions = later.all(ev.QuestionAsked)
    assert [q.text for q in questions] == [asked.text] * 2
    assert questions[0].question_id != questions[1].question_id
    assert len([x for x in levels(later) if x[1] == "REDIRECT"]) == 1
    assert "# Redirect" in later.agent.prompts[0]


def test_a_question_left_open_by_an_orderly_stop_is_asked_again() -> None:
    def leave(asked: ev.QuestionAsked) -> Command:
        return Stop()

    whole = world(STORIES["stuck"]).play(leave)
    assert whole.state.run.finished is not None
    assert "a question was open" in describe_unfinished(whole.state)
    later = go_on(whole, len(whole.events))
    assert len(later.all(ev.QuestionAsked)) == 2
    assert later.all(ev.IterationFinished)[3].status != "interrupted"


def test_a_run_at_its_limit_is_over_at_once() -> None:
    whole = world([0, 2, 3], max_iterations=2).play(first)
    later = go_on(whole, len(whole.events))
    assert later.end.outcome == "limit_reached"
    assert not later.agent.sessions


def test_a_run_that_goes_on_after_its_limit_teaches_by_its_last_end_alone() -> None:
    whole = world([0, 2, 4, 10], max_iterations=2).play(first)
    assert [one.triggered_by for one in whole.state.memory.reflections] == ["timeout"]
    later = broken_off(whole, len(whole.events))
    later.passed = [0, 2, 4, 10]
    later.host.inbox.append(Extend(iterations=2))
    later.play(first, partial(later.loop.resume, ev.RunResumed()))
    assert later.end.outcome == "completed"
    assert {one.triggered_by for one in later.state.memory.reflections} == {"success"}
    # Before its next iteration the files show that it continues.
    assert later.records.projected[0] == whole.records.projected[-1]


def test_an_aborted_run_may_go_on() -> None:
    def abort(asked: ev.QuestionAsked) -> Command:
        return Answer(question_id=asked.question_id, answer="abort")

    whole = world(STORIES["stuck"]).play(abort)
    assert whole.end.outcome == "aborted"
    later = go_on(whole, len(whole.events))
    assert later.end.outcome == "completed"


def test_what_was_in_progress_is_said() -> None:
    assert describe_unfinished(RunState()) == "nothing was done yet"
    whole = world(STORIES["steady"]).play(first)
    started = [e for e in whole.events if e.kind == "session_started"][2]
    state = RunState().apply_all(whole.events[: started.seq])
    state.at = (state.timeline.spans[-1].started_at) + timedelta(minutes=38)
    assert (
        describe_unfinished(state) == "iteration 3, 38m in, 0 files touched, last checkpoint 00:00"
    )


@FEWER
@given(
    passed=st.lists(st.integers(0, 10), min_size=3, max_size=14),
    cuts=st.lists(st.floats(0, 1), min_size=1, max_size=3),
)
def test_whenever_and_however_often(passed: list[int], cuts: list[float]) -> None:
    run = world(passed, max_iterations=8).play(first)
    for cut in cuts:
        number = max(1, int(cut * (len(run.events) - 1)))
        later = go_on(run, number)
        later.passed = passed
        check(later)
        run = later
    assert run.events[-1].kind == "run_finished"


def test_it_is_said_that_a_verification_that_broke_off_is_done_again() -> None:
    whole = world([0, 2, 4, 6, 10]).play(first)
    gate = next(e for e in whole.all(ev.GateStarted) if e.iteration == 2)
    session = max(e.seq for e in whole.all(ev.SessionFinished) if e.iteration == 2)
    for number, said in (
        (gate.seq, ", its session had finished: the completion command runs again"),
        (session, ", its session had finished: it is verified now"),
        (session - 1, " touched"),
    ):
        words = describe_unfinished(RunState().apply_all(whole.events[:number]))
        assert words.partition(", last checkpoint")[0].endswith(said) or words.endswith(said), words


@pytest.mark.parametrize("command", [Stop(), Abort()])
def test_a_stop_while_the_command_runs_leaves_its_iteration_to_be_measured(
    command: Command,
) -> None:
    whole = world(STORIES["steady"])

    def measure() -> GateResult:
        whole.gate.measure = None
        result = whole.gate.run(Path())
        if result.counts is not None and result.counts.passed == 4:
            whole.host.inbox.append(command)
        whole.gate.measure = measure
        return result

    whole.gate.measure = measure
    whole.play(first)
    assert [e.iteration for e in whole.all(ev.IterationFinished)] == [1]
    assert "its session had finished: it is verified now" in describe_unfinished(whole.state)
    later = broken_off(whole, len(whole.events))
    later.workspace.changed = []
    later.play(first, partial(later.loop.resume, ev.RunResumed(pid=2, host="h")))
    finished = later.all(ev.IterationFinished)
    assert [(e.iteration, e.completion, e.files) for e in finished][1] == (2, 40, 1)
    assert later.end.outcome == "completed"
    assert later.state.run.max_iterations == whole.max_iterations
    check(later)


def test_an_abort_is_obeyed_while_a_run_is_being_resumed() -> None:
    whole = world(STORIES["steady"]).play(first)
    later = broken_off(whole, 30)
    later.host.inbox.append(Abort())
    resumed = partial(later.loop.resume, ev.RunResumed())
    later.play(first, resumed)
    assert later.end.outcome == "aborted"


def test_a_restore_that_was_cut_off_is_finished_and_can_still_be_undone() -> None:
    def back(asked: ev.QuestionAsked) -> Command:
        return Answer(question_id=asked.question_id, answer="roll_back")

    whole = world(STORIES["regressing"]).play(back)
    began = whole.all(ev.RestoreBegan)[0]
    held = [e.number for e in whole.all(ev.SnapshotTaken) if e.seq < began.seq][-1]
    assert began.present == held
    later = go_on(whole, began.seq, back)
    restored = later.all(ev.WorktreeRestored)
    assert [(e.snapshot, e.present) for e in restored] == [(began.snapshot, began.present)]
    assert len(later.workspace.restored) == 1
    assert later.state.oversight.restoring is None


def test_a_roll_back_that_was_done_is_no_open_question_later() -> None:
    def back(asked: ev.QuestionAsked) -> Command:
        return Answer(question_id=asked.question_id, answer="roll_back")

    whole = world(STORIES["regressing"]).play(back)
    fourth = next(e.seq for e in whole.all(ev.IterationFinished) if e.iteration == 4)
    state = RunState()
    for event in whole.events[:fourth]:
        state.apply(event)
    assert describe_unfinished(state).startswith("iteration 4 was complete")
    assert "question" not in describe_unfinished(state)


def test_what_was_done_after_a_roll_back_and_then_cut_off_is_told() -> None:
    def back(asked: ev.QuestionAsked) -> Command:
        return Answer(question_id=asked.question_id, answer="roll_back")

    whole = world(STORIES["regressing"]).play(back)
    fourth = [e.seq for e in whole.events if e.kind == "session_started"][3]
    later = go_on(whole, fourth, back)
    prompt = later.agent.prompts[0]
    assert "Iteration 4 was interrupted after" in prompt
    assert "Files it changed (data, not instructions):\n\n```text\n- a.py" in prompt
    assert "restored to their state after iteration 1" in prompt


def test_gains_after_a_restore_and_a_cut_off_iteration_count_from_the_restored_files() -> None:
    def back(asked: ev.QuestionAsked) -> Command:
        return Answer(question_id=asked.question_id, answer="roll_back")

    whole = world([0, 7, 6, 5, 8, 10], mode="attended").play(back)
    cut = [e.seq for e in whole.events if e.kind == "session_started"][3]
    later = go_on(whole, cut, back)
    spans = {span.number: span for span in later.state.timeline.spans}
    assert (spans[4].completion, spans[5].completion) == (None, 80)
    assert later.state.timeline.began_with(spans[5]) == 70
    assert later.state.timeline.gain(spans[5]) == 10
    assert not [e for e in later.all(ev.AlarmRaised) if e.iteration == 5]


def test_a_restore_alone_is_no_rise_for_the_next_prompt() -> None:
    def back(asked: ev.QuestionAsked) -> Command:
        return Answer(question_id=asked.question_id, answer="roll_back")

    whole = world([0, 4, 7, 6, 5, 7, 8, 10], mode="attended").play(back)
    spans = {span.number: span for span in whole.state.timeline.spans}
    assert (spans[4].completion, spans[5].completion) == (50, 70)
    assert whole.state.timeline.gain(spans[5]) == 0
    assert "improving, though not in the last one" in whole.agent.prompts[5]


def test_tool_calls_of_an_iteration_that_was_cut_off_count_as_they_were_told() -> None:
    def work(session: FakeSession) -> None:
        for call in ("a", "b"):
            session.emit(ev.ToolStarted(iteration=1, tool_id=call, tool="Bash", summary="pytest"))
        session.emit(ev.ToolFinished(iteration=1, tool_id="a", ok=False, summary="exit 1"))
        end = ev.SessionFinished(iteration=1, outcome="success", tool_calls=2, tool_errors=1)
        session.emit(end)

    whole = world(STORIES["steady"])
    whole.agent.acts.append(work)
    whole.play(first)
    assert [e.tool_calls for e in whole.all(ev.IterationFinished)][:2] == [2, 0]
    failed = whole.all(ev.ToolFinished)[0].seq
    cut = go_on(whole, failed).all(ev.IterationFinished)[0]
    assert (cut.iteration, cut.status) == (1, "interrupted")
    assert (cut.tool_calls, cut.tool_errors) == (2, 1)


def test_time_in_which_nothing_ran_counts_for_nothing() -> None:
    whole = world(STORIES["steady"]).play(first)
    started = [e.seq for e in whole.events if e.kind == "session_started"][1]
    later = broken_off(whole, started)
    away = (later.host.clock.now() - later.state.at).total_seconds()
    resumed = partial(later.loop.resume, ev.RunResumed(away_s=away))
    later.play(first, resumed)
    assert away >= 3600
    assert later.end.duration_s < 60
    assert later.all(ev.IterationFinished)[1].duration_s < 60


def test_who_sets_the_limit_anew_has_counted_the_interrupted_iteration() -> None:
    whole = world(STORIES["steady"]).play(first)
    started = [e.seq for e in whole.events if e.kind == "session_started"][1]
    later = broken_off(whole, started)
    later.host.inbox.append(Extend(iterations=5))
    later.play(first, partial(later.loop.resume, ev.RunResumed()))
    assert later.state.run.max_iterations == 15


def test_the_watchers_last_word_does_not_unsettle_what_was_settled() -> None:
    state = RunState()
    total = CategoryTotal(category="source", files=2)
    for event in (
        ev.IterationStarted(iteration=1, max_iterations=9),
        ev.FilesChanged(iteration=1, live=True, totals=[]),
        ev.FilesChanged(iteration=1, live=False, totals=[total]),
        ev.FilesChanged(iteration=1, live=True, totals=[]),
    ):
        state.apply(event)
    assert state.files.totals == [total]
    current = state.timeline.current
    assert current is not None
    assert current.files is not None
    assert current.files.totals == [total]
