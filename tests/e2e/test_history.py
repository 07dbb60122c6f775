"""The history commands: list, show, export and reflect, whatever the records contain."""

import json
import os
import shutil
import signal
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.events import ReflectionWritten, RunFinished, RunResumed
from tests.e2e.cli import GATE, ONE_MORE, here, project, start
from tests.e2e.shared import once
from tests.waiting import until

AGENT = ("--agent", "command", "--agent-command", ONE_MORE)
RECORDS = Path(".aiwg/ralph")
TASK = RECORDS / "tasks/task-001"


def two_tasks(folder: Path) -> None:
    """The first with two attempts: one at its limit, one completed."""
    root = folder / "project"
    root.mkdir()
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "start"]):
        subprocess.run(["git", *who, *command], cwd=root, check=True)
    project(root)
    task = ("Fix the failing checks", "-c", GATE, *AGENT)
    for more in (("--max-iterations", "2"), ()):
        here("run", *task, *more, cwd=root)
    for name in ("done-2.txt", "done-3.txt"):
        (root / name).unlink()
    here("run", "Document the checks", "-c", GATE, *AGENT, "--max-iterations", "1", cwd=root)


@pytest.fixture
def over(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """A copy of the files of real runs."""
    kept = once(tmp_path_factory, "two-tasks", two_tasks)
    return Path(shutil.copytree(kept / "project", tmp_path / "over", symlinks=True))


def history_output(*arguments: str, cwd: Path) -> str:
    done = here("history", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def value(*arguments: str, cwd: Path) -> Any:
    return json.loads(history_output(*arguments, "--json", cwd=cwd))


def files(root: Path) -> dict[str, bytes]:
    """Every projection, and the index without the time of its last check."""
    paths = [*(root / RECORDS / "tasks").rglob("*"), *(root / RECORDS / "index").glob("by-*")]
    kept = [p for p in paths if p.is_file() and "results" not in p.parts]
    return {str(path.relative_to(root)): path.read_bytes() for path in kept}


def test_tasks_attempts_and_one_attempt_are_told(over: Path) -> None:
    rows = history_output(cwd=over).splitlines()
    assert rows[2].split() == [
        *("task", "status", "attempts", "best", "iterations", "cost", "when", "description")
    ]
    assert rows[3].split()[:6] == ["task-001", "completed", "2", "100", "%", "4"]
    assert rows[3].endswith("Fix the failing checks")
    assert rows[4].startswith("task-002")
    task = history_output("task-001", cwd=over)
    assert [row.split()[:3] for row in task.splitlines()[-2:]] == [
        ["1", "limit", "reached"],
        ["2", "completed", "command"],
    ]
    assert "tags         bug-fix, docs" in task
    attempt = history_output("task-001", "--attempt", "2", cwd=over)
    for words in ("task-001/002\n", "Plan\napproach", "What worked\n", "1          75 %"):
        assert words in attempt
    assert attempt == history_output("task-001/002", cwd=over)


def test_as_json_what_is_not_known_is_left_out(over: Path) -> None:
    listed = value(cwd=over)
    assert [(row["task"], row["status"], row["attempts"]) for row in listed] == [
        ("task-001", "completed", 2),
        ("task-002", "failed", 1),
    ]
    assert "cost_usd" not in listed[0], "a command does not report its cost"
    task = value("task-001", cwd=over)
    assert [attempt["outcome"]["outcome"] for attempt in task["attempts"]] == [
        "limit_reached",
        "completed",
    ]
    assert value("task-001", "--attempt", "1", cwd=over) == task["attempts"][0]
    reflections = [one for attempt in task["attempts"] for one in attempt["reflections"]]
    assert value("task-001", "--reflections", cwd=over) == reflections


def test_a_history_is_exported_and_nothing_is_written_over(over: Path) -> None:
    whole = over / "history.json"
    assert here("history", "task-001", "--export", str(whole), cwd=over).returncode == 0
    assert json.loads(whole.read_text()) == value("task-001", cwd=over)
    again = here("history", "task-001", "--export", str(whole), cwd=over)
    assert (again.returncode, "--force" in again.stderr) == (2, True)
    page = over / "history.md"
    assert here("history", "task-001", "--export", str(page), cwd=over).returncode == 0
    for words in ("# task-001\n", "## task-001/001\n", "## task-001/002\n", "| 1 | 25 % |"):
        assert words in page.read_text()
    done = here("history", "task-001", "--export", str(over / "history.txt"), cwd=over)
    assert (done.returncode, ".json or .md" in done.stderr) == (2, True)
    assert not (over / "history.txt").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        *(("../../etc",), ("/etc",), ("task-009",), ("..",), (".",), ("",), ("task-001/009",)),
        *(("x" * 5000,), ("\x1b[31mred-1",), ("task-001", "--attempt", "9"), ("notes",)),
        *(
            ("--reflections",),
            ("--reflect", "x"),
            ("--attempt", "1"),
            ("task-001", "--reflect", ""),
        ),
        *(("task-001/002", "--attempt", "1"), ("task-001", "--export", "no/such/folder/x.md")),
        ("task-001", "--attempt", "-1"),
    ],
)
def test_what_is_not_there_is_one_sentence(over: Path, arguments: tuple[str, ...]) -> None:
    done = here("history", *arguments, cwd=over)
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("ralph-tui: ")
    assert len(line) < 300
    assert "\x1b" not in line


