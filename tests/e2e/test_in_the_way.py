"""A FIFO, a link or a folder where a record belongs: every command ends, with one sentence."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.cli import GATE, ONE_MORE, here, project, start
from tests.e2e.shared import once
from tests.e2e.test_resume import git
from tests.rows import each_row
from tests.waiting import until

ORDER = ("run", "x", "-c", GATE, "--agent", "command", "--agent-command", ONE_MORE)
ATTEMPT = ".aiwg/ralph/tasks/task-001/attempts/001"
JOURNAL = f"{ATTEMPT}/events.jsonl"
LOCK = ".aiwg/ralph/lock"
STATUS = f"{ATTEMPT}/status.json"
IDENTITY = ("-c", "user.name=T", "-c", "user.email=t@example.com")
PRIVATE = ".git/ralph-tui"

MADE_AGAIN = (
    ".aiwg/ralph/.gitignore",
    *(f"{PRIVATE}/{name}" for name in ("HEAD", "config", "index", "commit")),
    *(f"{PRIVATE}/info/{name}" for name in ("attributes", "exclude")),
)

COMMANDS: dict[str, tuple[str, ...]] = {
    "status": ("status",),
    "report": ("report",),
    "replay": ("replay", "--headless"),
    "restore": ("restore", "1", "--yes"),
    "resume": ("resume", "--headless", "--max-iterations", "3"),
    "rebuild": ("rebuild",),
    "prune": ("prune", "--dry-run", "--keep", "0"),
    "run": (*ORDER, "--headless", "--max-iterations", "1"),
    "lab": ("lab", "--run"),
    "guide": ("guide", "words", "--run", "task-001"),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has used up its two iterations."""

    def make(folder: Path) -> None:
        project(folder)
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, *IDENTITY, "commit", "-qm", "first")
        done = here(*ORDER, "--headless", "--max-iterations", "2", cwd=folder)
        assert done.returncode == 3, done.stderr

    return once(tmp_path_factory, "in-the-way", make)


@pytest.fixture
def worktree(recorded: Path, tmp_path: Path) -> Path:
    return copied(recorded, tmp_path)


def copied(recorded: Path, tmp_path: Path) -> Path:
    return shutil.copytree(recorded, tmp_path / "repo", symlinks=True)


def replaced(path: Path, by: Callable[[Path], object]) -> None:
    if path.is_file():
        path.unlink()
    by(path)


def answer(worktree: Path, command: str) -> subprocess.CompletedProcess[str]:
    """It ends without a traceback and with at most one sentence on stderr.

    A resume also says what the checkpoints tell.
    """
    done = here(*COMMANDS[command], cwd=worktree)
    assert "Traceback" not in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) <= (4 if command == "resume" else 1), done.stderr
    return done


def test_a_fifo_in_the_place_of_the_lock(worktree: Path) -> None:
    replaced(worktree / LOCK, os.mkfifo)
    assert answer(worktree, "report").returncode == 0, "its run has ended, so no lock is read"
    for command in ("restore", "resume", "prune", "run", "guide"):
        done = answer(worktree, command)
        assert done.returncode == 1, command
        assert f"{LOCK} cannot be" in done.stderr
        assert "it is a FIFO, not a regular file; move it out of the way" in done.stderr
    (worktree / LOCK).unlink()


def test_a_fifo_in_the_place_of_the_journal(worktree: Path) -> None:
    replaced(worktree / JOURNAL, os.mkfifo)
    assert "its journal cannot be read" in answer(worktree, "prune").stdout
    found = answer(worktree, "status").stdout
    assert "events.jsonl cannot be read: it is a FIFO, not a regular file" in found
    for command in ("report", "replay", "restore", "resume", "rebuild", "lab"):
        done = answer(worktree, command)
        assert done.returncode == 1, command
        assert f"{JOURNAL}: it is a FIFO, not a regular file; move it out of the way" in done.stderr
    assert answer(worktree, "run").returncode == 3


def test_a_link_to_another_journal_is_not_written_to(worktree: Path) -> None:
    """Nor read: a run's name says whose record it is."""
    elsewhere = worktree.parent / "events.jsonl"
    shutil.copy(worktree / JOURNAL, elsewhere)
    before = elsewhere.read_bytes()
    replaced(worktree / JOURNAL, lambda path: path.symlink_to(elsewhere))
    for command in ("replay", "resume", "restore"):
        done = answer(worktree, command)
        assert done.returncode == 1
        assert "it is a link, not a regular file" in done.stderr
    assert elsewhere.read_bytes() == before


@each_row("by", [os.mkfifo, Path.mkdir])
def test_something_in_the_place_of_the_status(
    recorded: Path, tmp_path: Path, by: Callable[[Path], object]
) -> None:
    """Its file is a projection: the journal has the same content."""
    worktree = copied(recorded, tmp_path)
    replaced(worktree / STATUS, by)
    for command in ("status", "prune"):
        assert answer(worktree, command).returncode == 0


