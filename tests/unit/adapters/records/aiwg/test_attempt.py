"""Files derived from the journal: their wording, and that they can always be rebuilt."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.adapters.records.aiwg.action_log import ActionLog
from ralph_tui.adapters.records.aiwg.attempt import attempt_of, project
from ralph_tui.adapters.records.aiwg.records import Attempt, Execution, Quality
from ralph_tui.adapters.records.aiwg.tasks import (
    read_attempt,
    rebuild_attempt,
    task_files,
    write_task,
)
from ralph_tui.adapters.records.aiwg.write import SCHEMA, put
from ralph_tui.adapters.records.attempts import AttemptFolder
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.events.agent import SessionOutcome
from ralph_tui.events.memory import Retrieved
from ralph_tui.events.run import Outcome
from ralph_tui.events.workspace import CategoryTotal, FileChange
from ralph_tui.state import RunState
from tests.examples import FEWER
from tests.rows import each_row
from tests.world.recorder import Recorder
from tests.world.stories import STORIES, hostile

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROJECTIONS = ("attempt.json", "outcome.json", "plan.md", "actions.jsonl")
TASK_FILES = ("metadata.json", "trajectory.json", "summary.json", "reflections.jsonl")


@cache
def story_of(name: str) -> tuple[ev.Event, ...]:
    # The longest field in a record has a few thousand characters.
    return tuple(hostile(20_000) if name == "hostile" else STORIES[name]())


def fold(events: Sequence[ev.Event]) -> RunState:
    return RunState().apply_all(events)


def record(root: Path, events: Sequence[ev.Event]) -> AttemptFolder:
    """An attempt whose run recorded these events."""
    attempt = AttemptFolder.create(root, "Fix the failing parser tests", NOW)
    write_journal(attempt.journal, events)
    attempt.write_projections(attempt.project(fold(events)))
    return attempt


def write_journal(path: Path, events: Sequence[ev.Event]) -> None:
    path.write_text("".join(event.model_dump_json() + "\n" for event in events))


def contents(attempt: AttemptFolder) -> dict[str, bytes]:
    """Every projection, byte for byte."""
    paths = [attempt.folder / name for name in PROJECTIONS]
    paths += [attempt.task_folder / name for name in TASK_FILES]
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def read(attempt: AttemptFolder, name: str) -> Any:
    return json.loads(contents(attempt)[name])


def lines(attempt: AttemptFolder, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in contents(attempt)[name].splitlines()]


def actions(attempt: AttemptFolder) -> list[dict[str, Any]]:
    return lines(attempt, "actions.jsonl")


# -- what they say ------------------------------------------------------------------------------


def test_a_run_that_reached_its_goal(tmp_path: Path) -> None:
    attempt = record(tmp_path, story_of("steady"))
    attempt_record = read(attempt, "attempt.json")
    assert (attempt_record["id"], attempt_record["task_id"]) == (1, "task-001")
    assert "estimated_iterations" not in attempt_record["plan"], (
        "nothing is known of tasks like this"
    )
    assert attempt_record["execution"]["agent"] == "claude"
    assert (attempt_record["execution"]["iterations"], attempt_record["execution"]["sessions"]) == (
        6,
        6,
    )
    assert attempt_record["execution"]["quality_history"][:2] == [
        {"iteration": 0, "quality": 0.0, "delta": 0.0},
        {"iteration": 1, "quality": 18.0, "delta": 18.0},
    ]
    outcome = read(attempt, "outcome.json")
    assert outcome == {"version": SCHEMA, **attempt_record["outcome"]}
    assert (outcome["status"], outcome["completion_percent"]) == ("success", 100.0)
    assert outcome["what_worked"][0] == "iteration 4 gained 19 points"
    assert outcome["what_worked"][5] == "1 more iteration gained"
    assert outcome["what_didnt_work"] == []
    metadata = read(attempt, "metadata.json")
    assert (metadata["status"], metadata["completed"]) == ("completed", attempt_record["ended"])
    assert metadata["completion_criteria"] == "python -m pytest -q"
    trajectory = read(attempt, "trajectory.json")
    assert [a["outcome"] for a in trajectory["attempts"]] == ["success"]
    assert trajectory["attempts"][0]["actions"] == len(actions(attempt)) > 0
    marks = [milestone["event"] for milestone in trajectory["milestones"]]
    assert marks == ["started", "baseline", *["best"] * 6, "completed"]
    assert trajectory["completion_percent"] == 100.0
    summary = read(attempt, "summary.json")
    assert (summary["attempts"], summary["successes"], summary["iterations"]) == (1, 1, 6)
    assert "Fix the failing parser tests" in (attempt.folder / "plan.md").read_text()


@each_row(
    ("story", "verdict", "status"),
    [
        ("steady", "success", "completed"),
        ("stuck", "timeout", "failed"),
        ("crashed", "failure", "failed"),
    ],
)
def test_every_end_is_one_of_three(story: str, verdict: str, status: str) -> None:
    attempt = attempt_of(fold(story_of(story)))
    assert attempt.outcome is not None
    assert (attempt.outcome.status, attempt.status) == (verdict, status)


@each_row(("story", "status"), [("running", "running"), ("paused", "paused")])
def test_a_run_that_goes_on_has_no_outcome(tmp_path: Path, story: str, status: str) -> None:
    attempt = record(tmp_path, story_of(story))
    assert not (attempt.folder / "outcome.json").exists()
    assert read(attempt, "metadata.json")["status"] == status
    assert "outcome" not in read(attempt, "trajectory.json")["attempts"][0]


def test_a_run_that_is_resumed_has_no_outcome_any_more(tmp_path: Path) -> None:
    events = story_of("stuck")
    attempt = record(tmp_path, events)
    assert (attempt.folder / "outcome.json").exists()
    again = ev.RunResumed(seq=len(events) + 1, at=events[-1].at)
    attempt.write_projections(attempt.project(fold([*events, again])))
    assert not (attempt.folder / "outcome.json").exists()
    assert read(attempt, "metadata.json")["status"] == "running"


def test_what_failed_and_what_the_agent_said_last(tmp_path: Path) -> None:
    run = Recorder(10)
    run.baseline(70)
    run.iterations(60, 60)
    run.add(ev.AgentReported(iteration=2, blockers=["no network"], next="vendor the parser"))
    run.end("limit_reached", "used up")
    outcome = read(record(tmp_path, run.events), "outcome.json")
    assert outcome["what_worked"] == []
    said = outcome["what_didnt_work"]
    assert said[:2] == ["iteration 1 lost 10 points", "1 iteration neither gained nor lost"]
    assert said[-1] == "no network"
    assert outcome["suggestions_for_next_time"][0] == "vendor the parser"
    assert outcome["best_iteration"] == 0


def test_a_task_tells_of_all_its_attempts(tmp_path: Path) -> None:
    """Folder names count, whatever a copied journal says of itself."""
    record(tmp_path, story_of("stuck"))
    second = record(tmp_path, story_of("running"))
    metadata, summary = read(second, "metadata.json"), read(second, "summary.json")
    assert (metadata["total_attempts"], summary["attempts"], summary["timeouts"]) == (2, 2, 1)
    attempts = read(second, "trajectory.json")["attempts"]
    assert [(a["attempt_id"], a.get("outcome")) for a in attempts] == [(1, "timeout"), (2, None)]


def test_a_trajectory_leads_to_every_event_and_action_of_its_attempts(tmp_path: Path) -> None:
    stories = ("stuck", "steady")
    for name in stories:
        task = record(tmp_path, story_of(name)).task_folder
    trajectory = json.loads((task / "trajectory.json").read_text())
    assert len(trajectory["attempts"]) == len(stories)
    for attempt, name in zip(trajectory["attempts"], stories, strict=True):
        assert read_journal(task / attempt["journal"]).events == [*story_of(name)]
        actions_made = (task / attempt["trace"]).read_text().splitlines()
        assert len(actions_made) == attempt["actions"] > 0


def test_tags_and_related_tasks_are_nobody_elses_to_lose(tmp_path: Path) -> None:
    attempt = record(tmp_path, story_of("steady"))
    path = attempt.task_folder / "metadata.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "tags": ["parser", 7]}))
    write_task(attempt.task_folder)
    assert read(attempt, "metadata.json")["tags"][-2:] == ["config", "parser"]


def test_the_last_attempt_that_moved_speaks_for_the_task() -> None:
    one = attempt_of(fold(story_of("stuck")))
    two = attempt_of(fold(story_of("running"))).model_copy(
        update={"id": 2, "updated": datetime(2027, 1, 1, tzinfo=UTC)}
    )
    files = task_files("task-001", [one, two], {})
    assert files["metadata.json"]["current_attempt"] == 2
    assert files["metadata.json"]["status"] == "running"
    assert files["summary.json"]["timeouts"] == 1
    assert [a["attempt_id"] for a in files["trajectory.json"]["attempts"]] == [1, 2]


# -- memory --------------------------------------------------------------------------------------

PLAN = ev.PlanMade(
    approach="Fix the lexer first",
    steps=["read the failing tests", "carry the quote state"],
    estimated_iterations=4,
    estimate_from=6,
    cites=["task-001/001 #1"],
    related=["task-003"],
)
LEARNED = Retrieved(
    learning_id="learn-0123456789ab",
    type="strategy",
    task_type="test-fix",
    text="Run one test first.",
    confidence=0.9,
    why="It fits.",
    in_prompt=True,
)


def reflection(attempt: int, kind: str = "error-analysis", **fields: Any) -> ev.ReflectionWritten:
    data = {
        "attempt": attempt,
        "observation": "2 of 10 iterations brought nothing",
        "analysis": "The fixture has a trailing newline",
        "learning": "Look at the fixture before the lexer",
        "action_items": ["strip the fixture"],
        "triggered_by": "failure",
        "reflection_type": kind,
    }
    return ev.ReflectionWritten.model_validate({**data, **fields})


def a_run_with_memory(attempt: int = 1, outcome: Outcome = "limit_reached") -> list[ev.Event]:
    run = Recorder(10)
    run.baseline(0)
    run.add(PLAN)
    run.open(1)
    run.add(ev.LearningsRetrieved(iteration=1, task_type="test-fix", learnings=[LEARNED]))
    run.work(1)
    run.close(1, 20)
    credit = ev.LearningCredited(
        iteration=1, learning_id=LEARNED.learning_id, success=True, points=20.0
    )
    run.add(credit)
    run.add(reflection(attempt))
    run.add(reflection(attempt, "process-improvement", triggered_by="timeout", analysis=""))
    mine = len(run.events)
    run.end(outcome, "used up")
    # The run's own reflection at its end is recorded elsewhere.
    ending = [event for event in run.events[mine:] if not isinstance(event, ev.ReflectionWritten)]
    events = [*run.events[:mine], *ending]
    return [event.model_copy(update={"seq": n}) for n, event in enumerate(events, 1)]


def nulls(value: Any) -> bool:
    match value:
        case dict():
            return any(nulls(inner) for inner in value.values())
        case list():
            return any(nulls(inner) for inner in value)
    return value is None


@each_row("story", sorted(STORIES.keys() - {"hostile"}))
def test_what_is_not_known_is_left_out_and_never_null(tmp_path: Path, story: str) -> None:
    attempt = record(tmp_path, story_of(story))
    for name in contents(attempt):
        if name.endswith(".json"):
            assert not nulls(read(attempt, name)), name
        elif name.endswith(".jsonl"):
            assert not any(nulls(line) for line in lines(attempt, name)), name


def test_a_record_of_before_with_nulls_in_it_is_read(tmp_path: Path) -> None:
    attempt = record(tmp_path, story_of("running"))
    path = attempt.folder / "attempt.json"
    old = json.loads(path.read_text())
    old |= {"ended": None, "outcome": None}
    old["execution"] |= {"model": None, "cost_usd": None, "tokens": 0}
    old["plan"]["estimated_iterations"] = 10
    path.write_text(json.dumps(old))
    attempt_record = read_attempt(attempt.folder)
    assert attempt_record is not None
    assert (attempt_record.id, attempt_record.outcome, attempt_record.execution.cost_usd) == (
        1,
        None,
        None,
    )
    write_task(attempt.task_folder)
    assert not nulls(read(attempt, "trajectory.json"))


def test_what_was_never_measured_has_no_quality(tmp_path: Path) -> None:
    run = Recorder(10)
    run.end("aborted", "aborted by you")
    attempt = record(tmp_path, run.events)
    assert "final_quality" not in read(attempt, "outcome.json")
    assert "best_completion" not in read(attempt, "summary.json")
    assert "completion_percent" not in read(attempt, "trajectory.json")


def test_the_reflections_of_all_attempts_are_the_tasks(tmp_path: Path) -> None:
    first = record(tmp_path, a_run_with_memory())
    second = record(tmp_path, [*a_run_with_memory(1, "completed")])
    reported = lines(second, "reflections.jsonl")
    assert [(one["attempt_id"], one["triggered_by"]) for one in reported] == [
        *((1, "failure"), (1, "timeout")),
        *((2, "failure"), (2, "timeout")),
    ], "their folders' names count"
    assert reported[0] == {
        "version": SCHEMA,
        "timestamp": reported[0]["timestamp"],
        "attempt_id": 1,
        "observation": "2 of 10 iterations brought nothing",
        "analysis": "The fixture has a trailing newline",
        "learning": "Look at the fixture before the lexer",
        "action_items": ["strip the fixture"],
        "triggered_by": "failure",
        "reflection_type": "error-analysis",
    }
    assert "analysis" not in reported[1]
    own = read(first, "attempt.json")["reflections"]
    assert [{"version": SCHEMA, **reflection} for reflection in own] == reported[:2]


def test_the_plan_that_was_made_is_the_plan(tmp_path: Path) -> None:
    attempt = record(tmp_path, a_run_with_memory())
    plan = read(attempt, "attempt.json")["plan"]
    assert plan == {
        "approach": "Fix the lexer first",
        "steps": ["read the failing tests", "carry the quote state"],
        "estimated_iterations": 4,
        "estimate_from": 6,
        "cites": ["task-001/001 #1"],
        "related": ["task-003"],
    }
    text = (attempt.folder / "plan.md").read_text()
    for words in (
        "## Approach\n\nFix the lexer first.\n",
        "1. read the failing tests\n2. carry the quote state\n",
        "About 4 iterations, from 6 runs.",
        "- task-001/001 #1\n",
        "- at most 10 iterations\n",
    ):
        assert words in text
    assert read(attempt, "metadata.json")["related_tasks"] == ["task-003"]


def test_an_outcome_speaks_from_evidence(tmp_path: Path) -> None:
    attempt = record(tmp_path, a_run_with_memory())
    outcome = read(attempt, "outcome.json")
    assert outcome["what_worked"] == [
        "iteration 1 gained 20 points",
        "a learning helped: Run one test first.",
    ]
    assert outcome["what_didnt_work"][-1] == "The fixture has a trailing newline"
    assert outcome["suggestions_for_next_time"] == [
        "nested groups",
        "Look at the fixture before the lexer",
        "strip the fixture",
    ]
    [used] = read(attempt, "attempt.json")["learnings"]
    assert (used["text"], used["prompts"]) == ("Run one test first.", [1])
    assert used["credits"] == [{"iteration": 1, "success": True, "points": 20.0}]
    assert read(attempt, "metadata.json")["tags"] == [*("test-fix", "source", "test", "config")]


# -- actions -------------------------------------------------------------------------------------


def test_every_tool_use_is_one_line(tmp_path: Path) -> None:
    run = Recorder(10)
    run.tool(1, "Edit", "a.py", "+9 −4", 1)
    run.tool(1, "Bash", "make", "exit 2", 1, ok=False)
    run.add(ev.ToolStarted(iteration=1, tool_id="d", tool="Bash", summary="rm -rf /"))
    run.add(ev.ToolDenied(iteration=1, tool="Bash", tool_id="d", message="not allowed"))
    run.add(ev.ToolFinished(iteration=1, tool_id="d", ok=False, summary="denied"))
    run.add(ev.ToolStarted(iteration=1, tool_id="open", tool="mcp__db__query", summary="select 1"))
    run.add(ev.SessionFinished(iteration=1, outcome="stopped"))
    action_lines = actions(record(tmp_path, run.events))
    assert action_lines[0] == {
        "version": SCHEMA,
        "timestamp": run.events[1].at.isoformat().replace("+00:00", "Z"),
        "iteration": 1,
        "type": "edit",
        "tool": "Edit",
        "params": {"file_path": "a.py"},
        "success": True,
        "output": "+9 −4",
    }
    assert [(line["type"], line["success"], line["error"]) for line in action_lines[1:]] == [
        ("bash", False, "exit 2"),
        ("bash", False, "not allowed"),
        ("task", False, "no answer"),
    ]


def test_the_reasoning_of_an_action_is_what_its_agent_said_last(tmp_path: Path) -> None:
    run, report = Recorder(10), '{"ralph": {"completion": 40}}'
    run.add(ev.AgentSpoke(iteration=1, text="Look at the lexer."))
    run.add(ev.AgentSpoke(iteration=1, text=f"The quote state is lost.\n{report}"))
    run.add(ev.AgentSpoke(iteration=1, text="I am a helper.", parent="sub"))
    run.tool(1, "Edit", "a.py", "+9 −4", 1)
    run.add(ev.ToolStarted(iteration=1, tool_id="n", tool="Grep", summary="x", parent="sub"))
    run.add(ev.ToolFinished(iteration=1, tool_id="n", ok=True))
    run.add(ev.AgentSpoke(iteration=1, text="so " * 100 + "I run the tests"))
    run.tool(1, "Bash", "make", "exit 0", 1)
    run.add(ev.SessionFinished(iteration=1, outcome="success"))
    run.tool(2, "Bash", "make", "exit 0", 1)
    action_lines = [line.get("reasoning") for line in actions(record(tmp_path, run.events))]
    assert action_lines[:2] == ["The quote state is lost.", "I am a helper."]
    assert action_lines[2] is not None
    assert len(action_lines[2]) == 200
    assert action_lines[2].startswith("…")
    assert action_lines[2].endswith("so I run the tests")
    assert action_lines[3] is None, "the session printed nothing"


CHANGED = FileChange(path="a.py", status="modified", category="source", added=9, removed=4)
ADDED = FileChange(path="b.py", status="added", category="source", added=3)


def files(*changes: FileChange, live: bool = False) -> ev.FilesChanged:
    totals = [CategoryTotal(category="source", files=len(changes))]
    return ev.FilesChanged(iteration=1, live=live, totals=totals, changes=list(changes))


def without_tools(run: Recorder, outcome: SessionOutcome | None = "success") -> None:
    """A session of an agent that reports no tools."""
    session = ev.SessionStarted(iteration=1, session_id="s", agent="command", tells_tools=False)
    run.add(session)
    if outcome is not None:
        run.add(ev.SessionFinished(iteration=1, outcome=outcome, reason="exit 3"))


def test_of_an_agent_without_tool_events_actions_are_derived(tmp_path: Path) -> None:
    run = Recorder(10)
    run.add(ev.IterationStarted(iteration=1, max_iterations=10))
    without_tools(run, "error")
    run.add(files(CHANGED))
    run.add(ev.SessionStarted(iteration=1, session_id="s", agent="command", tells_tools=False))
    run.add(files(ADDED, live=True))
    run.add(ev.SessionFinished(iteration=1, outcome="success"))
    run.add(files(CHANGED, ADDED, FileChange(path="c", status="deleted", category="other")))
    without_tools(run, None)
    run.add(ev.RunResumed())
    attempt = record(tmp_path, run.events)
    action_lines = actions(attempt)
    assert all(line["derived"] is True and line["tool"] == "command" for line in action_lines)
    assert [(line["type"], line["success"], line["params"]) for line in action_lines] == [
        ("task", False, {}),
        ("edit", True, {"file_path": "a.py"}),
        ("task", True, {}),
        ("write", True, {"file_path": "b.py"}),
        ("edit", True, {"file_path": "c"}),
        ("task", False, {}),
    ], "an earlier session's changes are reported once"
    assert [line.get("error") or line.get("output") for line in action_lines] == [
        *("exit 3", "+9 −4", None, "+3 −0", "deleted", "no answer")
    ]
    assert read(attempt, "attempt.json")["execution"]["actions_performed"] == len(action_lines)


def test_where_tools_are_told_nothing_is_derived(tmp_path: Path) -> None:
    run = Recorder(10)
    run.add(ev.IterationStarted(iteration=1, max_iterations=10))
    run.add(ev.SessionStarted(iteration=1, session_id="s", agent="claude"))
    run.add(ev.SessionFinished(iteration=1, outcome="success"))
    run.add(files(CHANGED))
    assert actions(record(tmp_path, run.events)) == []


@FEWER
@given(cuts=st.lists(st.integers(0, 120), max_size=6).map(sorted), torn=st.integers(0, 40))
def test_actions_read_bit_by_bit_are_those_read_at_once(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], torn: int
) -> None:
    folder = tmp_path_factory.mktemp("actions")
    events = story_of("running")
    lines = [event.model_dump_json() + "\n" for event in events]
    journal, bit = folder / "events.jsonl", ActionLog(folder / "events.jsonl", folder / "bit.jsonl")
    for cut in cuts:
        journal.write_text("".join(lines[:cut]) + (lines[cut][:torn] if cut < len(lines) else ""))
        bit.catch_up()
    journal.write_text("".join(lines))
    bit.catch_up()
    ActionLog(journal, folder / "once.jsonl").catch_up()
    assert (folder / "bit.jsonl").read_text() == (folder / "once.jsonl").read_text() != ""


def test_actions_come_back_when_they_were_deleted_or_cut(tmp_path: Path) -> None:
    attempt = record(tmp_path, story_of("steady"))
    whole = contents(attempt)["actions.jsonl"]
    projected = attempt.project(fold(story_of("steady")))
    for garbage in (None, b"", b"{}\n", whole[:-9]):
        (attempt.folder / "actions.jsonl").unlink()
        if garbage is not None:
            (attempt.folder / "actions.jsonl").write_bytes(garbage)
        attempt.write_projections(projected)
        assert contents(attempt)["actions.jsonl"] == whole


def test_without_a_journal_everything_else_is_written(tmp_path: Path) -> None:
    """Its name was missing for a second; its descriptor still has the content."""
    attempt = record(tmp_path, story_of("steady"))
    before = contents(attempt)
    attempt.journal.unlink()
    for name in before:
        next(attempt.task_folder.rglob(name)).unlink()
    attempt.write_projections(attempt.project(fold(story_of("steady"))))
    assert contents(attempt) == {name: before[name] for name in before if "actions" not in name}


# -- made again ----------------------------------------------------------------------------------


@each_row("story", [*sorted(STORIES), "with memory"])
def test_what_is_rebuilt_is_what_was_written_live(tmp_path: Path, story: str) -> None:
    events = a_run_with_memory() if story == "with memory" else story_of(story)
    attempt = AttemptFolder.create(tmp_path, "Fix the failing parser tests", NOW)
    for step in (len(events) // 2, len(events)):
        write_journal(attempt.journal, events[:step])
        attempt.write_projections(attempt.project(fold(events[:step])))
    before = contents(attempt)
    for name in before:
        next(attempt.task_folder.rglob(name)).unlink()
    assert rebuild_attempt(attempt.folder).aside == []
    write_task(attempt.task_folder)
    if "outcome.json" not in before:  # nobody can rebuild a live run: this one was killed
        for name in ("attempt.json", "metadata.json", "summary.json"):
            for status in (b'"running"', b'"paused"'):
                before[name] = before[name].replace(b'"status": ' + status, b'"status": "failed"')
    assert contents(attempt) == before


def test_a_projection_is_read_as_it_was_written() -> None:
    for story in STORIES:
        record = project(fold(story_of(story)))["attempt.json"]
        assert Attempt.model_validate(json.loads(json.dumps(record))).as_json() == record


GARBAGE = (b"", b"null", b"[1]", b'{"a":', b"\xff\xfe", b"[" * 100_000)


@each_row("garbage", GARBAGE)
def test_garbage_is_set_aside_and_written_again(tmp_path: Path, garbage: bytes) -> None:
    attempt = record(tmp_path, story_of("steady"))
    before = contents(attempt)
    names = [name for name in before if name.endswith(".json")]
    for name in names:
        next(attempt.task_folder.rglob(name)).write_bytes(garbage)
    attempt.write_projections(attempt.project(fold(story_of("steady"))))
    assert contents(attempt) == before
    kept = sorted(attempt.task_folder.rglob("*.bad"))
    assert len(kept) == len(names)
    assert {path.read_bytes() for path in kept} == {garbage}


def test_a_folder_in_place_of_a_file_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    path.mkdir()
    (path / "mine").write_text("x")
    [aside] = put(path, {"a": 1})
    assert json.loads(path.read_text()) == {"version": SCHEMA, "a": 1}
    assert (aside / "mine").read_text() == "x"


def test_a_record_without_a_version_is_read_and_gets_one(tmp_path: Path) -> None:
    """As older versions wrote it."""
    attempt = record(tmp_path, a_run_with_memory(1, "completed"))
    before, known = contents(attempt), read_attempt(attempt.folder)
    for name in ("attempt.json", "reflections.jsonl", "metadata.json", "actions.jsonl"):
        folder = attempt.folder if name in PROJECTIONS else attempt.task_folder
        text = before[name].decode()
        older = re.sub(r'\s*"version": "1\.0\.0",? ?', "", text)
        assert "version" not in older != text
        (folder / name).write_text(older)
    assert read_attempt(attempt.folder) == known
    rebuild_attempt(attempt.folder)
    write_task(attempt.task_folder)
    assert contents(attempt) == before


def test_a_file_that_says_the_same_is_not_written_again(tmp_path: Path) -> None:
    attempt = record(tmp_path, story_of("steady"))
    before = {path: path.stat().st_ino for path in attempt.task_folder.rglob("*.json")}
    attempt.write_projections(attempt.project(fold(story_of("steady"))))
    assert {path: path.stat().st_ino for path in attempt.task_folder.rglob("*.json")} == before


def test_an_attempt_whose_record_is_gone_is_folded_from_its_journal(tmp_path: Path) -> None:
    first = record(tmp_path, story_of("stuck"))
    before = contents(first)["attempt.json"]
    (first.folder / "attempt.json").unlink()
    second = AttemptFolder.create(tmp_path, "Fix the failing parser tests", NOW)
    assert second.name == "task-001/002"
    assert contents(first)["attempt.json"] == before
    assert read(second, "summary.json")["timeouts"] == 1


def test_a_run_that_has_not_begun_has_nothing_to_say() -> None:
    with pytest.raises(ValueError, match="not started"):
        project(RunState())


def test_an_iteration_that_was_cut_off_needed_no_measurement() -> None:
    """Plans and learnings count the same iterations."""
    qualities = [Quality(iteration=k, quality=10.0 * k, delta=10.0) for k in range(6)]
    assert Execution(iterations=6, quality_history=qualities).measured == 5
    assert Execution(iterations=6).measured == 6, "a record of before"
