"""The overseer's whole path on the demo's loops: its questions, answered from another terminal."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli import here
from tests.e2e.test_demo import redirected, reproduced, strategies
from tests.e2e.tmux import Terminal
from tests.prompt_reading import check_prompt, check_prompts
from tests.waiting import until


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "calculator"


def of(project: Path, kind: str, **fields: object) -> list[dict[str, Any]]:
    """The events of one kind with these fields, from the whole lines recorded so far."""
    found = list(project.rglob("events.jsonl"))
    lines = found[0].read_bytes().splitlines(keepends=True) if found else []
    wanted = f'"{kind}"'.encode()
    events = [json.loads(line) for line in lines if wanted in line and line.endswith(b"\n")]
    return [
        event
        for event in events
        if event["kind"] == kind and all(event[name] == value for name, value in fields.items())
    ]


@pytest.fixture
def demo(tmp_path: Path, project: Path) -> Any:
    """Start a demo whose terminal closes at once: it continues, and costs no drawing."""

    def start(scenario: str, iterations: int) -> None:
        command = ["demo", "--scenario", scenario, "--fast", "--keep", str(project)]
        command += ["--max-iterations", str(iterations)]
        terminal = Terminal(command, tmp_path, width=100, height=30)
        try:
            until(lambda: of(project, "session_started"))
        finally:
            terminal.close()

    return start


def asks(project: Path, topic: str) -> dict[str, Any]:
    """Wait for a question that another terminal can answer according to the status."""
    asked = until(lambda: of(project, "question_asked", topic=topic))[-1]

    def is_shown() -> bool:
        status = json.loads(here("status", "--json", cwd=project).stdout)
        return bool((status.get("question") or {}).get("question_id") == asked["question_id"])

    until(is_shown)
    return asked


def prompt_of(project: Path, iteration: int) -> str:
    return next(project.rglob(f"iter-{iteration:03}/prompt.md")).read_text()


def test_edited_instructions_are_in_the_next_prompt_and_the_effect_is_told(
    demo: Any, project: Path
) -> None:
    demo("stuck", 7)
    asked = asks(project, "redirect")
    screen = Terminal(["attach"], project, width=100, height=30)
    try:
        screen.shows("REDIRECT at iteration 5")
        until(lambda: _press(screen, "e", lambda: "enter done" in screen.screen))
        screen.type("Mind the sign first. ")
        screen.press("Enter")
        screen.shows("as edited")
        screen.press("y")
        until(lambda: of(project, "redirect_decided"))
    finally:
        screen.close()
    until(lambda: of(project, "run_finished"))
    decided = of(project, "redirect_decided")[0]
    assert decided["approved"]
    assert decided["by"].startswith("the terminal ")
    assert "Mind the sign first." in decided["instructions"]
    assert decided["instructions"] != asked["proposal"]
    assert "Mind the sign first." in prompt_of(project, 6)
    effect = of(project, "effect_observed")[0]
    assert (effect["of"], effect["points"]) == (5, 16.0)
    assert effect["decision"].startswith("edited and approved by you")
    printed = next(project.rglob("events.jsonl")).read_text()
    redirected(printed, [48, 56, 64, 64, 64, 64, 72, 80], (5, "STUCK"))
    assert check_prompts(project) == 7


def test_declined_a_pause_follows_and_words_help(demo: Any, project: Path) -> None:
    demo("oscillating", 7)
    asks(project, "redirect")
    assert here("decide", "decline", cwd=project).returncode == 0
    asks(project, "pause")
    pause_at = of(project, "question_asked", topic="pause")[0]["iteration"]
    assert pause_at == 6
    prompts = len(of(project, "prompt_prepared"))
    said = here("decide", "guide", "fix the rest in order", cwd=project)
    assert said.returncode == 0, said.stderr
    until(lambda: len(of(project, "prompt_prepared")) > prompts)
    assert "fix the rest in order" in prompt_of(project, pause_at + 1)
    late = here("decide", "continue", cwd=project)
    assert late.returncode != 0
    assert "Traceback" not in late.stderr
    until(lambda: of(project, "reading_taken", iteration=pause_at + 1))
    before, after = (
        of(project, "reading_taken", iteration=k)[0]["completion"] for k in (pause_at, pause_at + 1)
    )
    assert after > before
    until(lambda: of(project, "run_finished"))
    readings = [event["completion"] for event in of(project, "reading_taken")]
    assert readings[:5] == [48, 64, 52, 64, 52]
    assert of(project, "alarm_raised", iteration=4, alarm="OSCILLATING")
    printed = next(project.rglob("events.jsonl")).read_text()
    assert "PAUSE" in reproduced(printed)
    assert strategies(printed)[4].focus == "stabilize"


def test_rolling_back_restores_the_best_point_byte_for_byte(demo: Any, project: Path) -> None:
    demo("regressing", 5)
    offer = asks(project, "redirect")["rollback"]
    index = (project / ".git" / "index").read_bytes()
    head = _git(project, "rev-parse", "HEAD")
    assert offer["completion"] == 76
    assert offer["paths"] == ["abacus/lexer.py", "abacus/parser.py"]
    answered = here("decide", "roll_back", cwd=project)
    assert answered.returncode == 0, answered.stderr
    until(lambda: of(project, "run_finished"))
    prompt = prompt_of(project, 5)
    check_prompt(prompt)
    assert "The files were restored to" in prompt
    restored = of(project, "worktree_restored")[0]
    snapshots = {event["number"]: event for event in of(project, "snapshot_taken")}
    target, held = snapshots[offer["snapshot"]], snapshots[restored["present"]]
    assert restored["tree"] == target["tree"]
    # The snapshot right after it has the same tree: every byte and every mode.
    assert snapshots[restored["present"] + 1]["tree"] == target["tree"]
    # The previous files are saved, so the restore can be undone.
    assert held["tree"] != target["tree"]
    assert (project / ".git" / "index").read_bytes() == index
    assert _git(project, "rev-parse", "HEAD") == head
    printed = next(project.rglob("events.jsonl")).read_text()
    readings = [event["completion"] for event in of(project, "reading_taken")]
    assert readings[:5] == [48, 64, 76, 60, 48]
    assert readings[5] > 76
    assert of(project, "alarm_raised", iteration=4, alarm="REGRESSING")
    assert "REDIRECT" in reproduced(printed)
    assert of(project, "strategy_planned", iteration=5)[0]["focus"] == "review"


def test_a_screen_that_is_left_while_a_question_is_open(git_repo: Path) -> None:
    agent = ("--agent", "command", "--agent-command", "echo '<promise>COMPLETE</promise>'")
    order = ("run", "x", "--criterion", "It is finished", *agent)
    screen = Terminal(order, git_repo, width=100, height=30)
    try:
        until(lambda: of(git_repo, "question_asked"))
        until(lambda: _press(screen, "Escape", lambda: "controlling" not in screen.screen))
        until(lambda: _press(screen, "q", lambda: "How do you want to leave?" in screen.screen))
        until(lambda: _press(screen, "s", lambda: screen.ended))
        assert screen.exit_code() == 5
    finally:
        screen.close()
    assert of(git_repo, "run_finished")[0]["outcome"] == "interrupted"


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
