"""Facts about a new run's folder, and a trial of its completion command."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

from ralph_tui.adapters.records.drafts import (
    delete_draft,
    draft_file,
    last_start_file,
    save_last_start,
)
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.base.errors import LockHeldError
from ralph_tui.layers.sensor.gate import GateResult
from ralph_tui.ports.new_runs import Draft, Surroundings
from ralph_tui.runtime.new_runs import FolderNewRuns
from ralph_tui.runtime.worktree_lock import acquire_worktree_lock
from tests.waiting import PATIENCE_S, until

VERSION = '#!/bin/sh\necho "2.1.198 (Claude Code)"\n'


@pytest.fixture
def no_claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder at the front of a PATH that has git and a shell."""
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return programs


def level(place: Surroundings, what: str) -> str:
    return next(one.level for one in place.findings if one.what == what)


def says(place: Surroundings, what: str) -> str:
    found = next(one for one in place.findings if one.what == what)
    return "\n".join([found.says, *found.ways])


def test_all_is_well_where_nothing_is_missing(git_repo: Path, no_claude: Path) -> None:
    (no_claude / "claude").write_text(VERSION)
    (no_claude / "claude").chmod(0o755)
    here = FolderNewRuns(git_repo)
    place = here.look()
    assert [one.level for one in place.findings] == ["good", "good", "good"]
    assert not place.obstacles
    assert place.chosen == "claude"
    claude, *_, command = here.agents()
    assert claude.ready
    assert claude.says.startswith(
        f"2.1.198, {no_claude}/claude; can ask you, accepts guidance while"
    )
    assert command.ready


def test_looking_writes_nothing(git_repo: Path, no_claude: Path) -> None:
    def files() -> set[Path]:
        return set(git_repo.rglob("*"))

    before = files()
    FolderNewRuns(git_repo).look()
    FolderNewRuns(git_repo).agents()
    assert files() == before


def test_what_is_missing_is_said_with_the_way_to_it(tmp_path: Path, no_claude: Path) -> None:
    place = FolderNewRuns(tmp_path).look()
    assert level(place, "git repository") == "critical"
    assert "git init" in says(place, "git repository")
    assert place.obstacles
    assert level(place, "agent") == "warn"
    assert "opencode in the 3 folders of PATH" in says(place, "agent")
    assert "npm install -g @anthropic-ai/claude-code" in says(place, "agent")
    assert "--agent-command" in says(place, "agent")
    assert place.chosen == ""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    place = FolderNewRuns(tmp_path).look()
    assert not place.obstacles
    assert "none yet" in says(place, "commits")


def test_a_run_that_works_here_is_named(git_repo: Path) -> None:
    here = FolderNewRuns(git_repo)
    lock = acquire_worktree_lock(ralph_folder(git_repo) / "lock", run="task-001/002")
    try:
        assert "task-001/002 is running in this worktree" in says(here.look(), "other runs")
        with pytest.raises(LockHeldError, match=r"task-001/002.*unfinished"):
            here.trial("true").run()
    finally:
        lock.release()
    assert here.trial("true").run().ok


def test_defaults_come_from_the_configuration(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_TUI_LIMITS__SESSION_TIMEOUT_S", "90m")
    (git_repo / ".ralph-tui.toml").write_text("[limits]\nmax_iterations = 7\nbudget_usd = 2.5\n")
    defaults = FolderNewRuns(git_repo).look().defaults
    assert defaults["limits.max_iterations"].text == "7"
    assert defaults["limits.max_iterations"].origin == ".ralph-tui.toml"
    assert defaults["limits.budget_usd"].text == "2.5"
    assert defaults["limits.session_timeout_s"].text == "90m"
    assert defaults["permissions.mode"].text == "edits"
    assert defaults["permissions.mode"].origin == ""
    (git_repo / ".ralph-tui.toml").write_text("[limits]\nmax_iterations = 0\n")
    place = FolderNewRuns(git_repo).look()
    assert "max_iterations" in says(place, "settings")
    assert place.defaults["limits.max_iterations"].text == "10"


def test_a_trial_counts_tests_as_the_loop_does(git_repo: Path) -> None:
    found = FolderNewRuns(git_repo).trial("echo 1..2; echo ok 1; echo not ok 2; exit 1").run()
    assert found.exit_code == 1
    assert found.counts is not None
    assert (found.counts.passed, found.counts.total) == (1, 2)
    assert "was not found (exit 127)" in FolderNewRuns(git_repo).trial("no-such-thing").run().error
    assert not (git_repo / ".aiwg").exists()


def test_a_cancelled_trial_leaves_no_process(git_repo: Path) -> None:
    pids = git_repo / "pids"
    trial = FolderNewRuns(git_repo).trial(f"sleep 300 & echo $! $$ > {pids}; wait")
    came: list[GateResult] = []
    thread = threading.Thread(target=lambda: came.append(trial.run()))
    thread.start()
    until(lambda: pids.exists() and pids.read_text().strip())
    trial.cancel()
    thread.join(PATIENCE_S)
    assert came[0].cancelled
    assert not [pid for pid in pids.read_text().split() if Path(f"/proc/{pid}").exists()]


def test_a_draft_is_kept_out_of_the_worktree_and_for_its_owner_alone(git_repo: Path) -> None:
    here = FolderNewRuns(git_repo)
    assert here.draft() is None
    draft = Draft("Fix\nit — all", "criterion", "x", "reads well", {"agent.name": "command"})
    here.keep(draft)
    assert here.draft() == draft
    assert not (git_repo / ".aiwg").exists()
    assert draft_file(git_repo).stat().st_mode & 0o077 == 0
    draft_file(git_repo).write_bytes(b'{"objective": 5, "by": [], "settings": {"x": {}}}')
    assert here.draft() == Draft(settings={"x": ""})
    draft_file(git_repo).write_bytes(b"[1")
    assert here.draft() is None
    delete_draft(git_repo)
    assert not os.path.lexists(draft_file(git_repo))


def test_the_last_start_is_proposed_without_its_objective_and_its_secrets(
    git_repo: Path, no_claude: Path
) -> None:
    own = {"agent.name": "command", "agent.command": "./my-agent --stdin"}
    save_last_start(git_repo, Draft("Fix it", command="pytest -q", settings=own))
    assert FolderNewRuns(git_repo).look().last == Draft(command="pytest -q", settings=own)
    assert last_start_file(git_repo).stat().st_mode & 0o077 == 0
    assert not (git_repo / ".aiwg").exists()
    secret = {**own, "agent.command": "API_KEY=sk-ant-api03-" + "x9Kq" * 20 + " ./my-agent"}
    save_last_start(git_repo, Draft(command="pytest -q", settings=secret))
    proposed = FolderNewRuns(git_repo).look().last
    assert proposed == Draft(command="pytest -q", settings={"agent.name": "command"})


def test_only_what_differs_from_the_defaults_is_proposed(git_repo: Path, no_claude: Path) -> None:
    (no_claude / "claude").write_text(VERSION)
    (no_claude / "claude").chmod(0o755)
    save_last_start(git_repo, Draft(command="x", settings={"agent.name": "claude"}))
    assert FolderNewRuns(git_repo).look().last == Draft(command="x")
    unknown = {"agent.name": "no-such-agent", "agent.command": "y", "permissions.mode": "skip"}
    save_last_start(git_repo, Draft(command="x", settings=unknown))
    assert FolderNewRuns(git_repo).look().last == Draft(command="x")
