"""A layer that fails in a whole process: one sentence on the screen, the traceback in the journal,
and the exit code of a healthy run.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.cli import GATE, ONE_MORE, events_of, here, project

PROGRAM = """\
import sys
from importlib import import_module

from ralph_tui.cli import main

module, name = sys.argv[1].split(":")


def broken(*_, **__):
    raise ZeroDivisionError("inside the layer")


setattr(import_module(module), name, broken)
sys.exit(main(sys.argv[2:]))
"""
"""The command line, with a function in one of its layers that raises."""

PARTS = {
    "ralph_tui.layers.control.evaluation:output": (
        "control",
        "default gains answer this reading",
    ),
    "ralph_tui.layers.oversight.levels:detect": ("oversight", "nobody watches over this reading"),
    "ralph_tui.loop.steps.memory:retrieve": ("memory", "the run goes on without it"),
    "ralph_tui.layers.intelligence.prompts:sections_of": (
        "intelligence",
        "the prompt says nothing of what was measured",
    ),
    "ralph_tui.runtime.assembly:count_tests": (
        "sensor",
        "the exit code of the completion command counts alone",
    ),
}


@pytest.mark.parametrize("part", PARTS, ids=[layer for layer, _ in PARTS.values()])
def test_it_costs_a_sentence_and_not_the_run(part: str, git_repo: Path) -> None:
    layer, instead = PARTS[part]
    root = project(git_repo)
    words = ["run", "Make the checks pass", "-c", GATE, "--agent", "command"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, part, *words, "--agent-command", ONE_MORE],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    said = f"{layer} failed (ZeroDivisionError: inside the layer); {instead}"
    assert done.returncode == 0, done.stdout + done.stderr
    assert "completed: the completion command passed after iteration 4" in done.stdout
    assert said in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    events = events_of(here("replay", "--json", cwd=root).stdout)
    assert events[-1]["kind"] == "run_finished"
    assert not [event for event in events if event["kind"] == "run_crashed"]
    told = [event for event in events if event["kind"] == "noticed" and event["text"] == said]
    assert told
    assert all("Traceback" in event["detail"] for event in told)
    report = here("report", "--full", cwd=root)
    assert report.returncode == 0
    assert f"{layer} failed" in report.stdout
