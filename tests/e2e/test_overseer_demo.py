"""The overseer's whole path, on the demo's loops in a real terminal and from another one."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli import here
from tests.e2e.test_demo import redirected
from tests.e2e.tmux import Terminal
from tests.prompt_reading import read_aloud, reads_well
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


def asks(project: Path, topic: str) -> dict[str, Any]:
    """Wait for a question that can be decided from elsewhere, as the status tells of it."""
    asked = until(lambda: of(project, "question_asked", topic=topic))[-1]

    def is_told() -> bool:
        status = json.loads(here("status", "--json", cwd=project).stdout)
        return bool((status.get("question") or {}).get("question_id") == asked["question_id"])

    until(is_told)
    return asked


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


def test_rolling_back_restores_the_best_point_byte_for_byte(demo: Any, project: Path) -> None:
    screen = demo("regressing")
    screen.shows("REDIRECT at iteration 4", "and send the instructions")
    # The way out is offered while the question is open, and leads back.
    until(lambda: _press(screen, "Escape", lambda: "approve the instructions" not in screen.screen))
    until(lambda: _press(screen, "q", lambda: "How do you want to leave?" in screen.screen))
    until(lambda: _press(screen, "Escape", lambda: "want to leave?" not in screen.screen))
    offer = asks(project, "redirect")["rollback"]
    index = (project / ".git" / "index").read_bytes()
    head = _git(project, "rev-parse", "HEAD")
    assert offer["completion"] == 76
    assert offer["paths"] == ["abacus/lexer.py", "abacus/parser.py"]
    answered = here("decide", "roll_back", cwd=project)
    assert answered.returncode == 0, answered.stderr
    until(lambda: of(project, "session_started", iteration=5))
    prompt = prompt_of(project, 5)
    reads_well(prompt)
    assert "The files were restored to" in prompt
    restored = of(project, "worktree_restored")[0]
    snapshots = {event["number"]: event for event in of(project, "snapshot_taken")}
    target, held = snapshots[offer["snapshot"]], snapshots[restored["present"]]
    assert restored["tree"] == target["tree"]
    # What came right after it is the same tree: every byte and every mode.
    assert snapshots[restored["present"] + 1]["tree"] == target["tree"]
    # What was there before is held, and would undo it.
    assert held["tree"] != target["tree"]
    assert (project / ".git" / "index").read_bytes() == index
    assert _git(project, "rev-parse", "HEAD") == head
    until(lambda: _press(screen, "q", lambda: "How do you want to leave?" in screen.screen))
    until(lambda: _press(screen, "s", lambda: screen.ended))
    assert screen.exit_code() == 130
    assert of(project, "run_finished")[0]["outcome"] == "interrupted"


def _git(project: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=project, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def _press(screen: Terminal, key: str, done: Any) -> bool:
    """A dialog that has just opened is blind for a moment."""
    if not done():
        screen.press(key)
    return bool(done())