def test_where_nothing_was_recorded_that_is_said(tmp_path: Path) -> None:
    for arguments in ((), ("task-001",)):
        done = here("history", *arguments, cwd=tmp_path)
        assert (done.returncode, f"no task recorded in {tmp_path} yet" in done.stderr) == (2, True)
    assert value(cwd=tmp_path) == []
    assert not (tmp_path / ".aiwg").exists()


def test_half_written_and_foreign_folders_cost_themselves_alone(over: Path) -> None:
    tasks = over / RECORDS / "tasks"
    (tasks / "task-003/attempts/001").mkdir(parents=True)
    (tasks / "task-004").symlink_to(tasks / "task-001")
    (tasks / "notes.txt").write_text("mine")
    (tasks / "task-001/attempts/003").mkdir()
    (tasks / "task-001/attempts/001/attempt.json").write_bytes(b"\xff{garbage")
    (tasks / "task-002/metadata.json").unlink()
    assert [row["task"] for row in value(cwd=over)] == ["task-001", "task-002"]
    done = here("history", "task-001", cwd=over)
    assert done.returncode == 0
    assert done.stderr == (
        "ralph-tui: task-001/003 cannot be read; it has no record and no journal\n"
    )
    assert "limit reached" in done.stdout, "its journal says it"
    done = here("history", "task-003", cwd=over)
    assert (done.returncode, "task-003 cannot be read" in done.stderr) == (2, True)
    assert here("history", "task-004", cwd=over).returncode == 2


def test_an_attempt_of_a_newer_version_is_told_to_be_one(over: Path) -> None:
    journal = over / RECORDS / "tasks/task-001/attempts/001/events.jsonl"
    first, rest = journal.read_text().split("\n", 1)
    newer = json.dumps(json.loads(first) | {"schema_version": 99})
    journal.write_text(f"{newer}\n{rest}")
    done = here("history", "task-001", cwd=over)
    assert done.returncode == 0
    assert "task-001/001 was recorded by ralph-tui" in done.stderr
    assert "task-001/002" not in done.stderr
    assert "ralph-tui" not in here("history", "task-002", cwd=over).stderr


def test_what_an_agent_writes_into_the_records_reaches_no_terminal(over: Path) -> None:
    secret = "sk-" + "a1b2c3d4" * 4
    index = over / RECORDS / "index/tasks.json"
    history_output(cwd=over)
    for path in (index, over / TASK / "attempts/001/attempt.json"):
        text = path.read_text()
        path.write_text(text.replace("Fix the failing", f"\\u001b[31m{secret} Fix the failing"))
    shown = (
        history_output(cwd=over)
        + history_output("task-001", cwd=over)
        + history_output("task-001/001", cwd=over)
    )
    shown += json.dumps(value(cwd=over)) + json.dumps(value("task-001", cwd=over))
    assert "Fix the failing" in shown
    assert "\x1b" not in shown
    assert "u001b" not in shown
    assert secret not in shown


