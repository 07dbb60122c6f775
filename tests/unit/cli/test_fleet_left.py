"""What is said, and told to the shell, when the screen of a fleet is left."""

from pathlib import Path

import pytest

from ralph_tui.adapters.fleet.records.folders import FleetFolder
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.fleet.attach import left_code, left_words
from ralph_tui.cli.status_words import told as row
from ralph_tui.events.run import Outcome
from ralph_tui.fleet import events as told
from ralph_tui.fleet.state import FleetState
from tests.fleet_events import SIX, stamped, started


def a_state(*events: told.FleetEvent) -> FleetState:
    return FleetState().replay(stamped([started(SIX), *events]))


@pytest.mark.parametrize(
    ("outcome", "code"),
    [("completed", 0), ("failed", 1), ("limit_reached", 3), ("aborted", 4)],
)
def test_the_exit_code_is_the_outcome_of_a_fleet_that_is_over(outcome: Outcome, code: int) -> None:
    over = a_state(told.FleetFinished(outcome=outcome))
    assert left_code(over, ExitCode.COMPLETED) == code
    assert left_code(over, ExitCode.INTERRUPTED) == ExitCode.INTERRUPTED, "a signal ended it"
    assert left_code(a_state(), ExitCode.COMPLETED) == ExitCode.COMPLETED, "it goes on"


def test_only_branches_that_there_are_are_named(tmp_path: Path) -> None:
    state = a_state(
        told.ResultCollected(loop="1", branch="ralph/fleet-001/1", commit="c1", files=1),
        told.ResultCollected(loop="2", branch="", commit="c0"),
        told.ResultCollected(loop="4", branch="ralph/fleet-001/4", commit="c4", files=1),
        told.FleetFinished(outcome="completed"),
    )
    words = left_words(FleetFolder(tmp_path / "fleet-001"), state)
    assert "its branches:   ralph/fleet-001/1, ralph/fleet-001/4\n" in words


@pytest.mark.parametrize("purpose", ["short", "a much longer purpose than that"])
def test_a_command_stands_apart_from_what_it_is_for(purpose: str) -> None:
    assert f"{purpose}: " in row(purpose, "ralph-tui status")
