"""``fleet status`` is a table that fits the terminal."""

from pathlib import Path

import pytest

from ralph_tui.adapters.records.journal import Journal
from ralph_tui.fleet import events as told
from ralph_tui.fleet.records.folders import create_fleet
from tests.e2e.cli import here
from tests.fleet_events import a_loop, a_plan, started
from tests.world import FakeClock


def test_it_fits_80_columns(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goal = "Make everything in this repository twice as fast, and keep all of the tests green"
    plan = a_plan(a_loop("1", objective=goal), a_loop("2", objective=goal))
    events = [
        started(plan).model_copy(update={"root": str(git_repo)}),
        told.LoopPlaced(loop="1", attempt=1, host="here", branch="ralph/fleet-001/1"),
        told.LoopBegan(loop="1", run_id="r", run="task-001/001", folder="/t"),
        told.LoopProgressed(
            loop="1", phase="agent", iteration=4, max_iterations=10, completion=0.95, cost_usd=1.2
        ),
        told.LoopEnded(loop="1", outcome="limit_reached", reason="all 10 iterations " * 9),
    ]
    journal = Journal(create_fleet(git_repo).journal, FakeClock())
    for event in events:
        journal.append(event)
    journal.close()
    monkeypatch.setattr("ralph_tui.fleet.cli.showing.terminal_width", lambda: 80)
    lines = here("fleet", "status", cwd=git_repo).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    (row,) = [line for line in lines if line.startswith("  1  ")]
    assert row.split()[1:6] == ["limit", "reached", "4/10", "95", "%"]
    assert "Make everything" in row
    assert " ".join(" ".join(lines).split()).count("all 10 iterations") == 9
