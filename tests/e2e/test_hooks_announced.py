"""``ralph-tui hooks``: the announcement before a change, and the state after it."""

import json
from pathlib import Path

import pytest

from ralph_tui.base.file_lock import locked
from ralph_tui.hooks.program.words import BEGIN, END
from tests.e2e.cli import here

STATE = ".claude/ralph-state.json"
LOOP = ("hooks", "install", "--yes", "--objective", "Mend the parser")


def state_of(root: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((root / STATE).read_text())
    return found


def test_a_window_that_is_not_known_is_said_and_can_be_set(git_repo: Path) -> None:
    way = "set the size with ralph-tui hooks install --window 200k"
    assert way in here(*LOOP, cwd=git_repo).stdout
    assert way in here("hooks", "show", cwd=git_repo).stdout
    done = here("hooks", "install", "--yes", "--window", "1m", cwd=git_repo)
    assert (done.returncode, done.stderr) == (0, "")
    assert state_of(git_repo)["context_window"] == 1_000_000
    assert state_of(git_repo)["objective"] == "Mend the parser"
    shown = here("hooks", "show", cwd=git_repo).stdout
    assert "the context window holds 1,000,000 tokens" in shown
    assert "sums up" not in shown
    assert way not in shown


def test_a_loop_begins_with_its_window_and_is_told_what_comes_before_its_checkpoint(
    git_repo: Path,
) -> None:
    said = here(*LOOP, "--window", "200k", cwd=git_repo).stdout
    assert state_of(git_repo)["context_window"] == 200_000
    assert "compacts its context at about 84 %, before the checkpoint at 85 %" in said
    assert "DISABLE_AUTO_COMPACT=1" in said
    settings = git_repo / ".claude" / "settings.json"
    fields = json.loads(settings.read_text()) | {"env": {"DISABLE_AUTO_COMPACT": "1"}}
    settings.write_text(json.dumps(fields))
    assert "sums up" not in here("hooks", "show", cwd=git_repo).stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--window", "much", "--objective", "x"], "--window must be a number of tokens, such as"),
        (["--window", "200k"], "--window applies to a loop"),
    ],
)
def test_a_window_that_makes_no_sense(git_repo: Path, words: list[str], sentence: str) -> None:
    done = here("hooks", "install", "--yes", *words, cwd=git_repo)
    assert done.returncode == 2
    assert done.stderr.startswith(f"ralph-tui: {sentence}")
    assert not (git_repo / ".claude").exists()


def test_without_hooks_nothing_is_active_and_no_lock_stays(git_repo: Path) -> None:
    here(*LOOP, cwd=git_repo)
    lock = git_repo / ".claude" / ".ralph-state.json.lock"
    assert lock.exists()
    removed = here("hooks", "remove", "--yes", cwd=git_repo)
    assert f"{STATE} stays" in removed.stdout
    assert [path.name for path in (git_repo / ".claude").iterdir()] == ["ralph-state.json"]
    shown = here("hooks", "show", cwd=git_repo).stdout
    assert "active" not in shown
    assert "no hooks are installed" in shown


def test_a_lock_that_is_held_stays(git_repo: Path) -> None:
    here(*LOOP, cwd=git_repo)
    lock = git_repo / ".claude" / ".ralph-state.json.lock"
    with locked(lock):
        assert here("hooks", "remove", "--yes", cwd=git_repo).returncode == 0
        assert lock.exists()


def test_what_was_set_aside_is_named(git_repo: Path) -> None:
    here(*LOOP, cwd=git_repo)
    (git_repo / STATE).rename(git_repo / f"{STATE}.20260107T114500000000.bad")
    shown = here("hooks", "show", cwd=git_repo).stdout
    assert f"{STATE}.20260107T114500000000.bad was moved aside" in shown


def test_a_prompt_of_the_loop_before_is_brought_to_the_new_task(git_repo: Path) -> None:
    prompt = git_repo / "PROMPT.md"
    outside = "# Task: Move the tests\n\nMine.\n\n"
    section = "## Current State\n\n## CONTEXT CHECKPOINT RESUME\n\nRead old.md."
    prompt.write_text(f"{outside}{BEGIN.decode()}\n\n{section}\n\n{END.decode()}\n")
    said = here(*LOOP, cwd=git_repo).stdout
    assert "PROMPT.md: replaces the section of the previous loop" in said
    assert "PROMPT.md names another task; its section says to work on this one" in said
    text = prompt.read_text()
    assert text.startswith(outside)
    assert "whatever else is named here:\n\nMend the parser" in text
    assert "old.md" not in text
    assert "RESUME" not in text


def test_a_prompt_of_its_user_alone_is_left_as_it_is(git_repo: Path) -> None:
    prompt = git_repo / "PROMPT.md"
    prompt.write_text("# Something else\n")
    assert "PROMPT.md" not in here(*LOOP, cwd=git_repo).stdout
    assert prompt.read_text() == "# Something else\n"
