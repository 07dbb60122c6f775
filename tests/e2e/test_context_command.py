"""The window of a run as other terminals see it, and a rollover that they ask for."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli import run, start
from tests.e2e.test_remote import WAITING_AGENT, Elsewhere, refused, running, said
from tests.hooked import NAME, HookedLoop
from tests.waiting import until


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder of our own, with a path as short as sockets need it."""
    folder = Path(tempfile.mkdtemp(prefix="rt-"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    shutil.rmtree(folder)


def test_a_rollover_is_asked_for_from_elsewhere_three_times_in_an_iteration(git_repo: Path) -> None:
    with running(git_repo, *WAITING_AGENT, "--set", "context.handoff_edit_s=0") as there:
        there.reaches("session_started")
        unknown = said("context", cwd=git_repo, by=run)
        assert "| Current Context | unknown: the agent has reported no usage" in unknown
        assert "checkpoint --rollover requests one" in unknown

        long = ("checkpoint", "--rollover", "--note", "x" * 1001)
        assert "at most 1,000 characters" in refused(*long, cwd=git_repo, code=2)
        answer = said("checkpoint", "--rollover", "--note", "it forgot\nthe plan", cwd=git_repo)
        assert answer.splitlines()[0] == "## Ralph Checkpoint Created"
        assert "**Iteration**: 1" in answer
        assert "**Context**: unknown" in answer
        assert "Next session resumes from this point." in answer
        (handoff,) = [line for line in answer.splitlines() if "Handoff" in line]
        left = git_repo / handoff.removeprefix("**Handoff**: ")
        assert left.read_text().startswith("# Handoff")
        (asked,) = there.events("rollover_requested")
        assert asked["note"] == "it forgot the plan"
        (began,) = there.events("rollover_began")
        assert began["cause"] == "asked"
        assert began["reason"].endswith(": it forgot the plan")

        for number in (2, 3):
            there.reaches("session_started", number)
            assert "Checkpoint Created" in said("checkpoint", "--rollover", cwd=git_repo)
        there.reaches("session_started", 4)
        again = refused("checkpoint", "--rollover", cwd=git_repo)
        assert "this iteration already had 3 context handoffs" in again
        status = said("status", cwd=git_repo)
        assert "3 rollovers" not in status, "the agent reports no usage"
        said("abort", "--yes", cwd=git_repo)
        there.process.communicate()
    table = said("context", cwd=git_repo)
    assert "task-001/001 (over)" in table
    assert "| 1         | unknown | 3        | -           |" in table


def test_a_window_that_fills_is_seen_while_it_does_and_afterwards(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    words = ("--scenario", "context", "--max-iterations", "2", "--fast", "--headless")
    process = start("demo", *words, "--keep", str(folder), cwd=tmp_path)
    there = Elsewhere(folder, process)

    def seen() -> dict[str, Any]:
        fields: dict[str, Any] = json.loads(said("context", "--json", cwd=folder))
        return fields

    try:
        there.reaches("plan_item_began")
        until(lambda: "calls_left" in seen())
        fields = seen()
        assert fields["alive"]
        assert 0 < fields["percent"] < 100
        assert fields["item"]["basis"] == "tag"
        assert len(fields["later"]) >= 1
        until(lambda: " % in about " in said("status", cwd=folder))
        there.reaches("rollover_began")
        process.communicate()
    finally:
        process.kill()
        process.communicate()
    over = said("context", cwd=folder, by=run)
    assert "task-001/001 (over)" in over
    assert "This run's context windows filled up" in over
    fields = seen()
    assert fields["rollovers"] == len(there.events("rollover_began")) >= 2
    # A record without its status file is folded, and tells the same.
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(there.journal, copy)
    folded = json.loads(said("context", str(copy), "--json", cwd=tmp_path))
    assert folded == fields


def test_loops_that_hooks_have_recorded_are_told_like_runs_and_not_commanded(
    tmp_path: Path,
) -> None:
    loop = HookedLoop(tmp_path)
    loop.begin()
    unknown = said("context", "hooks", cwd=tmp_path)
    assert f"hooks/{NAME}" in unknown
    assert "set RALPH_CONTEXT_WINDOW" in unknown
    assert "ralph-tui checkpoint" not in unknown
    for number, percent in enumerate((40, 46, 52, 58, 64)):
        loop.tool(f"t{number}", "src/oauth.ts", percent)
    live = said("context", cwd=tmp_path)
    assert "| Current Context     | 64 % of 200k tokens" in live
    assert "| Forecast            | 85 % in about 4 tool calls" in live
    assert "Safe to continue. A checkpoint triggers automatically at 85 %." in live
    loop.end()
    over = said("context", "hooks", cwd=tmp_path)
    assert f"hooks/{NAME} (over)" in over
    assert "| 1         | 64 % | -        | -           |" in over
