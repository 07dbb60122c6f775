"""Git calls have a time limit, and none outlives the process that started it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from ralph_tui.adapters.processes.keeper import descendants, process_table
from ralph_tui.adapters.workspace import git_calls, pipes
from ralph_tui.adapters.workspace.git_status import git_status
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.base.errors import GitEndedError, WorkspaceError
from tests.processes import Child
from tests.waiting import PATIENCE_S, until
from tests.workspaces import workspace_of


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def refusal(work: Callable[[], object]) -> WorkspaceError:
    """Return the error that this raises; it is one line."""
    with pytest.raises(WorkspaceError) as raised:
        work()
    assert "\n" not in str(raised.value)
    return raised.value


def command_lines() -> dict[int, str]:
    """Command lines of all live processes."""
    found = {}
    for entry in process_table().values():
        with suppress(OSError):
            line = Path("/proc", str(entry.pid), "cmdline").read_bytes()
            if entry.alive:
                found[entry.pid] = os.fsdecode(line.replace(b"\0", b" "))
    return found


def alive(word: str) -> list[str]:
    """Command lines of live processes that contain this word."""
    return [line for line in command_lines().values() if word in line]


def guards_of(pid: int) -> set[int]:
    """The guards that a process started."""
    table, lines = process_table(), command_lines()
    return {
        p for p in lines if "guard_program.py" in lines[p] and p in table and table[p].parent == pid
    }


# -- pipes in the place of files -------------------------------------------------------------------

PIPES = (
    ".gitignore",
    "sub/.gitignore",
    "new/deep/.gitignore",
    "sub/.gitattributes",
    "nested/.git/HEAD",
    ".git/info/exclude",
    ".git/objects/info/alternates",
)


@pytest.fixture
def changed(git_repo: Path) -> GitWorkspace:
    """A workspace with a first snapshot and changed files in every folder."""
    (git_repo / "sub").mkdir()
    (git_repo / "sub" / "a.py").write_text("1\n")
    (git_repo / "nested").mkdir()
    git(git_repo / "nested", "init", "-q")
    workspace = workspace_of(git_repo)
    workspace.snapshot(0, "first")
    for name in ("sub/a.py", "new/deep/b.py", "c.py"):
        (git_repo / name).parent.mkdir(parents=True, exist_ok=True)
        (git_repo / name).write_text("22\n")
    return workspace


def put_pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize("name", PIPES)
def test_a_pipe_that_git_reads_is_named(changed: GitWorkspace, name: str) -> None:
    root, index = changed.root, changed.root / ".git" / "ralph-tui" / "index"
    first = changed.newest()
    put_pipe(root / name)
    refused = refusal(lambda: changed.snapshot(1, "second"))
    assert isinstance(refused, GitEndedError)
    assert str(refused) == f"git reads {name}, which is a FIFO and never ends; delete it"
    kept_open = [line for line in alive(str(root)) if "--stdin" in line]
    assert alive(str(root)) == kept_open
    (root / name).unlink()
    if name == "nested/.git/HEAD":
        (root / name).write_text("ref: refs/heads/main\n")
    assert index.exists(), "hashes from git are cached"
    assert changed.snapshot(1, "second").missing == ("nested/",)
    assert changed.newest() == first + 1


def test_a_pipe_that_is_known_is_not_opened_again(
    changed: GitWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git is not started while the pipe exists: PATH has none, so a start would fail."""
    put_pipe(changed.root / "sub" / ".gitignore")
    known = refusal(lambda: changed.snapshot(1, "second"))
    monkeypatch.setenv("PATH", str(changed.root))
    assert str(refusal(lambda: changed.snapshot(1, "second"))) == str(known)
    assert str(refusal(lambda: git_status(changed.repository))) == str(known)


def test_a_pipe_that_somebody_holds_open(changed: GitWorkspace) -> None:
    """Git then opens it, and waits for input."""
    pipe = changed.root / "sub" / ".gitattributes"
    os.mkfifo(pipe)
    held = os.open(pipe, os.O_RDWR)
    try:
        refused = refusal(lambda: changed.snapshot(1, "second"))
        assert "sub/.gitattributes, which is a FIFO" in str(refused)
    finally:
        os.close(held)


def gits_below(pid: int) -> list[int]:
    """Live git processes started by a process."""
    table = process_table()
    below = {entry.pid for entry in descendants({pid}, table)}
    return [found for found, line in command_lines().items() if found in below and "git" in line]


