"""Loops within a session and those that a hook records: every reading rule."""

import json
import os
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.journal import Recording
from ralph_tui.events import IterationFinished, IterationStarted, Noticed, RunFinished
from ralph_tui.importers.records import ImportedRun
from ralph_tui.state import RunState
from tests.foreign import find_imported, imported_at, read_imported, row_of, unpacked
from tests.rows import each_row

START = "2026-11-20T08:00:00.000Z"


def entry(
    number: int | None, minute: int | None, *, verified: bool = False, **more: Any
) -> dict[str, Any]:
    at = None if minute is None else f"2026-11-20T08:{minute:02}:00.000Z"
    fields = {
        "number": number, "timestamp": at, "action": f"did {number}", "result": "one fails",
        "verified": verified, "learnings": f"learned {number}", "duration_ms": 60_000,
    }  # fmt: skip
    return {name: value for name, value in (fields | more).items() if value is not None}


def hooked(root: Path, *entries: dict[str, Any], **fields: Any) -> ImportedRun:
    """A loop recorded by a hook."""
    folder = root / ".aiwg" / "ralph"
    (folder / "iterations").mkdir(parents=True, exist_ok=True)
    state = {"active": False, "task": "Fix it", "completion": "make test", "maxIterations": 9,
             "timeoutMinutes": 60, "currentIteration": len(entries), "startTime": START,
             "iterations": list(entries), "status": "success",
             "endTime": "2026-11-20T08:59:00.000Z"}  # fmt: skip
    (folder / "current-loop.json").write_text(json.dumps(state | fields))
    (run,) = find_imported(root)
    return run


def filed(root: Path, number: int, **fields: Any) -> None:
    """The file of one iteration, which has neither its number nor a time."""
    path = root / ".aiwg" / "ralph" / "iterations" / f"iteration-{number}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(fields))


def folded(recording: Recording) -> RunState:
    return RunState().apply_all(recording.events)


def numbers(recording: Recording) -> list[int]:
    return [event.iteration for event in recording.events if isinstance(event, IterationStarted)]


def finished(recording: Recording) -> dict[int, IterationFinished]:
    return {e.iteration: e for e in recording.events if isinstance(e, IterationFinished)}


def minutes(recording: Recording) -> list[tuple[float, float]]:
    """Start and end of each iteration, in minutes after the hour."""
    began = [e.at for e in recording.events if isinstance(e, IterationStarted)]
    ended = [e.at for e in recording.events if isinstance(e, IterationFinished)]
    return [(_minute(a), _minute(b)) for a, b in zip(began, ended, strict=True)]


def _minute(at: datetime) -> float:
    return round(at.minute + at.second / 60, 1)


def test_the_sample_of_a_hook_says_what_its_file_says(tmp_path: Path) -> None:
    (run,) = find_imported(unpacked("internal-hook", tmp_path))
    recording = read_imported(run)
    state = folded(recording)
    assert run.form == "H"
    assert recording.problem == ""
    started, end = state.run.started, state.run.finished
    assert started is not None
    assert end is not None
    assert (started.objective, started.criterion) == ("Fix auth tests", "npm test passes")
    assert (started.max_iterations, started.session_timeout_s) == (10, 3600)
    assert started.imported == "aiwg, form H"
    assert state.run.completions == [0, 100]
    assert [reading.held for reading in state.gate.readings] == [True, False]
    assert (end.outcome, end.iterations, end.completion) == ("completed", 2, 100)
    assert [finished(recording)[k].status for k in (1, 2)] == ["incomplete", "completed"]
    assert state.agent.report is not None
    assert state.agent.report.summary == "Fixed date mock: all pass"
    assert state.agent.report.learnings == ["Mock Date"]
    row = row_of(run)
    assert (row.status, row.iterations, row.completions) == ("completed", 2, (0.0, 1.0))
    said = [e.text for e in recording.events if isinstance(e, Noticed)]
    assert said == ["its own report is in completion-2026-11-20T08-46-44.md"]


def test_what_an_agent_says_it_took_never_reaches_behind_the_end_before(tmp_path: Path) -> None:
    """42 and 30 seconds, in a loop of half a second."""
    (run,) = find_imported(unpacked("internal-hook", tmp_path))
    recording = read_imported(run)
    times = [event.at for event in recording.events]
    assert times == sorted(times)
    assert [round(finished(recording)[k].duration_s, 3) for k in (1, 2)] == [0.172, 0.165]
    end = recording.events[-1]
    assert isinstance(end, RunFinished)
    assert end.duration_s == pytest.approx(0.502)


def test_the_sample_of_the_command_line_replays_without_an_iteration(tmp_path: Path) -> None:
    (run,) = find_imported(unpacked("internal-cli", tmp_path))
    recording = read_imported(run)
    assert (run.name, run.form) == ("aiwg/fb1bb8af", "G")
    assert [e.kind for e in recording.events] == ["run_started", "noticed", "run_finished"]
    (notices,) = [e.text for e in recording.events if isinstance(e, Noticed)]
    assert notices == "no iteration was recorded"
    end = recording.events[-1]
    assert isinstance(end, RunFinished)
    assert end.outcome == "aborted"
    row = row_of(run)
    assert (row.objective, row.status) == ("Fix all failing tests", "aborted")


