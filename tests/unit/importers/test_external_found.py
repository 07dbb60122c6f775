"""External runs: which exist, their names, and the iterations of each."""

import json
from pathlib import Path

from ralph_tui import events as ev
from ralph_tui.state import RunState
from tests.foreign import (
    BEGAN,
    INIT,
    LOOP,
    External,
    at,
    entry,
    find_imported,
    of_kind,
    read_imported,
    read_run,
    row_of,
    spoke,
)
from tests.rows import each_row

OTHER = "ffffffff-0000-4000-8000-000000000002"


def test_a_project_without_such_records_has_no_runs(tmp_path: Path) -> None:
    assert find_imported(tmp_path) == []
    (tmp_path / ".aiwg" / "ralph-external").mkdir(parents=True)
    assert find_imported(tmp_path) == []


def test_a_run_is_named_by_the_first_eight_of_its_id(tmp_path: Path) -> None:
    External(tmp_path).state(entry(1, 10))
    run, recording, state = read_run(tmp_path)
    assert run.name == "aiwg/0a1b2c3d"
    assert recording.path == tmp_path / ".aiwg/ralph-external/session-state.json"
    assert state.run.started is not None
    assert (state.run.started.task, state.run.started.attempt) == ("aiwg", "0a1b2c3d")


@each_row("loop", ["../../etc", "a/b", "", None, 7, "ünïcødé"])
def test_an_id_that_is_no_name_gives_way_to_one(loop: object, tmp_path: Path) -> None:
    External(tmp_path).state(entry(1, 10), loopId=loop)
    run, _, _ = read_run(tmp_path)
    short = run.name.removeprefix("aiwg/")
    assert len(short) == 8
    assert short.isalnum()


def test_a_folder_for_each_iteration_is_form_b(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10))
    assert read_run(tmp_path)[0].form == "C"
    foreign.write("outputs/session-transcript.jsonl", "")
    assert read_run(tmp_path)[0].form == "A"
    foreign.write("iterations/001/snapshot-diff.json", {})
    assert read_run(tmp_path)[0].form == "B"


def test_of_state_and_copy_the_longer_iterations_count_and_all_else_of_the_state(
    tmp_path: Path,
) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10), status="failed")
    foreign.state(entry(1, 10), entry(2, 20), name="session-state.json.bak", status="running")
    _, _, state = read_run(tmp_path)
    assert state.run.completions == [10, 20]
    assert state.run.finished is not None
    assert state.run.finished.outcome == "failed"


def test_the_copy_of_another_run_counts_for_nothing(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10))
    foreign.state(entry(1, 10), entry(2, 20), name="session-state.json.bak", loopId=OTHER)
    assert read_run(tmp_path)[2].run.completions == [10]


@each_row("broken", ["", "{", "[]", "\0\0"])
def test_a_broken_state_gives_way_to_its_copy_and_is_told(broken: str, tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.write("session-state.json", broken)
    foreign.state(entry(1, 10), entry(2, 20), name="session-state.json.bak")
    run, recording, state = read_run(tmp_path)
    assert run.name == "aiwg/0a1b2c3d"
    assert state.run.completions == [10, 20]
    notes = [event.text for event in of_kind(recording, ev.Noticed) if event.source == "aiwg"]
    assert any(note.startswith("session-state.json cannot be used: ") for note in notes)
    assert recording.problem


def test_nothing_ran_and_still_it_replays(tmp_path: Path) -> None:
    External(tmp_path).state(status="running", currentIteration=0)
    run, recording, state = read_run(tmp_path)
    assert run.form == "D"
    assert [event.kind for event in recording.events] == ["run_started", "noticed"]
    assert of_kind(recording, ev.Noticed)[0].text == "no iteration was recorded"
    assert state.run.finished is None
    assert row_of(run).status == "died"


def test_a_stub_of_a_list_is_no_run_and_gives_the_run_its_name_and_end(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10), status="running")
    foreign.state(
        name="archive/fix-it-1a2b3c4d/session-state.json", loopId="fix-it-1a2b3c4d",
        startTime=at(0.01), status="aborted", currentPid=77,
    )  # fmt: skip
    run, _, state = read_run(tmp_path)
    assert run.slug == "fix-it-1a2b3c4d"
    assert state.run.finished is not None
    assert state.run.finished.outcome == "aborted"
    assert state.run.started is not None
    assert state.run.started.pid == 77
    assert row_of(run).status == "aborted"


