"""An iteration is assessed once, right after its measurement, whatever else fails."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from ralph_tui import events as ev
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.config.settings import Settings
from ralph_tui.events.intelligence import Statement
from ralph_tui.events.workspace import ChangeStatus, FileChange
from ralph_tui.layers.intelligence import InnerLoop, IntelligenceSettings, Traces
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.loop.steps import assessment
from ralph_tui.ports.records import NoCheckpointFiles
from tests.unit.loop.steps.rollovers import fills, worlds
from tests.unit.loop.test_recovery import broken_off
from tests.world import FakeSession, World
from tests.world.moments import moments
from tests.world.owner import first

OFF = Settings(intelligence=IntelligenceSettings(enabled=False))


def of(world: World, iteration: int) -> ev.AssessmentMade:
    (made,) = [event for event in world.all(ev.AssessmentMade) if event.iteration == iteration]
    return made


def statements(made: ev.AssessmentMade) -> list[str]:
    return [each.text for each in made.accomplishments]


def plan(*items: str, done: int) -> Progress:
    return Progress(done, len(items), tuple((text, n < done) for n, text in enumerate(items)))


def test_every_reading_is_assessed_right_after_it() -> None:
    world = World([7, 9, 10]).run()
    kinds = world.kinds()
    readings = [n for n, kind in enumerate(kinds) if kind == "reading_taken"]
    assert [kinds[n + 1] for n in readings] == ["assessment_made"] * 3
    assert [event.iteration for event in world.all(ev.AssessmentMade)] == [0, 1, 2]
    assert statements(of(world, 1)) == ["test_7 now passes", "test_8 now passes", FILES]
    assert of(world, 0).pending == ["test_7 fails", "test_8 fails", "test_9 fails"]
    assert (of(world, 2).phase, of(world, 2).progress) == ("mid", 20 + 5 + 30)
    assert statements(of(world, 2)) == ["test_9 now passes", FILES]


FILES = "files: 1 modified (a.py)"


def kept(world: World) -> list[str]:
    return sorted(path for path in world.records.written if path.endswith(assessment.FILE))


def test_its_file_lies_in_the_folder_of_the_iteration_it_assesses() -> None:
    world = World([0, 5, 10])
    seen: list[tuple[int, list[str]]] = []
    for event in world.steps():
        if isinstance(event, ev.StepEntered) and event.step == 2:
            seen.append((event.iteration, kept(world)))
    assert seen == [
        (1, ["results/iter-000/assessment.json"]),
        (2, ["results/iter-000/assessment.json", "results/iter-001/assessment.json"]),
    ]
    last = world.records.written["results/iter-002/assessment.json"]
    assert last["iteration"] == 2, "the last one is kept at the run's end"
    assert last["testStatus"]["passed"] == 10
    assert last["filesChanged"]["byCategory"]["source"] == ["a.py"]


def test_step_1_is_where_it_is_kept() -> None:
    world = World([0, 10]).run()
    assert next(event.step for event in world.all(ev.StepEntered) if event.iteration == 1) == 1


def test_the_estimate_of_the_sensor_is_the_progress_of_the_assessment() -> None:
    world = World([], criterion="it is nice", max_iterations=2)
    world.traces = Traces(commits=("Add a",))
    world.run()
    readings = {event.iteration: event for event in world.all(ev.ReadingTaken)}
    assert readings[1].source == "estimate"
    assert readings[1].completion == of(world, 1).progress == 10 + 10 + 5


def test_switched_off_nothing_is_assessed_and_activity_is_still_estimated() -> None:
    world = World([], criterion="it is nice", max_iterations=2, settings=OFF).run()
    assert not world.all(ev.AssessmentMade)
    assert not kept(world)
    assert world.all(ev.ReadingTaken)[-1].completion == 15


def test_an_assessment_that_fails_costs_the_run_only_its_advice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> ev.AssessmentMade:
        raise ZeroDivisionError("of a rule")

    monkeypatch.setattr(assessment, "assess", broken)
    world = World([0, 5, 10]).run()
    assert world.end.outcome == "completed"
    for made in world.all(ev.AssessmentMade):
        assert (made.phase, made.accomplishments) == ("unknown", [])
        assert made.missing
    failed = [event for event in world.all(ev.Noticed) if event.source == "intelligence"]
    assert len(failed) == 3
    assert all("of a rule" in event.text and "Traceback" in event.detail for event in failed)


@pytest.mark.parametrize("error", [ZeroDivisionError("a bug"), WorkspaceError("git was killed")])
def test_traces_that_cannot_be_looked_at_are_missing(error: Exception) -> None:
    world = World([0, 5, 10])
    world.traces = error
    world.run()
    assert world.end.outcome == "completed"
    assert "commits" in of(world, 1).missing
    assert statements(of(world, 1))[0] == "test_0 now passes"


def test_a_file_that_cannot_be_written_is_told_and_costs_nothing_else() -> None:
    world = World([0, 5, 10])

    write = world.records.write_iteration_file

    def refuse(iteration: int, name: str, content: object) -> Path:
        if name == assessment.FILE:
            raise PermissionError(13, "Permission denied", name)
        return write(iteration, name, content)

    world.records.write_iteration_file = refuse  # type: ignore[method-assign]
    world.run()
    assert world.end.outcome == "completed"
    warned = [event.text for event in world.all(ev.Noticed) if event.source == "records"]
    assert len(warned) == 3
    assert all("assessment" in text for text in warned)


def test_what_a_session_left_behind_is_evidence() -> None:
    world = World([0, 5, 10])
    world.traces = Traces(commits=("Add a",), loops=(InnerLoop(3, 5, success=True),))
    world.run()
    sources = [each.source for each in of(world, 1).accomplishments]
    assert sources == ["tests"] * 5 + ["commits", "files", "loop"]
    assert not of(world, 0).accomplishments, "there is none before the first session"


def test_results_changes_events_and_earlier_learnings_are_assessed_together() -> None:
    def learns(session: FakeSession) -> None:
        session.emit(ev.AgentReported(iteration=1, learnings=["The lexer runs first."]))
        session.finish()

    def edits(session: FakeSession) -> None:
        session.emit(ev.ToolStarted(iteration=2, tool_id="t", tool="Edit", summary="lexer.py"))
        session.emit(ev.ToolFinished(iteration=2, tool_id="t", ok=True, summary="+3"))
        session.finish()

    world = World([0, 9, 10])
    world.agent.acts += [learns, edits]
    world.run()
    made = of(world, 2)
    assert made.tests is not None
    assert (made.tests.passed, made.tests.failed) == (10, 0)
    assert statements(made) == ["test_9 now passes", FILES]
    assert made.last_action == "Edit: lexer.py"
    assert made.found_out == ["The lexer runs first."]
    judged = World([], criterion="it reads well", max_iterations=1).run()
    for prompt, criterion in (
        (world.agent.prompts[1], "pytest -q"),
        (judged.agent.prompts[0], "it reads well"),
    ):
        assert "Fix it" in prompt
        assert criterion in prompt


def test_the_same_tool_error_three_times_stands() -> None:
    def act(session: FakeSession) -> None:
        for n in range(3):
            session.emit(ev.ToolStarted(iteration=1, tool_id=str(n), tool="Edit", summary="a.py"))
            failed = ev.ToolFinished(iteration=1, tool_id=str(n), ok=False, summary="not found")
            session.emit(failed)
        session.finish()

    world = World([0, 5, 10])
    world.agent.acts.append(act)
    world.run()
    (blocker,) = of(world, 1).blockers
    assert (blocker.source, blocker.standing) == ("tool", True)
    assert of(world, 1).last_action == "Edit: a.py"
    assert not of(world, 2).blockers, "the next session starts over"


def test_a_blocker_of_two_reports_running_stands() -> None:
    def act(session: FakeSession) -> None:
        blocked = ["No licence for the compiler"]
        session.emit(ev.AgentReported(iteration=session.iteration, blockers=blocked, next="ask"))
        session.finish()

    world = World([0, 5, 6, 10])
    world.agent.acts.extend([act, act])
    world.run()
    assert [each.standing for each in of(world, 1).blockers] == [False]
    assert [each.standing for each in of(world, 2).blockers] == [True]


def test_after_a_roll_back_tests_are_compared_with_those_of_the_files_it_brought() -> None:
    """Four tests pass, fail, and pass again after the rollback: that is no news."""
    world = World([0, 4, 0, 6, 10], max_iterations=5)
    for event in world.steps():
        if isinstance(event, ev.StepEntered) and (event.iteration, event.step) == (3, 2):
            best = world.state.timeline.spans[1].boundary
            assert best is not None
            world.loop.checkpoints.restore(best.number, "you")
    assert statements(of(world, 3)) == ["test_4 now passes", "test_5 now passes", FILES]


def test_ticked_items_are_named_and_the_next_one_is_in_every_reading() -> None:
    world = World([0, 5, 10], plan="PLAN.md")
    world.plan = plan("Lexer", "Parser", done=0)
    for event in world.steps():
        if isinstance(event, ev.StepEntered) and (event.iteration, event.step) == (1, 10):
            world.plan = plan("Lexer", "Parser", done=1)
    assert [event.next_item for event in world.all(ev.ReadingTaken)] == [
        "Lexer",
        "Parser",
        "Parser",
    ]
    assert {event.source for event in world.all(ev.ReadingTaken)} == {"tests"}
    ticked = Statement(text="ticked in the plan: Lexer", source="plan")
    assert ticked in of(world, 1).accomplishments
    assert "in the plan: Parser" in of(world, 1).pending
    assert not any(each.source == "plan" for each in of(world, 2).accomplishments)


def test_a_plan_that_disappears_is_told_once_and_its_last_items_stand() -> None:
    world = World([0, 5, 6, 7, 10], plan="PLAN.md")
    world.plan = plan("Lexer", "Parser", done=1)
    for event in world.steps():
        if isinstance(event, ev.StepEntered) and (event.iteration, event.step) == (1, 10):
            world.plan = None
    assert world.end.outcome == "completed"
    warned = [event.text for event in world.all(ev.Noticed) if "PLAN.md" in event.text]
    assert len(warned) == 1
    assert {event.next_item for event in world.all(ev.ReadingTaken)} == {"Parser"}
    assert "in the plan: Parser" in of(world, 3).pending
    assert "the plan" in of(world, 3).missing


def test_a_run_that_broke_off_anywhere_is_assessed_as_if_it_had_not() -> None:
    world = World([3, 5, 6, 10], mode="attended", plan="PLAN.md")
    world.plan = plan("Lexer", "Parser", done=1)
    world.play(first)
    whole = [of(world, k) for k in range(4)]
    caught_up: list[int] = []
    after = {event.seq for event in world.all(ev.ReadingTaken)}
    for number in sorted({*moments(world.events)[1:-1:2], *after}):
        later = broken_off(world, number)
        later.plan = world.plan
        later.play(first, partial(later.loop.resume, ev.RunResumed(pid=2, host="h")))
        readings = {event.iteration: event.seq for event in later.all(ev.ReadingTaken)}
        last = {event.iteration: event for event in later.all(ev.AssessmentMade)}
        assert set(readings) == set(last), number
        for k, made in last.items():
            assert made.seq > readings[k], (number, k)
            twice = [each for each in later.all(ev.AssessmentMade) if each.iteration == k]
            assert len(twice) == 1 or k == 0, (number, k)
        broke = world.events[number - 1]
        if isinstance(broke, ev.ReadingTaken) and broke.iteration:  # the baseline is measured again
            caught_up.append(broke.iteration)
            again = last[broke.iteration].model_dump(exclude={"seq", "at"})
            assert again == whole[broke.iteration].model_dump(exclude={"seq", "at"})
    assert caught_up == [1, 2, 3]


def test_where_no_files_are_kept_of_checkpoints_the_assessment_is_made_all_the_same() -> None:
    world = World([0, 10])
    assert isinstance(world.loop.ports.checkpoint_files, NoCheckpointFiles)
    assert statements(of(world.run(), 1))[0] == "test_0 now passes"


def test_snapshots_that_cannot_be_compared_are_tolerated() -> None:
    world = World([0, 5, 10])

    def broken(since: str, until: str | None = None) -> tuple[()]:
        raise WorkspaceError("the tree is not there any more")

    world.workspace.changes = broken  # type: ignore[method-assign]
    world.run()
    assert world.end.outcome == "completed"
    assert statements(of(world, 1)) == [f"test_{n} now passes" for n in range(5)]
    assert "the changed files" in of(world, 1).missing


def edits(*texts: str) -> Callable[[FakeSession], None]:
    """Act: replace each text by the next one, with a pause after each call."""

    def act(session: FakeSession) -> None:
        k = session.iteration
        for number, (old, new) in enumerate(pairwise(texts)):
            params = {"file_path": "a.py", "old_string": old, "new_string": new}
            started = ev.ToolStarted(
                iteration=k, tool_id=f"{number}", tool="Edit", summary="a.py", params=params
            )
            session.emit(started)
            session.emit(ev.ToolFinished(iteration=k, tool_id=f"{number}", ok=True))
        session.finish()

    return act


def test_a_file_edited_back_and_forth_is_warned_of_once_while_the_agent_works() -> None:
    world = World([0, 5, 10])
    world.agent.acts.append(edits(*"ABABAB"))
    world.run()
    (warned,) = [event for event in world.all(ev.Noticed) if event.source == "agent"]
    assert warned.text.startswith("a.py was edited back and forth: ")
    assert warned.seq < of(world, 1).seq
    assert [one.times for one in of(world, 1).patterns] == [4]
    (found,) = [event for event in world.all(ev.ValidationDone) if event.when == "after"]
    assert [issue.name for issue in found.issues] == ["back_and_forth"]
    assert found.row() is None, "it was reported during the session"
    assert "- a.py: 4 edits undid an earlier one" in world.agent.prompts[1]
    assert not of(world, 2).patterns


def test_patterns_in_tool_calls_are_found_before_the_session_ends_and_after_it() -> None:
    world = World([0, 0, 10])
    world.workspace.changed = []
    world.agent.acts += [lambda _: None, reads]
    for n in range(5):
        edit = {"file_path": "b.py", "old_string": "AB"[n % 2], "new_string": "BA"[n % 2]}
        world.host.idle += [
            ev.ToolStarted(iteration=1, tool_id=f"{n}", tool="Edit", summary="b.py", params=edit),
            ev.ToolFinished(iteration=1, tool_id=f"{n}", ok=True),
            ev.ToolStarted(iteration=1, tool_id=f"x{n}", tool="Read", summary="a.py"),
            ev.ToolFinished(iteration=1, tool_id=f"x{n}", ok=False, summary="not found"),
            *[lambda: None] * 8,  # seconds
        ]
    world.host.idle.append(ev.SessionFinished(iteration=1, outcome="success"))
    world.run()
    error, again = [event for event in world.all(ev.Noticed) if event.source == "agent"]
    assert error.text == "Read failed 3 times in the same way: not found."
    assert again.text.startswith("b.py was edited back and forth: ")
    last = [event for event in world.all(ev.ToolStarted) if event.iteration == 1][-1]
    assert max(error.seq, again.seq) < last.seq
    blockers = [one.text for one in of(world, 1).blockers]
    assert blockers == ["Read failed 5 times in the same way: not found"]
    assert [one.name for one in of(world, 1).patterns] == ["back_and_forth"]
    assert [one.name for one in of(world, 2).patterns] == ["only_reading"]


def test_switched_off_nothing_is_watched() -> None:
    world = World([0, 10], settings=OFF)
    world.agent.acts.append(edits(*"ABABAB"))
    assert not [event for event in world.run().all(ev.Noticed) if event.source == "agent"]


def reads(session: FakeSession) -> None:
    """Act: twelve calls that change nothing."""
    for number in range(12):
        session.emit(ev.ToolStarted(iteration=session.iteration, tool_id=f"{number}", tool="Read"))
        done = ev.ToolFinished(iteration=session.iteration, tool_id=f"{number}", ok=True)
        session.emit(done)
    session.finish()


def test_a_session_that_only_reads_is_a_warning_and_the_next_prompt_asks_for_a_change() -> None:
    world = World([0, 0, 10])
    world.agent.acts.append(reads)
    world.workspace.changed = []
    world.run()
    (found,) = [event for event in world.all(ev.ValidationDone) if event.iteration == 1]
    assert [(issue.name, issue.is_error) for issue in found.issues] == [("only_reading", False)]
    assert "Make a first change early in this one." in world.agent.prompts[1]


def test_prompts_point_to_the_files_of_failing_tests_from_the_first_one() -> None:
    world = World([0, 5, 10])
    world.test_files = ["tests/test_0.py", "tests/test_lexer.py", "tests/test_parser.py"]
    world.gate.tail = "tests/test_parser.py:3: AssertionError"
    world.run()
    by_output, by_name = (
        "- tests/test_parser.py (failing tests)",
        "- tests/test_0.py (failing tests)",
    )
    assert [by_output in prompt for prompt in world.agent.prompts] == [True, True]
    assert [by_name in prompt for prompt in world.agent.prompts] == [True, False]
    assert not of(world, 2).context_files.test_files, "none fails any more"
    handed_off = worlds(fills(40, 71, 86), passed=[0, 5, 10])
    handed_off.test_files = ["tests/test_0.py"]
    prompts = handed_off.run().agent.prompts
    assert [by_name in prompt for prompt in prompts] == [True, False, False]


def test_the_file_that_changed_last_leads_the_changed_files_of_the_next_prompt() -> None:
    world = World([0, 5, 10])
    changes: dict[str, ChangeStatus] = {
        "a.py": "modified", "b.py": "deleted", "c.py": "added", "d.py": "modified",
    }  # fmt: skip
    world.workspace.changed = [
        FileChange(path=path, status=status, category="source", added=1)
        for path, status in changes.items()
    ]

    def act(session: FakeSession) -> None:
        session.emit(ev.FilesChanged(iteration=1, live=True, totals=[], latest="c.py"))
        session.finish()

    world.agent.acts.append(act)
    prompt = world.run().agent.prompts[1]
    listed = [f"- {path} (changed in the last iteration)" for path in ("c.py", "a.py", "d.py")]
    assert "\n".join(listed) in prompt
    assert of(world, 1).context_files.recently_modified == ["c.py", "a.py", "d.py"]
    assert of(world, 2).context_files.recently_modified == ["a.py", "c.py", "d.py"], "unknown"
    world = World([0, 5, 10])
    world.workspace.changed = [
        FileChange(path=f"{number:02}.py", status="added", category="source", added=1)
        for number in range(12)
    ]
    world.run()
    assert of(world, 1).context_files.recently_modified == [f"{n:02}.py" for n in range(10)]


def test_artifacts_of_earlier_iterations_stay_until_they_are_gone() -> None:
    world = World([0, 2, 4, 6, 10])
    seen = [("a.md", ()), ("b.md", ()), ("c.md", ("a.md",))]
    for event in world.steps():
        if isinstance(event, ev.StepEntered) and event.step == 10 and event.iteration <= 3:
            new, gone = seen[event.iteration - 1]
            world.traces = Traces(artifacts=(new,), gone=gone)
            tracked = FileChange(path=".aiwg/d.md", status="modified", category="aiwg")
            world.workspace.changed = [tracked] if event.iteration == 2 else []
    kept = [of(world, k).context_files.artifacts for k in (1, 2, 3)]
    assert kept == [["a.md"], ["b.md", ".aiwg/d.md", "a.md"], ["c.md", "b.md", ".aiwg/d.md"]]
    for name in ("c.md", "b.md", ".aiwg/d.md"):
        assert f"- {name} (artifact changed in this run)" in world.agent.prompts[3]


def test_artifacts_that_git_does_not_see_are_accomplishments() -> None:
    world = World([0, 5, 10])
    world.traces = Traces(artifacts=("a.py", ".aiwg/spec.md"))
    world.run()
    assert statements(of(world, 1))[-2:] == ["artifacts: 1 changed (.aiwg/spec.md)", FILES]


def test_what_a_rollback_undid_has_no_artifacts() -> None:
    world = World([0, 4, 0, 6, 10], max_iterations=5)
    world.traces = Traces(artifacts=("a.md",))
    for event in world.steps():
        if not isinstance(event, ev.StepEntered):
            continue
        if event.step == 10:
            world.traces = Traces(artifacts=(f"{event.iteration}.md",))
        if (event.iteration, event.step) == (3, 2):
            best = world.state.timeline.spans[1].boundary
            assert best is not None
            world.loop.checkpoints.restore(best.number, "you")
    assert of(world, 3).context_files.artifacts == ["3.md", "1.md"]


def test_the_priorities_are_added_to_the_file_before_the_session() -> None:
    world = World([0, 5, 10])
    seen = []
    for event in world.steps():
        if isinstance(event, ev.StepEntered) and event.step in (2, 10):
            written = world.records.written[
                f"results/iter-{event.iteration - 1:03}/assessment.json"
            ]
            seen.append(written.get("prioritizedTasks"))
    assert seen == [None, ["test_0", "test_1", "test_2"], None, ["test_5", "test_6", "test_7"]]


def test_the_prompts_record_names_the_three_files_it_follows_from() -> None:
    world = World([0, 5, 10])
    world.test_files = ["tests/test_parser.py"]
    world.gate.tail = "tests/test_parser.py:3: AssertionError"
    world.run()
    for sent in world.all(ev.PromptPrepared):
        folder = f"results/iter-{sent.iteration - 1:03}"
        assert (sent.assessment, sent.next_prompt, sent.system_context) == (
            f"{folder}/assessment.json",
            f"{folder}/next-prompt.md",
            f"{folder}/system-context.md",
        )
        assert world.records.written[sent.next_prompt]
        assert world.records.written[sent.system_context]
        made = world.records.written[sent.assessment]
        tasks = world.state.intelligence.strategies[sent.iteration].priorities
        assert made["prioritizedTasks"] == tasks
        assert len(tasks) == 3
        assert world.records.files[sent.path] == world.agent.prompts[sent.iteration - 1]
        assert made["contextFiles"]["testFiles"] == ["tests/test_parser.py"]


def test_the_transcript_of_the_session_is_named() -> None:
    world = World([0, 5, 10]).run()
    assert of(world, 1).transcript == "results/iter-001/transcript.jsonl"
    assert of(world, 0).transcript == ""
    written = world.records.written["results/iter-001/assessment.json"]
    assert written["transcriptPath"] == "results/iter-001/transcript.jsonl"