def test_a_reflection_by_hand_is_an_event_and_comes_back(over: Path) -> None:
    newest = here("status", "--json", cwd=over).stdout
    before = value("task-001", cwd=over)
    done = here("history", "task-001", "--attempt", "1", "--reflect", "Begin at 3", cwd=over)
    assert done.returncode == 0, done.stderr
    recording = read_journal(over / TASK / "attempts/001/events.jsonl")
    assert not recording.problem
    assert [event.seq for event in recording.events] == [*range(1, len(recording.events) + 1)]
    last = recording.events[-1]
    assert isinstance(last, ReflectionWritten)
    assert (last.attempt, last.triggered_by, last.learning) == (1, "manual", "Begin at 3")
    [reflection] = value("task-001", "--attempt", "1", "--reflections", cwd=over)[-1:]
    assert (reflection["learning"], reflection["reflection_type"]) == (
        "Begin at 3",
        "process-improvement",
    )
    after = value("task-001", cwd=over)
    assert after["attempts"][1] == before["attempts"][1]
    assert value(cwd=over)[0]["status"] == "completed", "an old attempt is not the current one"
    assert here("status", "--json", cwd=over).stdout == newest, "nor is its run the newest"
    whole = files(over)
    lines = [json.loads(line) for line in whole[f"{TASK}/reflections.jsonl"].splitlines()]
    assert {"version": "1.0.0", **reflection} in lines
    for name in whole:
        if not name.endswith("events.jsonl"):
            (over / name).unlink()
    assert here("rebuild", cwd=over).returncode == 0
    assert files(over) == whole


def test_on_a_journal_that_broke_off_it_is_written_behind_what_is_whole(over: Path) -> None:
    journal = over / TASK / "attempts/001/events.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-30])
    done = here("history", "task-001/001", "--reflect", "It died", cwd=over)
    assert done.returncode == 0, done.stderr
    recording = read_journal(journal)
    assert (recording.problem, recording.torn) == ("", False)
    assert recording.events[-1].seq == len(recording.events) == len(whole.splitlines())
    lines = journal.read_bytes().splitlines(keepends=True)
    damaged = b"".join([*lines[:9], b"garbage\n", *lines[10:]])
    journal.write_bytes(damaged)
    done = here("history", "task-001/001", "--reflect", "Too late", cwd=over)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "events.jsonl:10" in done.stderr
    assert journal.read_bytes() == damaged


def test_the_time_until_a_reflection_is_no_time_of_work(over: Path) -> None:
    """The run ended an hour ago; the user reflects on it and resumes it."""
    folder = over / RECORDS / "tasks/task-002/attempts/001"
    journal, lines = folder / "events.jsonl", list[bytes]()
    for event in read_journal(journal).events:
        earlier = event.model_copy(update={"at": event.at - timedelta(hours=1)})
        lines.append(earlier.model_dump_json().encode() + b"\n")
    journal.write_bytes(b"".join(lines))
    assert here("history", "task-002", "--reflect", "More", cwd=over).returncode == 0
    done = here("resume", "task-002", "--max-iterations", "2", cwd=over)
    assert done.returncode == 0, done.stdout + done.stderr
    kinds = {event.kind: event for event in read_journal(journal).events}
    resumed, finished = kinds["run_resumed"], kinds["run_finished"]
    assert isinstance(resumed, RunResumed)
    assert resumed.away_s > 3600
    assert isinstance(finished, RunFinished)
    assert finished.duration_s < 600
    [last] = value("task-002", cwd=over)["attempts"]
    assert "More" in [one["learning"] for one in last["reflections"]]


