"""The holder of a fleet's key, such as an agent, cannot run code in the fleet."""

import os
import sys
from pathlib import Path

import pytest

from ralph_tui.adapters.processes.child import launch
from ralph_tui.fleet.ports import Joined
from tests.fleet_programs import program
from tests.paths import ROOT
from tests.unit.fleet.dispatch.test_deaths import Fleet, fleet
from tests.waiting import until

__all__ = ["fleet"]


def test_it_runs_and_unpickles_nothing_and_says_nothing_of_it(
    fleet: Fleet, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "made"
    words = (fleet.dispatcher.address, str(fleet.keys), str(made))
    with program("tests.doubles.fleet_asking", *words) as asks:
        asks.wait_for("asked")
    assert not made.exists()
    with program(*fleet.host()):
        fleet.heard.wait("joined")
    output = capfd.readouterr()
    assert (output.out, output.err) == ("", "")


def test_the_agent_of_a_run_is_not_let_in(fleet: Fleet, tmp_path: Path) -> None:
    """Also for an unmarked process below a keeper."""
    kept = ["env", "-i", sys.executable, "-um", *fleet.host("kept")]
    with (tmp_path / "said").open("wb") as out:
        agent = launch(kept, cwd=ROOT, env=os.environ, run_id="any", stdout=out)
        with program(*fleet.host()):
            fleet.heard.wait("joined")
            until(lambda: "did not let this host join" in (tmp_path / "said").read_text())
            agent.stop()
            agent.wait()
    assert {what.host for what in fleet.heard.of("joined") if isinstance(what, Joined)} == {"far"}
