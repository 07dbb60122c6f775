"""The overseer's whole path, on the demo's loops in a real terminal and from another one."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_demo import redirected
from tests.e2e.tmux import Terminal
from tests.prompt_reading import read_aloud
from tests.waiting import until


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "calculator"


def journal(project: Path) -> list[dict[str, Any]]:
    """What was recorded so far, whole lines only."""
    found = list(project.rglob("events.jsonl"))
    lines = found[0].read_bytes().splitlines(keepends=True) if found else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def of(project: Path, kind: str, **fields: object) -> list[dict[str, Any]]:
    """The events of one kind with these fields."""
    return [
        event
        for event in journal(project)
        if event["kind"] == kind and all(event[name] == value for name, value in fields.items())
    ]


@pytest.fixture
def demo(tmp_path: Path, project: Path) -> Iterator[Any]:
    """Starts a demo in a terminal."""
    opened: list[Terminal] = []

    def start(scenario: str) -> Terminal:
        command = ["demo", "--scenario", scenario, "--fast", "--keep", str(project)]
        # A closed terminal would leave the run waiting for ever.
        command += ["--set", "ui.on_hangup=stop"]
        opened.append(Terminal(command, tmp_path, width=100, height=30))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def prompt_of(project: Path, iteration: int) -> str:
    return next(project.rglob(f"iter-{iteration:03}/prompt.md")).read_text()


def test_edited_instructions_are_in_the_next_prompt_and_the_effect_is_told(
    demo: Any, project: Path
) -> None:
    screen = demo("stuck")
    screen.shows("REDIRECT at iteration 5", "approve the instructions")
    asked = of(project, "question_asked")[0]
    until(lambda: _press(screen, "e", lambda: "enter done" in screen.screen))
    screen.type("Mind the sign first. ")
    screen.press("Enter")
    screen.shows("as edited")
    screen.press("y")
    until(lambda: of(project, "effect_observed"))
    decided = of(project, "redirect_decided")[0]
    assert (decided["approved"], decided["by"]) == (True, "you")
    assert "Mind the sign first." in decided["instructions"]
    assert decided["instructions"] != asked["proposal"]
    assert "Mind the sign first." in prompt_of(project, 6)
    screen.shows("COMPLETED")
    effect = of(project, "effect_observed")[0]
    assert (effect["of"], effect["decision"], effect["points"]) == (5, "approved by you", 16.0)
    printed = next(project.rglob("events.jsonl")).read_text()
    redirected(printed, [48, 56, 64, 64, 64, 64, 72, 80, 88, 100], (5, "STUCK"))
    assert read_aloud(project) == 9
    screen.press("q")
    assert screen.exit_code() == 0


def _press(screen: Terminal, key: str, done: Any) -> bool:
    """A dialog that has just opened is blind for a moment."""
    if not done():
        screen.press(key)
    return bool(done())
