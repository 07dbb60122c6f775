"""``assessment.json`` follows its schema, whatever the session's files contain."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ralph_tui import events as ev
from ralph_tui.adapters.records.aiwg.assessment import assessment_of, assessments
from ralph_tui.adapters.records.aiwg.traces import LARGEST, MAX_COMMITS, read_traces
from ralph_tui.events.base import Event
from ralph_tui.events.intelligence import Blocker, ContextFiles, Pattern, Statement, TestStatus
from ralph_tui.events.workspace import CategoryTotal, FileChange
from ralph_tui.layers.intelligence import InnerLoop, Traces
from ralph_tui.state import RunState
from tests.rows import each_row

GOLDEN = Path(__file__).with_name("assessment.golden.json")
SCHEMA = (
    *("summary", "phase", "estimatedProgress", "accomplishments", "pendingTasks", "blockers"),
    *("learnings", "lastAction", "recommendedNextStep", "filesChanged", "testStatus"),
    *("prioritizedTasks", "contextFiles"),
)
SINCE = datetime(2026, 3, 14, 9, tzinfo=UTC)

RICH = ev.AssessmentMade(
    iteration=2,
    summary="7 of 9 tests pass; 2 more than before; 3 files changed; 1 commit.",
    phase="mid",
    progress=52.0,
    accomplishments=[
        Statement(text="test_tabs passes now", source="tests"),
        Statement(text="committed: Count tabs", source="commits"),
    ],
    pending=["test_sign fails", "in the plan: Printer"],
    blockers=[
        Blocker(
            text="Edit failed 3 times in the same way: not found", source="tool", standing=True
        ),
        Blocker(text="No licence", source="report"),
    ],
    learnings=["Tabs count as one."],
    found_out=["The suite needs a tty."],
    last_action="Bash: python -m unittest",
    next_step="Make test_sign pass.",
    tests=TestStatus(passed=7, failed=2, skipped=1, total=10),
    patterns=[Pattern(name="back_and_forth", path="parser.py", times=2)],
    context_files=ContextFiles(
        recently_modified=["abacus/tabs.py"],
        test_files=["tests/test_tabs.py"],
        artifacts=[".aiwg/specs/tabs.md"],
    ),
    transcript="results/iter-002/transcript.jsonl",
    missing=["the plan"],
)


def folded(*events: Event) -> RunState:
    start = ev.RunStarted(
        run_id="r", root="/r", objective="x", agent="a", max_iterations=3, session_timeout_s=60
    )
    return RunState().apply_all(
        [start, ev.IterationStarted(iteration=2, max_iterations=3), *events]
    )


def changed() -> ev.FilesChanged:
    changes = [
        FileChange(path="abacus/tabs.py", status="added", category="source"),
        FileChange(path="tests/test_tabs.py", status="modified", category="test"),
        FileChange(path="old.cfg", status="deleted", category="config"),
    ]
    totals = [CategoryTotal(category="source", files=4), CategoryTotal(category="test", files=1)]
    return ev.FilesChanged(iteration=2, live=False, changes=changes, totals=totals)


def test_the_file_is_as_its_schema_says() -> None:
    refined = ev.AssessmentRefined(
        iteration=2,
        summary="It goes well.",
        learnings=["Run it."],
        progress=60,
        approach="Continue.",
    )
    planned = ev.StrategyPlanned(
        iteration=3, approach="persist", reasoning="It rises.", priorities=["test_sign", "Printer"]
    )
    assessment = assessment_of(folded(changed(), RICH, refined, planned), 2)
    assert assessment == json.loads(GOLDEN.read_text("utf-8"))
    assert assessment is not None
    assert set(SCHEMA) <= set(assessment)


def test_what_is_not_known_is_left_out() -> None:
    assessment = assessment_of(folded(ev.AssessmentMade(iteration=2, summary="Nothing.")), 2)
    assert assessment is not None
    assert set(SCHEMA) - set(assessment) == {"testStatus", "prioritizedTasks"}
    assert assessment["contextFiles"] == {}
    assert "transcriptPath" not in assessment
    assert "secondOpinion" not in assessment
    assert "null" not in json.dumps(assessment)
    empty: dict[str, list[str]] = {
        "source": [],
        "test": [],
        "config": [],
        "docs": [],
        "aiwg": [],
        "other": [],
    }
    assert assessment["filesChanged"] == {
        "added": [],
        "modified": [],
        "deleted": [],
        "byCategory": empty,
    }


def test_tests_that_did_not_run_are_said_to_be_that() -> None:
    made = ev.AssessmentMade(iteration=2, summary="Broken.", tests=TestStatus(ran=False))
    assessment = assessment_of(folded(made), 2)
    assert assessment is not None
    assert (assessment["testStatus"]["ran"], assessment["testStatus"]["summary"]) == (
        False,
        "no tests ran",
    )


def test_of_an_iteration_that_was_not_assessed_there_is_no_file() -> None:
    assert assessment_of(folded(), 2) is None
    assert set(assessments(folded(RICH))) == {"results/iter-002/assessment.json"}


# -- what a session left behind --------------------------------------------------------------


def put(root: Path, name: str, content: object, age_s: float = -60) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    at = (SINCE - timedelta(seconds=age_s)).timestamp()
    os.utime(path, (at, at))
    return path


DIFF = "attempt/results/iter-003/snapshot-diff.json"
LOOP = ".aiwg/ralph/current-loop.json"
ENDED = {
    "active": False,
    "maxIterations": 10,
    "currentIteration": 2,
    "status": "success",
    "lastResult": "all pass",
    "finalResult": {"success": True},
}


def traces(root: Path) -> Traces:
    return read_traces(root / "attempt", root, 3, SINCE)


def test_commits_and_a_loop_inside_the_session_are_found(tmp_path: Path) -> None:
    put(tmp_path, DIFF, {"commits": ["a1 Add a", "b2 Fix: b"], "branchChanged": False})
    put(tmp_path, LOOP, ENDED)
    loop = InnerLoop(iterations=2, limit=10, success=True, words="all pass")
    assert traces(tmp_path) == Traces(commits=("Add a", "Fix: b"), loops=(loop,))


ABORTED = {"active": False, "task": "Fix it", "currentIteration": 3, "status": "aborted"}


def registry(**entry: object) -> dict[str, object]:
    return {"active_loops": [{"loop_id": "fix-1", **entry}, {"loop_id": 7}, "x"], "total": 1}


def test_loops_of_the_command_are_found_and_completed_from_their_registry(tmp_path: Path) -> None:
    known = registry(started_at="2026-03-14T09:00:30.000Z", iteration=4, task_summary="Fix it")
    put(tmp_path, ".aiwg/ralph/registry.json", known)
    assert traces(tmp_path).loops == (InnerLoop(iterations=4, task="Fix it"),), "it has no file"
    put(tmp_path, LOOP, {"active": True, "maxIterations": 5, "currentIteration": 1})
    put(tmp_path, ".aiwg/ralph/registry.json", registry(max_iterations=9, status="running"))
    put(tmp_path, ".aiwg/ralph/loops/fix-1/state.json", ABORTED)
    put(tmp_path, ".aiwg/ralph/archive/old-1/state.json", ENDED)
    older = {**ENDED, "currentIteration": 7}
    put(tmp_path, ".aiwg/ralph/loops/older/state.json", older, age_s=5)
    (tmp_path / ".aiwg/ralph/loops/fix-2").symlink_to(tmp_path / ".aiwg/ralph/loops/fix-1")
    assert traces(tmp_path).loops == (
        InnerLoop(iterations=1, limit=5, active=True),
        InnerLoop(iterations=3, limit=9, task="Fix it"),
        InnerLoop(iterations=2, limit=10, success=True, words="all pass"),
    )
    put(tmp_path, ".aiwg/ralph/archive/old-2/state.json", ENDED)
    assert len(traces(tmp_path).loops) == 3


@each_row(
    ("began", "found"),
    [
        ("2026-03-14T09:00:30.000Z", True),
        ("2026-03-14T08:59:59.000Z", False),
        ("2026-03-14T09:30:00", False),
        ("yesterday", False),
        (None, False),
    ],
)
def test_a_loop_that_only_the_registry_knows_counts_if_it_began_in_the_session(
    tmp_path: Path,
    began: object,
    found: bool,  # noqa: FBT001
) -> None:
    known = registry(started_at=began, iteration=4, status="completed", task_summary="Fix it")
    put(tmp_path, ".aiwg/ralph/registry.json", known)
    loop = InnerLoop(iterations=4, success=True, task="Fix it")
    assert traces(tmp_path).loops == ((loop,) if found else ())


def test_artifacts_of_the_session_are_found(tmp_path: Path) -> None:
    put(
        tmp_path,
        DIFF,
        {
            "aiwgArtifactsCreated": [".aiwg/a.md", 3],
            "aiwgArtifactsUpdated": [".aiwg/b\x1b.md"],
            "aiwgArtifactsDeleted": [".aiwg/c.md"],
        },
    )
    found = traces(tmp_path)
    assert found.artifacts == (".aiwg/a.md", ".aiwg/b\\x1b.md")
    assert found.gone == (".aiwg/c.md",)


def test_a_loop_that_still_says_that_it_runs_has_no_success(tmp_path: Path) -> None:
    put(tmp_path, DIFF, {"branchChanged": True, "branchAfter": "main"})
    put(tmp_path, LOOP, {**ENDED, "active": True})
    assert traces(tmp_path) == Traces(loops=(InnerLoop(2, 10, words="all pass", active=True),))


def test_files_that_are_older_than_the_session_tell_of_another(tmp_path: Path) -> None:
    put(tmp_path, DIFF, {"commits": ["a1 Add a"]}, age_s=5)
    put(tmp_path, LOOP, ENDED, age_s=5)
    assert traces(tmp_path) == Traces(missing=("commits",))


@each_row(
    "content",
    [
        *(b"", b"{", b"\xff\xfe", b"[]", b"null", b'"text"', b"[" * 100_000),
        *({"commits": None, "currentIteration": None}, {"commits": 7, "currentIteration": "x"}),
        {"commits": [None, 3, {"x": 1}], "currentIteration": 1e308, "lastResult": ["x"]},
        b'{"commits": [], "currentIteration": NaN, "maxIterations": -Infinity}',
        {"commits": [], "currentIteration": -3, "finalResult": "success", "status": []},
    ],
)
def test_whatever_stands_in_them_is_no_error(tmp_path: Path, content: object) -> None:
    put(tmp_path, DIFF, content)
    put(tmp_path, LOOP, content)
    found = traces(tmp_path)
    assert found.commits == ()
    for loop in found.loops:
        assert not loop.success
        assert 0 <= loop.iterations <= 1_000_000


def test_what_they_say_is_bounded_and_clean(tmp_path: Path) -> None:
    secret = "sk-" + "a1b2c3d4" * 4
    put(tmp_path, DIFF, {"commits": [f"{n:x} \x1b[31m{secret} {'x' * 900}" for n in range(999)]})
    put(tmp_path, LOOP, {**ENDED, "lastResult": f"\x1b]0;x\x07{secret} {'y' * 5000}"})
    found = traces(tmp_path)
    assert len(found.commits) == MAX_COMMITS
    (loop,) = found.loops
    for text in (found.commits[0], loop.words):
        assert len(text) <= 120
        assert "\x1b" not in text
        assert secret not in text


@each_row("way", ["fifo", "link", "folder", "huge"])
def test_what_is_no_plain_file_is_not_read(tmp_path: Path, way: str) -> None:
    elsewhere = put(tmp_path, "elsewhere.json", {**ENDED, "commits": ["a1 Add a"]})
    for name in (DIFF, LOOP):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match way:
            case "fifo":
                os.mkfifo(path)
            case "link":
                path.symlink_to(elsewhere)
            case "folder":
                path.mkdir()
            case "huge":
                path.write_bytes(b" " * (LARGEST + 1) + b"{}")
    assert traces(tmp_path) == Traces(missing=("commits",))
