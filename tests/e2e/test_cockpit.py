"""The cockpit in a real terminal, driven by keys as its user drives it."""

import json
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli import GATE, processes_of, project
from tests.e2e.tmux import Terminal
from tests.waiting import until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

Open = Callable[..., Terminal]


@pytest.fixture
def terminal() -> Iterator[Open]:
    """Opens terminals, and closes them in the end."""
    opened: list[Terminal] = []

    def open_terminal(*arguments: str, cwd: Path, width: int = 100, height: int = 30) -> Terminal:
        opened.append(Terminal(arguments, cwd, width=width, height=height))
        return opened[-1]

    yield open_terminal
    for each in opened:
        each.close()


def journal(root: Path) -> list[dict[str, Any]]:
    lines = next(root.rglob("events.jsonl")).read_bytes().splitlines()
    return [json.loads(line) for line in lines]


def kinds(root: Path) -> list[str]:
    return [event["kind"] for event in journal(root)]


def slow_agent(seconds: int = 60) -> list[str]:
    return ["--agent", "command", "--agent-command", f"echo hello; exec sleep {seconds}"]


def test_the_demo_runs_is_left_and_replayed(terminal: Open, tmp_path: Path) -> None:
    kept = tmp_path / "kept it"
    words = ("--fast", "--max-iterations", "1", "--keep", str(kept))
    screen = terminal("demo", *words, cwd=tmp_path)
    screen.shows("limit reached", "56 %")
    assert not screen.ended, "the last screen stays"
    screen.resize(80, 24)
    narrow = screen.shows("limit reached")
    assert max(len(line) for line in narrow.splitlines()) <= 80
    screen.press("q")
    assert screen.exit_code() == 3
    folder = kept / ".aiwg/ralph/tasks/task-001/attempts/001"
    # Without blanks: the terminal breaks a line anywhere, and a blank at its end is not captured.
    until(lambda: "replaytask-001/001" in "".join(screen.screen.split()))
    said = "".join(screen.screen.split())
    there = "".join(f"cd '{kept}' && ralph-tui".split())
    assert f"report:{there}reporttask-001/001" in said
    assert f"replay:{there}replaytask-001/001" in said
    replay = terminal("replay", str(folder), cwd=kept)
    replay.shows("REPLAY")
    replay.press("End")
    replay.shows("56 %", "limit reached")
    replay.press("Home")
    until(lambda: "limit reached" not in replay.screen)
    replay.press("End")
    replay.shows("limit reached")
    replay.press("q")
    assert replay.exit_code() == 0


def test_pause_guide_checkpoint_and_go_on(terminal: Open, git_repo: Path) -> None:
    root = project(git_repo)
    (root / ".ralph-tui.toml").write_text('[agent]\nname = "claude"\n')
    waits = "echo step; while [ ! -e go ]; do sleep 0.05; done"
    agent = f"if [ -e go ]; then for n in 0 1 2 3; do touch done-$n.txt; done; else {waits}; fi"
    screen = terminal(
        "run", "Make the checks pass", "-c", GATE, "--agent", "command", "--agent-command",
        agent, cwd=root,
    )  # fmt: skip
    screen.shows("step")
    screen.press("c")
    until(lambda: '"key"' in json.dumps(journal(root)))
    screen.press("p")
    screen.shows("pausing")
    (root / "go").touch()
    until(lambda: "paused" in kinds(root))
    screen.shows("paused")
    screen.press("g")
    type_into(screen, "mind [/the] *lexer*")
    screen.press("Enter")
    until(lambda: "guidance_queued" in kinds(root))
    screen.press("p")
    until(lambda: "unpaused" in kinds(root))
    screen.shows("completed")
    assert "guidance_delivered" in kinds(root)
    prompt = (
        root / ".aiwg/ralph/tasks/task-001/attempts/001/results/iter-002/prompt.md"
    ).read_text()
    assert "mind [/the] *lexer*" in prompt
    screen.press("q")
    assert screen.exit_code() == 0
    # A warning about settings comes below the screen, where the terminal breaks lines anywhere.
    assert "maynotsetagent.name" in "".join(screen.shows("ralph-tui:").split())