@each_row(
    ("fields", "outcome"),
    [
        ({"status": "success"}, "completed"),
        ({"status": "max_iterations"}, "limit_reached"),
        ({"status": "timeout"}, "limit_reached"),
        ({"status": "aborted"}, "aborted"),
        ({"status": "failed"}, "failed"),
        ({"status": "paused", "active": True}, "interrupted"),
        ({"status": "running", "active": True}, None),
        ({"status": "running", "active": False}, "aborted"),
        ({"status": "running", "active": False, "completed": True}, "completed"),
        ({"status": "the moon is wrong", "active": False}, "failed"),
        ({"status": 7, "active": "yes"}, None),
    ],
)
def test_how_it_ended(tmp_path: Path, fields: dict[str, Any], outcome: str | None) -> None:
    run = hooked(tmp_path, entry(1, 5), **fields)
    recording = read_imported(run)
    end = recording.events[-1]
    assert (end.outcome if isinstance(end, RunFinished) else None) == outcome
    assert row_of(run).status == (outcome or "died")
    if fields["status"] == "the moon is wrong":
        assert isinstance(end, RunFinished)
        assert end.reason == "the moon is wrong"


def test_numbers_that_are_missing_were_cut_off(tmp_path: Path) -> None:
    run = hooked(
        tmp_path, entry(1, 5), entry(2, 10), entry(4, 20), status="running", active=True,
        currentIteration=5, endTime=None,
    )  # fmt: skip
    recording = read_imported(run)
    assert numbers(recording) == [1, 2, 3, 4, 5]
    statuses = {k: event.status for k, event in finished(recording).items()}
    assert statuses[3] == statuses[5] == "interrupted"
    assert [reading.iteration for reading in folded(recording).gate.readings] == [1, 2, 4]


def test_a_number_alone_makes_no_hundred_thousand_iterations(tmp_path: Path) -> None:
    recording = read_imported(hooked(tmp_path, entry(1, 5), entry(99_999, 10)))
    assert len(numbers(recording)) < 1100
    assert numbers(recording)[-1] == 99_999
    recording = read_imported(hooked(tmp_path, currentIteration=99_999))
    assert numbers(recording) == []


def test_the_file_of_an_iteration_stands_in_where_the_list_lacks_it(tmp_path: Path) -> None:
    """As when the list is lost; files above the current number belong to an older loop."""
    filed(tmp_path, 1, action="began", result="half", verified=False)
    filed(tmp_path, 2, action="continued", result="all pass", verified=True, learnings="mock it")
    filed(tmp_path, 7, action="an older loop's", result="?", verified=True)
    recording = read_imported(hooked(tmp_path, currentIteration=2))
    assert numbers(recording) == [1, 2]
    state = folded(recording)
    assert state.run.completions == [0, 100]
    assert state.agent.report is not None
    assert state.agent.report.learnings == ["mock it"]
    assert minutes(recording) == [(0.0, 19.7), (19.7, 39.3)]


def test_times_that_are_not_known_lie_between_those_that_are(tmp_path: Path) -> None:
    run = hooked(
        tmp_path, entry(1, 10, duration_ms=None), entry(2, None, duration_ms=None),
        entry(3, 30, duration_ms=300_000), entry(4, 25, duration_ms=None),
    )  # fmt: skip
    assert minutes(read_imported(run)) == [(0.0, 10.0), (10.0, 20.0), (25.0, 30.0), (30.0, 30.0)]


def test_times_as_milliseconds_count_where_the_others_are_no_times(tmp_path: Path) -> None:
    run = hooked(
        tmp_path, entry(1, 5), startTime="yesterday", startTimestamp=1_795_161_600_000,
        endTime=None, endTimestamp=1_795_165_140_000,
    )  # fmt: skip
    row = row_of(run)
    assert row.started == datetime.fromisoformat("2026-11-20T08:00:00Z")
    assert row.updated == datetime.fromisoformat("2026-11-20T08:59:00Z")
    assert read_imported(run).events[0].at == row.started


def test_a_number_that_comes_twice_is_one_iteration(tmp_path: Path) -> None:
    recording = read_imported(
        hooked(tmp_path, entry(1, 5), entry(2, 10), entry(2, 12, verified=True))
    )
    assert numbers(recording) == [1, 2]
    assert folded(recording).run.completions == [0, 0]


def test_a_loop_that_was_archived_is_a_run(tmp_path: Path) -> None:
    root = unpacked("internal-cli", tmp_path)
    (root / ".aiwg/ralph/archive").mkdir(exist_ok=True)
    (loop,) = (root / ".aiwg/ralph/loops").iterdir()
    shutil.move(loop, root / ".aiwg/ralph/archive" / loop.name)
    (run,) = find_imported(root)
    assert run.name == "aiwg/fb1bb8af"


