"""Layers that fail in a whole run, all at once: one sentence each on the screen, the tracebacks in
the journal, and the exit code of a healthy run.
"""

from importlib import import_module
from pathlib import Path

import pytest

from tests.e2e.cli import GATE, ONE_MORE, events_of, here, project

PARTS = {
    "ralph_tui.layers.control.evaluation:output": (
        "control",
        "default gains apply to this measurement",
    ),
    "ralph_tui.layers.oversight.levels:detect": ("oversight", "this measurement is not checked"),
    "ralph_tui.loop.steps.memory:retrieve": ("memory", "the run continues without it"),
    "ralph_tui.layers.intelligence.prompts:sections_of": (
        "intelligence",
        "the prompt contains no measurements",
    ),
    "ralph_tui.runtime.assembly:count_tests": (
        "sensor",
        "only the exit code of the completion command counts",
    ),
}


def broken(*_: object, **__: object) -> None:
    raise ZeroDivisionError("inside the layer")


def test_it_costs_a_sentence_and_not_the_run(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(git_repo)
    for part in PARTS:
        module, name = part.split(":")
        monkeypatch.setattr(import_module(module), name, broken)
    words = ("run", "Make the checks pass", "-c", GATE, "--agent", "command", "--headless")
    done = here(*words, "--agent-command", ONE_MORE, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "completed: the completion command passed after iteration 4" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    events = events_of(here("replay", "--json", cwd=root).stdout)
    assert events[-1]["kind"] == "run_finished"
    assert not [event for event in events if event["kind"] == "run_crashed"]
    report = here("report", "--full", cwd=root)
    assert report.returncode == 0
    for layer, instead in PARTS.values():
        said = f"{layer} failed (ZeroDivisionError: inside the layer); {instead}"
        assert said in done.stdout
        reported = [
            event for event in events if event["kind"] == "noticed" and event["text"] == said
        ]
        assert reported
        assert all("Traceback" in event["detail"] for event in reported)
        assert f"{layer} failed" in report.stdout
