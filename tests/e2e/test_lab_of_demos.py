"""What the demos recorded is what the lab makes of their journals, field for field."""

import subprocess
from pathlib import Path

import pytest

from ralph_tui.events import InterventionMade
from ralph_tui.lab import recompute
from ralph_tui.records.journal import read_journal
from tests.e2e.cli import CLI

SCENARIOS = ("steady", "stuck", "oscillating", "regressing")


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Demos that were really run, at the same time."""
    folders = {name: tmp_path_factory.mktemp("demo") / name for name in SCENARIOS}
    command = [*CLI, "demo", "--fast", "--headless"]
    running = [
        subprocess.Popen(
            [*command, "--scenario", name, "--keep", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        for name, folder in folders.items()
    ]
    assert [process.wait(100) for process in running] == [0] * len(running)
    return folders


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_journal_of_every_demo_is_reproduced(demos: dict[str, Path], name: str) -> None:
    [journal] = demos[name].rglob("events.jsonl")
    events = read_journal(journal).events
    compared = recompute(events)
    assert len(compared) >= 5
    assert [one.row for one in compared] == [one.recorded for one in compared]
    made = {event.iteration: event.level for event in events if isinstance(event, InterventionMade)}
    assert made == {
        one.row.iteration: one.row.intervention for one in compared if one.row.intervention
    }
    assert ("REDIRECT" in made.values()) is (name != "steady")
