"""``ralph-tui checkpoint list``, and what `status` and a resume say of the last checkpoint."""

import json
import signal
from pathlib import Path

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
    here("run", "Make it pass", "-c", GATE, "--agent-command", ONE_MORE, "--max-iterations", "2",
         cwd=git_repo)  # fmt: skip
    shown = here("checkpoint", "list", cwd=git_repo).stdout.splitlines()
    assert shown[0] == "before iteration 1: 0 sessions"
    assert shown[2] == "iteration 1: 1 session, 1 file changed since the last commit: README.md"
    assert [row.split()[0] for row in shown[3:5]] == ["1", "2"]
    assert shown[4].split()[3:6] == ["at", "the", "end"]
    assert "  Git: 1 modified, 0 staged, 4 untracked, 2 artifacts" in shown[4]
    here("run", "x", "-c", GATE, "--agent-command", "true", "--max-iterations", "1",
         "--set", "checkpoints.enabled=false", cwd=git_repo)  # fmt: skip
    records = [path.name for path in git_repo.rglob("task-002/attempts/001/results/iter-001/*")]
    assert records
    assert "checkpoint-summary.json" not in records
    off = json.loads(here("checkpoint", "list", "--json", cwd=git_repo).stdout)["iterations"]
    assert [one["trigger"] for one in off[1]["checkpoints"]] == ["start", "end"]
    assert off[1]["checkpoints"][1]["duration"] > 0
    listed = json.loads(here("checkpoint", "list", "task-001", "--json", cwd=git_repo).stdout)
    assert listed["run"] == "task-001/001"
    second = listed["iterations"][2]
    assert [one["trigger"] for one in second["checkpoints"]] == ["start", "end"]
    assert second["checkpoints"][1]["gitStatus"]["branch"] == "main"
    assert second["summary"]["total"] == 2
    attempt = git_repo / ".aiwg/ralph/tasks/task-001/attempts/001"
    fields = json.loads((attempt / "results/iter-002/checkpoint-summary.json").read_text())
    assert fields == {"version": "1.0.0", **second["summary"]}
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
    last = captured[-1]
    assert (last.iteration, last.trigger, last.modified) == (2, "end", ["done-1.txt"])


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