def type_into(screen: Terminal, text: str) -> None:
    """Type until the text is shown: a new modal ignores keys at first."""
    for _ in range(5):
        screen.press("C-u")
        screen.type(text)
        try:
            until(lambda: text in screen.screen, timeout=2)
        except AssertionError:
            continue
        return
    raise AssertionError(f"{text!r} cannot be typed into:\n{screen.screen}")


def test_abort_asks_and_leaves_nothing_running(terminal: Open, git_repo: Path) -> None:
    screen = terminal("run", "x", "-c", "false", *slow_agent(), cwd=git_repo)
    screen.shows("hello")
    run_id = journal(git_repo)[0]["run_id"]
    assert processes_of(run_id)
    screen.press("a")
    screen.shows("y")
    until(lambda: _pressed(screen, "y", lambda: "abort_requested" in kinds(git_repo)))
    until(lambda: "run_finished" in kinds(git_repo))
    screen.shows("⊗ aborted by you")
    assert processes_of(run_id) == []
    screen.press("q")
    assert screen.exit_code() == 4


def _pressed(screen: Terminal, key: str, done: Callable[[], bool]) -> bool:
    if not done():
        screen.press(key)
    return done()


def test_every_size_reads_well_and_every_way_out_asks(terminal: Open, git_repo: Path) -> None:
    screen = terminal("run", "Fix it", "-c", "false", *slow_agent(), cwd=git_repo, width=140,
                      height=45)  # fmt: skip
    screen.shows("hello", "Fix it")
    screen.press("C-c")  # once: the second one stops
    for key in ("q", "C-q", ""):
        screen.shows("after this iteration")
        assert not screen.ended
        until(
            lambda: _pressed(screen, "Escape", lambda: "after this iteration" not in screen.screen)
        )
        if key:
            until(partial(_pressed, screen, key, lambda: "after this iteration" in screen.screen))
    for width, height in ((80, 24), (30, 5), (200, 60)):
        screen.resize(width, height)
        until(partial(_fits, screen, width))
    screen.press("?")
    screen.shows("pause")
    until(lambda: _pressed(screen, "Escape", lambda: "hello" in screen.screen))
    assert "stop_requested" not in kinds(git_repo)
    screen.press("C-c", "C-c")
    until(lambda: "run_finished" in kinds(git_repo))
    assert journal(git_repo)[-1]["outcome"] == "interrupted"


def test_a_closed_terminal_may_stop_the_run_cleanly(terminal: Open, git_repo: Path) -> None:
    stop = ["--set", "ui.on_hangup=stop"]
    screen = terminal("run", "x", "-c", "false", *slow_agent(), *stop, cwd=git_repo)
    screen.shows("hello")
    run_id = journal(git_repo)[0]["run_id"]
    screen.close()
    until(lambda: "run_finished" in kinds(git_repo))
    assert journal(git_repo)[-1]["outcome"] == "interrupted"
    until(lambda: not processes_of(run_id))
    pid = journal(git_repo)[0]["pid"]
    until(lambda: not Path(f"/proc/{pid}/cmdline").exists())


def _fits(screen: Terminal, width: int) -> bool:
    lines = screen.screen.splitlines() or [""]
    return max(map(len, lines)) <= width and "1/10" in screen.screen


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["run", "x", "-c", "false", "--set", "limits.max_iterations=0"], 2, "must be at least 1"),
        (["replay", "broken.jsonl"], 1, "broken.jsonl:1"),
    ],
)
def test_an_error_behind_the_first_frame_is_one_sentence_below_the_command(
    terminal: Open, git_repo: Path, arguments: list[str], code: int, sentence: str
) -> None:
    (git_repo / "broken.jsonl").write_text("no journal\n{}\n")
    screen = terminal(*arguments, cwd=git_repo)
    assert screen.exit_code() == code
    shown = screen.shows("ralph-tui:").replace("\n", "")
    assert sentence in shown
    assert "╭" not in shown
    assert "Traceback" not in shown