@each_row("fields", [{"startTime": at(0.1)}, {"objective": "Something else"}])
def test_a_stub_of_another_run_gives_nothing(fields: dict[str, str], tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10), status="running")
    stub = {"loopId": "x-1a2b3c4d", "startTime": at(0), "status": "aborted", **fields}
    foreign.state(name="archive/x/session-state.json", **stub)
    run, _, state = read_run(tmp_path)
    assert run.slug == ""
    assert state.run.finished is None


def test_a_listed_loop_with_iterations_is_a_run_with_files_of_its_own(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10))
    listed = External(tmp_path, ".aiwg/ralph-external/loops/other")
    listed.state(entry(1, 70), loopId=OTHER)
    listed.prompt(1, "other\n")
    runs = {run.name: run for run in find_imported(tmp_path)}
    assert set(runs) == {"aiwg/0a1b2c3d", "aiwg/ffffffff"}
    recording = read_imported(runs["aiwg/ffffffff"])
    assert of_kind(recording, ev.PromptPrepared)[0].path == "prompts/001-prompt.md"
    assert recording.path.parent == listed.folder


def test_two_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    External(tmp_path).state(entry(1, 10))
    External(tmp_path, ".aiwg/ralph-external/loops/x").state(entry(1, 20), loopId=LOOP[:-1] + "9")
    assert [run.name for run in find_imported(tmp_path)] == ["aiwg/0a1b2c3d", "aiwg/0a1b2c3d-2"]


def test_analytics_of_an_earlier_run_are_a_run(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10))
    for loop, quality in ((LOOP, 10), (OTHER, 55)):
        rows = [
            {"iteration_number": k, "timestamp": at(10 * k), "quality_score": quality,
             "execution_time_ms": 60_000, "verification_status": "failed", "reflections": ["try"]}
            for k in (1, 2)
        ]  # fmt: skip
        about = {"loop_id": loop, "task_description": "Fix it", "start_time": at(0),
                 "end_time": at(10), "iterations": rows, "selected_iteration": 2}  # fmt: skip
        foreign.write(f"analytics/{loop}.json", about)
    run = next(run for run in find_imported(tmp_path) if run.form == "F")
    assert len(find_imported(tmp_path)) == 2
    assert run.name == "aiwg/ffffffff"
    recording = read_imported(run)
    state = RunState().apply_all(recording.events)
    assert state.run.completions == [55, 55]
    assert state.run.finished is None
    ends = [event.at.isoformat() for event in of_kind(recording, ev.IterationFinished)]
    assert ends == [at(10).replace("Z", "+00:00"), at(20).replace("Z", "+00:00")]
    starts = [event.at.isoformat() for event in of_kind(recording, ev.IterationStarted)]
    assert starts == [at(9).replace("Z", "+00:00"), at(19).replace("Z", "+00:00")]
    row = row_of(run)
    assert (row.iterations, row.completions, row.objective) == (2, (0.55, 0.55), "Fix it")
    assert of_kind(recording, ev.AlarmRaised) == [], "its limit of iterations is not known"
    assert state.oversight.interventions == []


def test_a_stub_tells_how_an_earlier_run_ended_and_its_limit(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10))
    rows = [{"iteration_number": k, "timestamp": at(k), "quality_score": 5} for k in (1, 2)]
    about = {"loop_id": OTHER, "task_description": "Old", "start_time": at(0), "iterations": rows}
    foreign.write(f"analytics/{OTHER}.json", about)
    foreign.state(
        name="archive/old-1a2b3c4d/session-state.json", loopId="old-1a2b3c4d", objective="Old",
        startTime=at(0.01), lastUpdate=at(9), status="failed", maxIterations=2,
    )  # fmt: skip
    run = next(run for run in find_imported(tmp_path) if run.form == "F")
    recording = read_imported(run)
    assert [e.outcome for e in of_kind(recording, ev.RunFinished)] == ["failed"]
    assert (row_of(run).status, row_of(run).max_iterations, run.slug) == (
        "failed", 2, "old-1a2b3c4d",
    )  # fmt: skip
    assert [e.alarm for e in of_kind(recording, ev.AlarmRaised)] == ["BUDGET_EXCEEDED"]