def test_the_files_follow_a_live_run_and_rebuild_mends_a_killed_one(git_repo: Path) -> None:
    work = "cat >/dev/null; rm -f go; until [ -e go ]; do sleep 0.02; done"
    agent = ("--agent", "command", "--agent-command", work)
    task = git_repo / RECORDS / "tasks/task-001"

    def known(path: Path) -> Any:
        return json.loads(path.read_text())

    def has_status(word: str) -> bool:
        found = {
            known(task / "metadata.json")["status"],
            known(task / "attempts/001/attempt.json")["status"],
            *known(git_repo / RECORDS / "index/by-status.json"),
        }
        return found == {word, "version"}

    with start("run", "x", "-c", "false", *agent, "--json", cwd=git_repo) as process:
        assert process.stdout is not None
        while "session_started" not in process.stdout.readline():
            pass
        plan = known(task / "attempts/001/attempt.json")["plan"]["approach"]
        assert plan in (task / "attempts/001/plan.md").read_text()
        assert here("pause", cwd=git_repo).returncode == 0
        (git_repo / "go").touch()
        until(lambda: has_status("paused"))
        assert here("unpause", cwd=git_repo).returncode == 0
        until(lambda: has_status("running"))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert has_status("running")
    assert here("rebuild", cwd=git_repo).returncode == 0
    assert has_status("failed")
    assert value(cwd=git_repo)[0]["status"] == "died"
    assert "died" in history_output("task-001", cwd=git_repo)


def test_a_living_run_writes_it_itself(git_repo: Path) -> None:
    first = ("--agent", "command", "--agent-command", "cat > /dev/null")
    done = here("run", "y", "-c", "false", *first, "--max-iterations", "1", cwd=git_repo)
    assert done.returncode == 3, done.stderr
    agent = ("--agent", "command", "--agent-command", "echo works; cat; sleep 60")
    with start("run", "x", "-c", "false", *agent, "--json", cwd=git_repo) as process:
        assert process.stdout is not None
        while "session_started" not in process.stdout.readline():
            pass
        assert value(cwd=git_repo)[1]["status"] == "running"
        # Nothing has happened since, but the run still works.
        record = git_repo / RECORDS / "tasks/task-002/attempts/001/attempt.json"
        recorded = json.loads(record.read_text())["execution"]["duration_s"]
        assert value("task-002/001", cwd=git_repo)["execution"]["duration_s"] > recorded
        done = here("history", "task-002", "--reflect", "Mind the gap", cwd=git_repo)
        other = here("history", "task-001", "--reflect", "Mind the gap", cwd=git_repo)
        process.send_signal(signal.SIGINT)
        events = [json.loads(line) for line in process.stdout.read().splitlines()]
    assert done.returncode == 0, done.stderr
    [said] = [e for e in events if e["kind"] == "reflection_written" and "gap" in e["learning"]]
    assert (said["attempt"], said["triggered_by"]) == (1, "manual")
    assert other.returncode == 2
    assert "task-002/001" in other.stderr, "it owns the worktree"
    assert "Mind the gap" in history_output("task-002", "--reflections", cwd=git_repo)
    assert "Mind the gap" not in history_output("task-001", "--reflections", cwd=git_repo)


def test_a_run_whose_process_is_gone_is_called_dead(git_repo: Path) -> None:
    agent = ("--agent", "command", "--agent-command", "echo works; cat; sleep 60")
    with start("run", "x", "-c", "false", *agent, "--json", cwd=git_repo) as process:
        assert process.stdout is not None
        while "session_started" not in process.stdout.readline():
            pass
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    [row] = value(cwd=git_repo)
    assert (row["status"], row["iterations"]) == ("died", 1), "the open iteration counts"
    assert "died" in history_output("task-001", cwd=git_repo)
    assert "died" in history_output("task-001/001", cwd=git_repo)
    assert value("task-001", cwd=git_repo)["attempts"][0]["execution"]["iterations"] == 1
    assert "iteration   1 of " in here("status", cwd=git_repo).stdout


