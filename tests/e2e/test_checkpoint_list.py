"""``ralph-tui checkpoint list``, and what `status` and a resume say of the last checkpoint."""

import json
import signal
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.events import CheckpointCaptured
from ralph_tui.text.format import duration
from tests.e2e.cli import GATE, ONE_MORE, here, project, start
from tests.waiting import until


def test_checkpoints_are_listed_with_their_data(git_repo: Path) -> None:
    project(git_repo)
    (git_repo / ".aiwg").mkdir()
    (git_repo / ".aiwg/notes.md").write_text("notes")
    (git_repo / ".aiwg/spec.md").write_text("spec")
    (git_repo / "README.md").write_text("changed")
    subprocess.run(["git", "add", ".aiwg/spec.md"], cwd=git_repo, check=True)
    run = ("run", "Make it pass", "-c", GATE, "--max-iterations", "2", "--agent-command")
    here(*run, ONE_MORE, cwd=git_repo)
    shown = here("checkpoint", "list", cwd=git_repo).stdout.splitlines()
    assert shown[0] == "before iteration 1: 0 sessions"
    changed = "2 files changed since the last commit: .aiwg/spec.md, README.md"
    assert shown[2] == f"iteration 1: 1 session, {changed}"
    assert [row.split()[0] for row in shown[3:5]] == ["1", "2"]
    assert all(", 2 artifacts" in row for row in shown[3:5])
    assert shown[4].split()[3:6] == ["at", "the", "end"]
    assert "  Git: 1 modified, 1 staged, 3 untracked, 2 artifacts" in shown[4]
    here("run", "x", "-c", GATE, "--agent-command", "true", "--max-iterations", "1",
         "--set", "checkpoints.enabled=false", cwd=git_repo)  # fmt: skip
    assert not list((git_repo / ".aiwg/ralph/tasks/task-002").rglob("checkpoint-summary.json"))
    off = json.loads(here("checkpoint", "list", "--json", cwd=git_repo).stdout)["iterations"]
    assert [one["trigger"] for one in off[1]["checkpoints"]] == ["start", "end"]
    assert off[1]["checkpoints"][1]["duration"] > 0
    listed = json.loads(here("checkpoint", "list", "task-001", "--json", cwd=git_repo).stdout)
    assert listed["run"] == "task-001/001"
    second = listed["iterations"][2]
    assert [one["trigger"] for one in second["checkpoints"]] == ["start", "end"]
    assert second["checkpoints"][1]["gitStatus"]["branch"] == "main"
    assert second["checkpoints"][1]["gitStatus"]["staged"] == [".aiwg/spec.md"]
    assert second["summary"]["checkpoints"][1]["gitStatus"]["staged"] == 1
    assert second["summary"]["total"] == 2
    assert [one["aiwgFiles"] for one in second["summary"]["checkpoints"]] == [2, 2]
    attempt = git_repo / ".aiwg/ralph/tasks/task-001/attempts/001"
    for one in listed["iterations"][1:]:
        folder = attempt / f"results/iter-{one['iteration']:03}"
        fields = json.loads((folder / "checkpoint-summary.json").read_text())
        assert fields == {"version": "1.0.0", **one["summary"]}
    events = read_journal(attempt / "events.jsonl").events
    captured = [event for event in events if isinstance(event, CheckpointCaptured)]
    times = [[f"{event.at:%Y-%m-%d}", f"{event.at:%H:%M:%S}"] for event in captured]
    assert [row.split()[1:3] for row in shown if row.startswith("    ")] == times
    rows = [row for row in shown if row.startswith("    ")]
    for row, event in zip(rows, captured, strict=True):
        assert f"  {duration(event.duration_s):>7}  snapshot" in row
    lasted = [round(1000 * event.duration_s) for event in captured]
    everything = [one for iteration in listed["iterations"] for one in iteration["checkpoints"]]
    assert [one["duration"] for one in everything] == lasted
    assert [one["duration"] for one in second["summary"]["checkpoints"]] == lasted[-2:]
    assert lasted[-1] > 0
    stamps = [one["timestamp"] for part in listed["iterations"] for one in part["checkpoints"]]
    seconds = [datetime.fromisoformat(one).timestamp() for one in stamps]
    assert seconds == pytest.approx([event.at.timestamp() for event in captured], abs=5)
    last = captured[-1]
    assert (last.iteration, last.trigger, last.modified) == (2, "end", ["done-1.txt"])


def test_checkpoints_have_their_times_also_while_the_data_are_off(git_repo: Path) -> None:
    project(git_repo)
    run = ("run", "Make it pass", "-c", GATE, "--max-iterations", "2", "--agent-command")
    many = "cat >/dev/null; for n in $(seq 21); do touch new-$n.txt; done"
    here(*run, many, "--set", "checkpoints.enabled=false", cwd=git_repo)
    without = json.loads(here("checkpoint", "list", "--json", cwd=git_repo).stdout)
    assert all(one["timestamp"] for one in without["iterations"][1]["checkpoints"])
    off = git_repo / ".aiwg/ralph/tasks/task-001/attempts/001"
    events = read_journal(off / "events.jsonl").events
    captured = [event for event in events if isinstance(event, CheckpointCaptured)]
    first_end = next(event for event in captured if event.trigger == "end")
    assert (first_end.files, len(first_end.modified)) == (21, 20)
    assert not list(off.rglob("checkpoint-summary.json"))


def test_a_requested_checkpoint_is_listed_with_its_note_and_data(git_repo: Path) -> None:
    work = "cat >/dev/null; touch new.txt; sleep 60"
    agent = ("--agent", "command", "--agent-command", work)

    def is_listed() -> bool:
        rows = here("checkpoint", "list", cwd=git_repo).stdout.splitlines()
        return any("1 untracked" in row and row.endswith("Before it") for row in rows)

    with start("run", "x", "-c", "false", *agent, "--json", cwd=git_repo) as process:
        assert process.stdout is not None
        try:
            while "session_started" not in process.stdout.readline():
                pass
            until((git_repo / "new.txt").exists)
            assert here("checkpoint", "--note", "Before it", cwd=git_repo).returncode == 0
            until(is_listed)
            shown = here("checkpoint", "list", "--json", cwd=git_repo).stdout
        finally:
            process.send_signal(signal.SIGINT)
    listed = json.loads(shown)["iterations"][-1]["checkpoints"]
    [asked] = [one for one in listed if one["trigger"] == "key"]
    assert asked["gitStatus"]["untracked"] == ["new.txt"]
    assert asked["note"] == "Before it"
