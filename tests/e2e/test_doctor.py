"""``ralph-tui doctor`` as a new user meets it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.cli import CLI, here
from tests.e2e.tmux import Terminal
from tests.paths import FIXTURES, ROOT


def test_a_set_up_that_will_do(git_repo: Path) -> None:
    words = ("--set", "agent.name=command", "--set", "agent.command=cat")
    done = here("doctor", *words, cwd=git_repo)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("ready: ralph-tui run")
    output = json.loads(here("doctor", "--json", *words, cwd=git_repo).stdout)
    assert output["ready"] is True
    assert {"git", "agent", "disk", "settings"} <= {each["what"] for each in output["findings"]}


def test_what_is_missing_has_its_fix_and_an_exit_code(tmp_path: Path) -> None:
    (tmp_path / ".ralph-tui.toml").write_text("[limits]\nmax_iteration = 3\n")
    done = here("doctor", cwd=tmp_path, RALPH_TUI_NOPE="1")
    assert done.returncode == 1
    for said in ("git init", "no-claude-here", ".ralph-tui.toml:2", "RALPH_TUI_NOPE"):
        assert said in done.stdout
    assert "problems to solve: see" in done.stdout.splitlines()[-1]


def test_what_is_read_from_a_command_is_said(git_repo: Path) -> None:
    shutil.copy(FIXTURES / "outputs" / "rspec" / "fail.txt", git_repo / "told.txt")

    done = here("doctor", "-c", "cat told.txt; exit 1", cwd=git_repo)
    silent = here("doctor", "-c", "true", cwd=git_repo)
    absent = here("doctor", "--json", "-c", "no-such-program", cwd=git_repo)

    assert (done.returncode, silent.returncode, absent.returncode) == (0, 0, 1)
    assert "RSpec: 1 of 4 pass, 3 fail (exit 1" in done.stdout
    assert "no counts: progress comes from a plan or the agent's report (exit 0" in silent.stdout
    assert "was not found" in json.loads(absent.stdout)["findings"][0]["says"]


@pytest.mark.parametrize("words", [("doctor",), ("status",)])
def test_a_folder_that_is_gone_is_one_sentence(tmp_path: Path, words: tuple[str, ...]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = ["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *CLI, *words]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=gone, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == ("ralph-tui: the current folder was deleted; change to another one\n")


@pytest.mark.skipif(not shutil.which("tmux"), reason="needs tmux")
def test_in_tmux_of_80_columns_every_line_keeps_to_them(git_repo: Path) -> None:
    terminal = Terminal(["doctor"], git_repo, width=80, height=60)
    try:
        screen = terminal.shows("to solve: see")
        assert terminal.exit_code() == 1
    finally:
        terminal.close()
    lines = screen.splitlines()
    assert any(
        line.startswith("▲ warning clipboard tmux does not pass copied text") for line in lines
    )
    assert any("set -s set-clipboard on" in line for line in lines)
    assert any("80x60" in line for line in lines)
    # A line broken by the terminal would continue at the left edge.
    signs = ("✓", "·", "▲", "✗", " " * 20)
    assert all(line.startswith(signs) for line in lines if line and "to solve: see" not in line)