def test_a_run_that_was_killed_while_silent_has_lasted_equally_long_everywhere(over: Path) -> None:
    """Its last event is old; the status file was written until the kill."""
    attempt = over / ".aiwg/ralph/tasks/task-002/attempts/001"
    journal = attempt / "events.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    n = next(n for n, line in enumerate(lines) if b'"session_started"' in line)
    lines[0] = json.dumps(json.loads(lines[0]) | {"root": str(over)}).encode() + b"\n"
    journal.write_bytes(b"".join(lines[: n + 1]))
    (attempt / "attempt.json").unlink()
    assert here("rebuild", cwd=over).returncode == 0
    status = json.loads((attempt / "status.json").read_text())
    (attempt / "status.json").write_text(json.dumps(status | {"silent_s": 2040.0}))
    assert "\ntime        34m" in here("status", "--run", "task-002", cwd=over).stdout
    assert "\n- Time: 34m" in here("report", "task-002", "--full", cwd=over).stdout
    assert "\n- 1 session, 34m" in here("report", "task-002", "--full", cwd=over).stdout
    assert "\ntime         34m" in history_output("task-002/001", cwd=over)


def test_a_task_at_its_limit_is_called_so_in_every_list(over: Path) -> None:
    listed = history_output(cwd=over)
    (row,) = [line for line in listed.splitlines() if line.startswith("task-002")]
    assert " limit reached " in row
    assert "failed" not in row
    assert "limit reached" in here("status", "task-002", cwd=over).stdout
    (task,) = [each for each in value(cwd=over) if each["task"] == "task-002"]
    assert (task["status"], task["last_outcome"]) == ("failed", "limit_reached")


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize(("outcome", "word"), [("interrupted", "stopped"), ("aborted", "aborted")])
def test_a_stopped_and_an_aborted_task_are_called_so_in_every_list(
    over: Path, outcome: str, word: str, *, older: bool
) -> None:
    folder = over / RECORDS / "tasks/task-002"
    journal = folder / "attempts/001/events.jsonl"
    journal.write_text(
        journal.read_text().replace('"outcome":"limit_reached"', f'"outcome":"{outcome}"')
    )
    assert here("rebuild", cwd=over).returncode == 0
    if older:
        summary = folder / "summary.json"
        fields = json.loads(summary.read_text()) | {"last_outcome": "failure"}
        summary.write_text(json.dumps(fields))
        (over / RECORDS / "index/tasks.json").unlink()

    (row,) = [line for line in history_output(cwd=over).splitlines() if line.startswith("task-002")]
    assert row.split()[1] == word
    assert history_output("task-002", cwd=over).splitlines()[-1].split()[1] == word
    assert f"state        {word}" in history_output("task-002/001", cwd=over)
    (task,) = [each for each in value(cwd=over) if each["task"] == "task-002"]
    assert (task["status"], task["last_outcome"]) == ("failed", outcome)


def test_where_only_a_fleet_ran_every_look_back_leads_to_it(git_repo: Path) -> None:
    folder = git_repo / RECORDS / "fleets/fleet-001"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text("{}\n")

    assert "has only fleet runs (fleet-001)" in here("history", cwd=git_repo).stderr
    assert "has only fleet runs (fleet-001)" in here("history", "task-001", cwd=git_repo).stderr
    assert "has only fleet runs (fleet-001)" in here("search", "tests", cwd=git_repo).stdout
    assert "ralph-tui fleet prune" in here("prune", cwd=git_repo).stdout
    assert "has only fleet runs (fleet-001)" in here(cwd=git_repo).stdout


def test_the_list_is_filtered_by_status_agent_time_and_tag(over: Path) -> None:
    def listed(*filters: str) -> list[str]:
        return [row["task"] for row in value(*filters, cwd=over)]

    assert listed() == listed("--agent", "command") == ["task-001", "task-002"]
    assert listed("--status", "completed") == ["task-001"]
    assert listed("--status", "limit reached") == listed("--status", "failed") == ["task-002"]
    assert listed("--status", "stopped") == []
    assert listed("--tag", "documentation") == ["task-002"]
    assert listed("--since", "1d", "--status", "failed") == ["task-002"]
    assert listed("--since", "2999-01-01") == listed("--agent", "nobody") == []
    for wrong in (("--since", "yore"), ("--tag", "none"), ("task-001", "--tag", "x")):
        done = here("history", *wrong, cwd=over)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