def test_without_a_state_what_lies_beside_it_is_told(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.write("session-state.json", "{broken")
    foreign.write("analysis/001-analysis.json", {"completionPercentage": 30})
    foreign.prompt(1)
    foreign.prompt(2)
    about = {"loop_id": LOOP, "task_description": "Fix it", "start_time": at(0), "iterations": []}
    foreign.write(f"analytics/{LOOP}.json", about)
    run, recording, state = read_run(tmp_path)
    assert run.name == "aiwg/0a1b2c3d"
    assert state.run.started is not None
    assert state.run.started.objective == "Fix it"
    assert state.run.completions == [30]
    ends = of_kind(recording, ev.IterationFinished)
    assert [event.status for event in ends] == ["incomplete", "interrupted"]


# -- which iterations ------------------------------------------------------------------------------


def iterations(project: Path) -> list[tuple[int, str, bool]]:
    """Number and status of each, and whether it was measured."""
    _, recording, state = read_run(project)
    read = {reading.iteration for reading in state.gate.readings}
    return [
        (event.iteration, event.status, event.iteration in read)
        for event in of_kind(recording, ev.IterationFinished)
    ]


def test_missing_numbers_are_iterations_that_crashed(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(*(entry(k, 10 * k) for k in (1, 2, 4, 5)))
    foreign.prompt(3)
    foreign.printed(3, INIT, spoke("I begin"))
    assert iterations(tmp_path) == [
        (1, "incomplete", True), (2, "incomplete", True), (3, "interrupted", False),
        (4, "incomplete", True), (5, "incomplete", True),
    ]  # fmt: skip
    _, recording, state = read_run(tmp_path)
    assert state.run.completions == [10, 20, 40, 50]
    assert [event.iteration for event in of_kind(recording, ev.PromptPrepared)] == [3]
    (end,) = of_kind(recording, ev.SessionFinished)
    assert (end.iteration, end.outcome) == (3, "crashed")


def test_an_iteration_above_the_last_crashed_and_files_above_that_are_of_another_run(
    tmp_path: Path,
) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10), currentIteration=2, status="running")
    for number in (1, 2, 3, 4):
        foreign.prompt(number)
    assert iterations(tmp_path) == [(1, "incomplete", True), (2, "interrupted", False)]


def test_the_order_is_that_of_the_file(tmp_path: Path) -> None:
    External(tmp_path).state(entry(1, 10), entry(3, 30), entry(2, 20))
    _, recording, state = read_run(tmp_path)
    assert state.run.completions == [10, 30, 20]
    numbers = [event.iteration for event in of_kind(recording, ev.IterationStarted)]
    assert numbers == sorted(numbers)
    assert any("as iteration 2" in event.text for event in of_kind(recording, ev.Noticed))


def test_a_number_twice_is_one_iteration_with_an_event_more(tmp_path: Path) -> None:
    failed = entry(2, None, status="error", exitCode=-1, duration=0, analysis={"error": "no JSON"})
    External(tmp_path).state(entry(1, 10), entry(2, 20), failed, entry(3, 30))
    assert iterations(tmp_path) == [(k, "incomplete", True) for k in (1, 2, 3)]
    _, recording, state = read_run(tmp_path)
    assert state.run.completions == [10, 20, 30]
    notes = [event.text for event in of_kind(recording, ev.Noticed)]
    assert notes == ["aiwg recorded iteration 2 again: error, no JSON"]
    (run,) = find_imported(tmp_path)
    assert row_of(run).completions == (0.1, 0.2, 0.3)


def test_numbers_of_two_sessions_are_two_loops(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    rows = [entry(2, 90, sessionId="old"), *(entry(k, 10 * k, sessionId="new") for k in (1, 2, 3))]
    foreign.state(*rows, sessionId="new")
    foreign.prompt(2)
    runs = {run.session: run for run in find_imported(tmp_path)}
    assert set(runs) == {"", "old"}
    own = RunState().apply_all(read_imported(runs[""]).events)
    assert own.run.completions == [10, 20, 30]
    other = read_imported(runs["old"])
    assert RunState().apply_all(other.events).run.completions == [90]
    assert of_kind(other, ev.PromptPrepared) == [], "the files there are the later loop's"
    row = row_of(runs["old"])
    assert (row.completions, row.status, row.started) == ((0.9,), "died", None)
    assert row.updated == BEGAN == other.events[-1].at, "it was over when the later one began"


def test_a_session_for_each_iteration_is_one_loop(tmp_path: Path) -> None:
    External(tmp_path).state(*(entry(k, 10 * k, sessionId=f"s{k}") for k in (1, 2, 3)))
    assert read_run(tmp_path)[2].run.completions == [10, 20, 30]


def test_a_number_beyond_all_counting_makes_no_iterations(tmp_path: Path) -> None:
    External(tmp_path).state(entry(1, 10), entry(90_000, 20), currentIteration=10**30)
    assert [number for number, _, _ in iterations(tmp_path)] == [1, 90_000]


def test_states_written_with_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    path = foreign.state(entry(1, 10))
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(json.loads(path.read_text())).encode())
    assert read_run(tmp_path)[2].run.completions == [10]