def test_a_resume_goes_round_fifos_in_the_place_of_what_is_made_again(worktree: Path) -> None:
    """Status file, git configuration, and logs of an iteration."""
    folder = worktree / ATTEMPT / "results" / "iter-003"
    folder.mkdir(parents=True)
    (folder / "verification.log").symlink_to("/nowhere/else")
    for name in ("transcript.jsonl", "stderr.log"):
        os.mkfifo(folder / name)
    for path in (STATUS, *MADE_AGAIN):
        replaced(worktree / path, os.mkfifo)
    done = answer(worktree, "resume")
    assert done.returncode == 3, done.stderr
    assert "75 %" in here("status", cwd=worktree).stdout


def test_fifos_in_the_place_of_what_is_made_again_hold_up_no_restore(worktree: Path) -> None:
    for name in MADE_AGAIN:
        replaced(worktree / name, os.mkfifo)
    done = answer(worktree, "restore")
    assert done.returncode == 0, done.stderr


def test_a_folder_of_results_that_leads_elsewhere(worktree: Path) -> None:
    outside = worktree.parent / "outside"
    outside.mkdir()
    (worktree / ATTEMPT / "results" / "iter-003").symlink_to(outside)
    done = answer(worktree, "resume")
    assert done.returncode == 1
    assert "iter-003 is a link; links are not followed there; move it" in done.stdout
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("name", [".ralph-tui.toml", "plan.md"])
def test_a_fifo_beside_the_records(worktree: Path, name: str) -> None:
    os.mkfifo(worktree / name)
    words = (*COMMANDS["run"], "--plan", "plan.md")
    done = here(*words, cwd=worktree)
    assert done.returncode in (1, 2)
    assert name in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_plan_that_becomes_a_fifo_is_read_no_more(worktree: Path) -> None:
    (worktree / "plan.md").write_text("- [ ] one\n")
    swap = f"{ONE_MORE}; rm -f plan.md; mkfifo plan.md"
    words = ("run", "x", "-c", "test -e never", *ORDER[4:-1], swap, "--headless")
    limits = ("--max-iterations", "2", "--plan", "plan.md")
    assert here(*words, *limits, cwd=worktree).returncode == 4


def test_a_living_run_gets_its_lock_and_journal_back(worktree: Path) -> None:
    """The agent puts others in their place: a second run is refused all along."""
    agent = (
        f"cat >/dev/null; rm -f {LOCK}; mkfifo {LOCK}; rm -f $J; ln -s /dev/null $J; touch put; "
        "until [ -e go ]; do sleep 0.05; done"
    ).replace("$J", ".aiwg/ralph/tasks/task-001/attempts/002/events.jsonl")
    words = (*ORDER[:-1], agent, "--headless", "--max-iterations", "1")
    with start(*words, cwd=worktree) as living:
        until((worktree / "put").exists)
        until((worktree / LOCK).is_file)
        until((worktree / ATTEMPT).with_name("002").joinpath("events.jsonl").is_file)
        second = answer(worktree, "run")
        assert second.returncode == 2
        assert "owns this worktree" in second.stderr
        (worktree / "go").touch()
        out, errors = living.communicate()
        assert living.returncode == 4, out + errors


NOBODY = "~nosuchuser"


@pytest.mark.parametrize(
    "words",
    [
        *(("status", NOBODY), ("resume", NOBODY), ("restore", "--run", NOBODY)),
        *(("lab", "--run", NOBODY), ("rebuild", NOBODY), ("guide", "x", "--run", NOBODY)),
        *(("report", "-o", NOBODY), ("replay", f"{NOBODY}/x"), ("demo", "--keep", NOBODY)),
    ],
    ids=lambda words: words[0],
)
def test_the_home_of_a_user_who_is_none(worktree: Path, words: tuple[str, ...]) -> None:
    done = here(*words, cwd=worktree)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "ralph-tui: '~nosuchuser' is not the home of a known user; "
        "write the full path, or ./~nosuchuser\n"
    )


@pytest.mark.parametrize(
    "words",
    [("status",), ("restore", "--run"), ("guide", "words", "--run"), ("abort", "--yes", "--run")],
    ids=lambda words: words[0],
)
def test_a_name_that_is_too_long_for_a_path(worktree: Path, words: tuple[str, ...]) -> None:
    done = here(*words, "x" * 5000, cwd=worktree)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "File name too long" in done.stderr


DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
"""Nested too deeply for Python's own parser."""


def test_a_status_that_is_nested_deeply(worktree: Path) -> None:
    (worktree / STATUS).write_bytes(DEEP)
    (worktree / LOCK).write_bytes(DEEP)
    for command in ("status", "prune", "resume"):
        assert answer(worktree, command).returncode in (0, 3), command


def test_a_line_of_the_journal_that_is_nested_deeply(worktree: Path) -> None:
    lines = (worktree / JOURNAL).read_bytes().splitlines(keepends=True)
    lines[4] = lines[4][:-2] + b',"x":' + DEEP + b"}\n"
    (worktree / JOURNAL).write_bytes(b"".join(lines))
    assert "its journal has a bad line" in answer(worktree, "prune").stdout
    for command in ("status", "resume", "replay", "restore"):
        done = answer(worktree, command)
        assert "events.jsonl:5 " in done.stdout + done.stderr
    (worktree / JOURNAL).write_bytes(DEEP + b"\n")
    (worktree / STATUS).unlink()
    assert "events.jsonl:1 " in answer(worktree, "status").stderr
    answer(worktree, "prune")
    assert answer(worktree, "run").returncode == 3