@each_row("content", [b"", b"{", b"[]", b"\xff\xfe", b'"x"', None])
def test_the_list_of_loops_says_what_a_damaged_file_does_not(
    tmp_path: Path, content: bytes | None
) -> None:
    root = unpacked("internal-cli", tmp_path)
    (state,) = (root / ".aiwg/ralph/loops").rglob("state.json")
    if content is None:
        state.unlink()
    else:
        state.write_bytes(content)
    (run,) = find_imported(root)
    recording = read_imported(run)
    assert row_of(run).objective == "Fix all failing tests"
    assert folded(recording).run.max_iterations == 10
    if content is not None:
        assert "1 file of this run cannot be used" in recording.problem
        assert any(
            "state.json cannot be used" in e.text
            for e in recording.events
            if isinstance(e, Noticed)
        )


def test_a_damaged_loop_that_nothing_lists_has_the_name_of_its_folder(tmp_path: Path) -> None:
    root = unpacked("internal-cli", tmp_path)
    (state,) = (root / ".aiwg/ralph/loops").rglob("state.json")
    state.write_text("{")
    (root / ".aiwg/ralph/registry.json").write_text("")
    (run,) = find_imported(root)
    recording = read_imported(run)
    assert row_of(run).objective == "ralph-fix-all-failing-tests-fb1bb8af"
    assert "2 files of this run cannot be used" in recording.problem


@each_row("content", [b"", b"{", b"[]", b"null", b'{"iterations": "none"}'])
def test_a_damaged_loop_of_a_hook_is_told_from_the_files_beside_it(
    tmp_path: Path, content: bytes
) -> None:
    root = unpacked("internal-hook", tmp_path)
    (root / ".aiwg/ralph/current-loop.json").write_bytes(content)
    (run,) = find_imported(root)
    recording = read_imported(run)
    assert numbers(recording) == [1, 2]
    assert row_of(run).status == "died"
    assert bool(recording.problem) is not content.startswith(b'{"')


WRONG: tuple[Any, ...] = (
    None,
    1,
    -1,
    1e300,
    True,
    "x",
    "",
    [],
    [1],
    {},
    {"a": None},
    "\x1b[31m",
    "9" * 5000,
)


@each_row("value", WRONG)
def test_a_field_of_any_other_type_costs_itself(tmp_path: Path, value: Any) -> None:
    names = {
        *entry(1, 1), "endTime", "startTime", "status", "iterations", "currentIteration",
        "maxIterations", "timeoutMinutes", "task", "completion", "active", "finalResult",
    }  # fmt: skip
    for name in sorted(names):
        run = hooked(tmp_path, entry(1, 5), entry(2, 10) | {name: value}, **{name: value})
        recording = read_imported(run)
        row = row_of(run)
        assert recording.events[0].kind == "run_started"
        assert "\x1b" not in row.objective
        folded(recording)


def test_a_run_is_found_by_its_file_its_folder_and_below_another_name(tmp_path: Path) -> None:
    cli, hook = unpacked("internal-cli", tmp_path), unpacked("internal-hook", tmp_path)
    (state,) = (cli / ".aiwg/ralph/loops").rglob("state.json")
    for path in (state, state.parent, cli / ".aiwg/ralph", cli / ".aiwg/ralph/loops"):
        found = imported_at(path)
        assert found is not None, path
        assert found.path == state
    copied = tmp_path / "copied"
    shutil.copytree(hook / ".aiwg" / "ralph", copied)
    for path in (copied, copied / "current-loop.json", copied / "iterations" / "iteration-1.json"):
        found = imported_at(path)
        assert found is not None, path
        assert found.path == copied / "current-loop.json"
        assert folded(read_imported(found)).run.completions == [0, 100]
    assert imported_at(tmp_path / "elsewhere") is None
    assert imported_at(cli) is None


def test_what_is_no_plain_file_is_not_opened(tmp_path: Path) -> None:
    root = unpacked("internal-hook", tmp_path)
    (root / "outside.json").write_text('{"action": "SECRET"}')
    iteration = root / ".aiwg/ralph/iterations/iteration-2.json"
    iteration.unlink()
    os.mkfifo(iteration)
    (root / ".aiwg/ralph/iterations/iteration-1.json").unlink()
    (root / ".aiwg/ralph/iterations/iteration-1.json").symlink_to(root / "outside.json")
    (root / ".aiwg/ralph/current-loop.json").write_text("{}")
    (run,) = find_imported(root)
    assert "SECRET" not in "".join(event.model_dump_json() for event in read_imported(run).events)
    (root / ".aiwg/ralph/current-loop.json").unlink()
    os.mkfifo(root / ".aiwg/ralph/current-loop.json")
    assert find_imported(root) == []