def waits_for_partner(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/wchan").read_text() == "wait_for_partner"
    return False


def has_open(pid: int, name: str) -> bool:
    with suppress(OSError):
        return any(name in str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir())
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="/proc shows what a process waits for")
@pytest.mark.parametrize("name", ["sub/.gitignore", "sub/.gitattributes"])
def test_a_pipe_that_is_replaced_while_git_waits_for_it(
    changed: GitWorkspace, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The pipe can no longer be found, but git does not wait for its full time limit.

    Git also reads attributes without a size, so it waits for an open pipe.
    """
    pipe, opened = changed.root / name, name.endswith("attributes")
    os.mkfifo(pipe)
    held = [os.open(pipe, os.O_RDWR)] if opened else []
    monkeypatch.setattr(git_calls, "POLL_S", 1.0)  # so that it is replaced before the first look

    def waits(pid: int) -> bool:
        return has_open(pid, str(pipe)) if opened else waits_for_partner(pid)

    def replace() -> None:
        until(lambda: any(map(waits, gits_below(os.getpid()))))
        put_pipe(pipe)

    replacing = threading.Thread(target=replace)
    replacing.start()
    try:
        refused = refusal(lambda: changed.snapshot(1, "second"))
    finally:
        replacing.join()
        for descriptor in held:
            os.close(descriptor)
    assert isinstance(refused, GitEndedError)
    assert "is waiting for a FIFO that replaced a file in " in str(refused)
    pipe.unlink()
    assert changed.snapshot(1, "second").number == 1


def test_a_file_of_excludes_elsewhere_that_is_a_pipe(git_repo: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "excludes")
    git(git_repo, "config", "core.excludesFile", str(tmp_path / "excludes"))
    refused = refusal(lambda: workspace_of(git_repo).snapshot(0, "first"))
    assert f"git reads {tmp_path}/excludes, which is a FIFO" in str(refused)


def test_pipes_that_git_does_not_read(changed: GitWorkspace) -> None:
    """Pipes in the project, below an ignored folder, or with a similar name."""
    (changed.root / ".gitignore").write_text("ignored/\n")
    (changed.root / "ignored").mkdir()
    for name in ("ignored/.gitignore", "pipe", "sub/x.gitignore"):
        os.mkfifo(changed.root / name)
    reader = threading.Thread(target=(changed.root / "pipe").read_bytes)
    reader.start()
    try:
        assert changed.snapshot(1, "second").number == 1
        assert "c.py" in git_status(changed.repository).untracked
    finally:
        (changed.root / "pipe").write_bytes(b"")
        reader.join()


@pytest.mark.parametrize("name", ["config", "HEAD"])
def test_a_repository_that_cannot_be_opened_for_a_pipe(git_repo: Path, name: str) -> None:
    put_pipe(git_repo / ".git" / name)
    (git_repo / "sub").mkdir()
    for folder in (git_repo, git_repo / "sub"):
        refused = refusal(partial(open_repository, folder))
        assert f".git/{name}, which is a FIFO" in str(refused)


def test_a_git_that_is_let_go_on_by_the_look_for_its_pipe(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git ends before it is killed; the pipe it waited for is still named."""
    put_pipe(git_repo / ".git" / "HEAD")
    look, ended = pipes.is_released, []

    def slowly(pipe: Path) -> bool:
        if waited_for := look(pipe):
            ended.append(until(lambda: not alive(str(git_repo))))
        return waited_for

    monkeypatch.setattr(git_calls, "is_released", slowly)
    refused = refusal(lambda: open_repository(git_repo))
    assert ended
    assert ".git/HEAD, which is a FIFO" in str(refused)


# -- a git that does not end -----------------------------------------------------------------------


@pytest.fixture
def stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Put a git on PATH whose one command never returns; return its mark in `ps`."""
    real = shutil.which("git")

    def put(command: str, first: str = "") -> str:
        mark = f"97533.{os.getpid()}"
        program = tmp_path / "bin" / "git"
        program.parent.mkdir(exist_ok=True)
        program.write_text(
            f'#!/bin/sh\nmark={mark}\ncase " $* " in *" {command} "*) {first}\nsleep $mark;; esac\n'
            f'exec {real} "$@"\n'
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        return mark

    return put


def test_a_git_that_never_ends_has_a_limit(
    changed: GitWorkspace, stuck: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_calls, "LIMIT_S", 0.5)
    monkeypatch.setattr(git_calls, "FILES_PER_S", 1000)
    mark = stuck("diff-files")
    refused = refusal(lambda: changed.snapshot(1, "second"))
    assert str(refused).startswith("git diff-files was still running after ")
    assert str(changed.root) in str(refused)
    assert not alive(mark)


def test_a_larger_tree_gives_more_time(
    changed: GitWorkspace, stuck: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_calls, "LIMIT_S", 0.1)
    stuck("diff-files")
    with (changed.root / "large").open("wb") as file:
        file.truncate(8_000_000)  # a hole: nothing is written
    refused = refusal(lambda: changed.snapshot(1, "second"))
    allowed = re.search(r"was still running after (\d+)", str(refused))
    assert allowed is not None
    assert int(allowed[1]) > 1, "a tenth of a second without the file"


@pytest.mark.parametrize("first", ["", "trap '' TERM INT HUP", "setsid sleep $mark &"])
def test_the_end_of_a_run_ends_git(
    changed: GitWorkspace, stuck: Callable[..., str], first: str
) -> None:
    """Within three seconds in any state; no git starts afterwards."""
    mark = stuck("diff-files", first)

    def hurry() -> None:
        until(lambda: alive(mark))
        changed.hurry()

    asker = threading.Thread(target=hurry)
    asker.start()
    with pytest.raises(
        GitEndedError, match="git diff-files was still running and was stopped with the run"
    ):
        changed.snapshot(1, "second")
    assert git_calls.ENDING_S + git_calls.TERMINATE_S < 3
    asker.join()
    assert not alive(mark)
    refusal(lambda: changed.snapshot(1, "second"))
    refusal(lambda: git_status(changed.repository))
    assert not alive(mark)


@pytest.mark.parametrize(("environment", "left"), [("", 0), ("env -i", 1)])
def test_what_git_has_started_and_left_holds_its_output(
    changed: GitWorkspace,
    stuck: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    environment: str,
    left: int,
) -> None:
    """Its output stays open although git ended; an unmarked process cannot be identified."""
    monkeypatch.setattr(git_calls, "LIMIT_S", 0.5)
    mark = stuck("diff-files", f"(setsid {environment} sleep $mark &); exit 0")
    refused = refusal(lambda: changed.snapshot(1, "second"))
    assert "git diff-files was still running after " in str(refused)
    assert len(alive(mark)) == left
    for pid in [pid for pid, line in command_lines().items() if mark in line]:
        os.kill(pid, signal.SIGKILL)


def test_a_git_that_is_kept_open_and_does_not_answer(
    changed: GitWorkspace, stuck: Callable[..., str]
) -> None:
    changed.close()
    workspace = workspace_of(changed.root)
    mark = stuck("update-ref")

    def hurry() -> None:
        until(lambda: alive(mark))
        workspace.hurry()

    threading.Thread(target=hurry).start()
    refused = refusal(lambda: workspace.snapshot(1, "second"))
    assert "git update-ref was still running and was stopped with the run" in str(refused)
    assert not alive(mark)


def test_work_that_is_done_in_time_is_done_at_the_end_of_a_run(changed: GitWorkspace) -> None:
    changed.hurry()
    taken = changed.snapshot(1, "the last one")
    (changed.root / "c.py").write_text("333\n")
    assert changed.restore(taken.tree).changed == ("c.py",)


def test_no_git_outlives_a_process_that_is_killed(
    git_repo: Path, stuck: Callable[..., str]
) -> None:
    mark = stuck("diff-files", "trap '' TERM INT HUP")
    opened = "import sys; from tests.workspaces import *; w = workspace_of(Path(sys.argv[1]))"
    command = [sys.executable, "-c", f'{opened}; w.snapshot(0, "first")', str(git_repo)]
    with Child[bytes](command) as program:
        until(lambda: alive(mark))
        guards = guards_of(program.pid)
        assert guards
        program.kill()
    until(lambda: not alive(mark))
    until(lambda: not any(Path("/proc", str(guard)).exists() for guard in guards))


def test_one_guard_from_the_first_snapshot_to_the_end(git_repo: Path) -> None:
    before = guards_of(os.getpid())
    workspace = workspace_of(git_repo)
    workspace.snapshot(0, "first")
    workspace.snapshot(1, "second")
    assert len(guards_of(os.getpid()) - before) == 1
    workspace.close()
    assert guards_of(os.getpid()) == before


def test_a_guard_that_was_stopped_holds_up_nobody(git_repo: Path) -> None:
    before = guards_of(os.getpid())
    workspace = workspace_of(git_repo)
    workspace.snapshot(0, "first")
    (guard,) = guards_of(os.getpid()) - before
    os.kill(guard, signal.SIGSTOP)
    try:
        closing = threading.Thread(target=workspace.close, daemon=True)
        closing.start()
        closing.join(PATIENCE_S)
        assert not closing.is_alive()
    finally:
        with suppress(ProcessLookupError):
            os.kill(guard, signal.SIGCONT)
    assert guards_of(os.getpid()) == before


def test_what_is_late_has_a_guard_too(changed: GitWorkspace) -> None:
    changed.close()
    repository, before = open_repository(changed.root), guards_of(os.getpid())
    with repository.begin("cat-file", "--batch-check", waits=True) as waiting:
        ended = threading.Thread(target=waiting.finish)
        with repository.calls.waiting(waiting._popen, "cat-file"):
            until(lambda: guards_of(os.getpid()) - before)
        ended.start()
        ended.join()
    repository.calls.dismiss_guard()
    assert guards_of(os.getpid()) == before
