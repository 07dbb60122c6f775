"""Snapshots in one pass: the order of commits, and that no change is missed."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from ralph_tui.adapters.processes.memory import resident_bytes
from ralph_tui.adapters.processes.sweep import sweep
from ralph_tui.adapters.workspace.git import (
    PIPE_BYTES,
    GitResult,
    PersistentGit,
    Running,
    begin_git,
)
from ralph_tui.adapters.workspace.private_repository import PrivateRepository
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.staging import Staging
from ralph_tui.base.errors import WorkspaceError
from tests.processes import Child
from tests.waiting import until
from tests.workspaces import workspace_of


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode().strip()


def children() -> set[str]:
    """Running or unreaped child processes, without guards."""
    return children_of(os.getpid())


def children_of(process: int) -> set[str]:
    tasks = Path(f"/proc/{process}/task")
    if not tasks.joinpath(str(process), "children").exists():
        pytest.skip("this system does not list children in /proc")
    found: set[str] = set()
    for task in tasks.iterdir():
        with suppress(OSError):  # a thread that has ended meanwhile
            found.update((task / "children").read_text().split())
    return {child for child in found if not _is_guard(child)}


def _is_guard(process: str) -> bool:
    try:
        return b"guard_program.py" in Path("/proc", process, "cmdline").read_bytes()
    except OSError:
        return False


def test_the_same_size_within_the_same_second(git_repo: Path) -> None:
    """Times in git's index are not enough: many snapshots fit into one of its seconds."""
    file = git_repo / "racy.py"
    workspace = workspace_of(git_repo)
    for number in range(12):
        file.write_text(f"{number:02}\n")
        taken = workspace.snapshot(number, "at once")
        assert git(git_repo, "show", f"{taken.tree}:racy.py") == f"{number:02}"
    git(git_repo, "fsck", "--strict", "--no-dangling")


def test_a_commit_is_as_git_writes_it(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    workspace.snapshot(0, "first")
    (git_repo / "a.py").write_text("1\n")
    taken = workspace.snapshot(1, "zweite Änderung\n\n")
    raw = git(git_repo, "cat-file", "commit", taken.commit)
    head, _, message = raw.partition("\n\n")
    stamp = head.splitlines()[-1].removeprefix("committer ")
    by_git = subprocess.run(
        ["git", "commit-tree", taken.tree, "-p", f"{taken.commit}^", "-F", "-"],
        cwd=git_repo,
        env={
            **os.environ,
            **{
                f"GIT_{who}_{what}": value
                for who in ("AUTHOR", "COMMITTER")
                for what, value in (
                    ("NAME", "ralph-tui"),
                    ("EMAIL", "ralph-tui@localhost"),
                    ("DATE", " ".join(stamp.split()[-2:])),
                )
            },
        },
        input=(message + "\n").encode(),
        check=True,
        capture_output=True,
    )
    assert by_git.stdout.decode().strip() == taken.commit


def test_refs_deleted_but_not_pruned(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    git(git_repo, "update-ref", "-d", first.ref)
    (git_repo / "new.py").write_text("1\n")
    second = workspace.snapshot(1, "second")
    assert git(git_repo, "rev-parse", f"{second.ref}^") == first.commit
    packed = workspace.snapshot(2, "third")
    git(git_repo, "pack-refs", "--all")
    fourth = workspace.snapshot(3, "fourth")
    assert git(git_repo, "rev-parse", f"{fourth.ref}^") == packed.commit


def test_a_number_that_is_taken_again(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    (git_repo / "new.py").write_text("1\n")
    again = workspace.snapshot(0, "again")
    assert git(git_repo, "rev-parse", again.ref) == again.commit != first.commit
    assert git(git_repo, "rev-parse", f"{again.commit}^") == first.commit


def test_a_ref_that_leads_to_the_users_branch(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    branch = git(git_repo, "symbolic-ref", "HEAD")
    head = git(git_repo, "rev-parse", "HEAD")
    git(git_repo, "symbolic-ref", first.ref.replace("/000", "/001"), branch)
    second = workspace.snapshot(1, "second")
    git(git_repo, "symbolic-ref", first.ref.replace("/000", "/002"), branch)
    workspace.snapshot(2, "third")
    assert git(git_repo, "rev-parse", "HEAD") == head
    assert git(git_repo, "rev-parse", second.ref) == second.commit


def test_nothing_that_was_begun_is_left(git_repo: Path) -> None:
    """No waiting git and no lock, whatever made the snapshot fail."""
    before = children()
    workspace = workspace_of(git_repo)
    workspace.snapshot(0, "first")
    refs = git_repo / ".git" / "refs" / "ralph"
    shutil.rmtree(refs)
    refs.write_text("no folder")
    with pytest.raises(WorkspaceError):
        workspace.snapshot(1, "second")
    workspace.close()
    assert children() <= before
    assert list((git_repo / ".git" / "ralph-tui").glob("*.lock")) == []
    refs.unlink()
    workspace.snapshot(1, "second")
    workspace.close()
    assert children() <= before


def test_a_command_that_waits_ends_with_its_block(git_repo: Path) -> None:
    before = children()
    private = PrivateRepository(open_repository(git_repo))
    Staging(private).capture()
    update = ("update-index", "-z", "--add", "--stdin")
    with private.begin(*update, waits=True):
        assert children() > before
    assert children() <= before
    assert not private.index.with_name("index.lock").exists()


def test_long_input_and_long_output(tmp_path: Path) -> None:
    """More than a pipe holds, in both directions at once."""
    git(tmp_path, "init", "-q")
    lines = b"".join(b"%040d\n" % number for number in range(4000))
    with begin_git(tmp_path, "cat-file", "--batch-check", waits=True) as command:
        answer = command.finish(lines)
    assert answer.out.count(b" missing\n") == 4000


def test_files_that_go_while_others_come(git_repo: Path) -> None:
    for name in ("folder/a", "folder/b", "stays", "goes"):
        (git_repo / name).parent.mkdir(exist_ok=True)
        (git_repo / name).write_text(name)
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    shutil.rmtree(git_repo / "folder")
    (git_repo / "folder").write_text("a file now")
    (git_repo / "goes").unlink()
    (git_repo / "comes").write_text("new")
    second = workspace.snapshot(1, "second")
    names = git(git_repo, "ls-tree", "-r", "--name-only", second.tree).split()
    assert set(names) == {"README.md", "comes", "folder", "stays"}
    workspace.restore(first.tree)
    assert (git_repo / "folder" / "b").read_text() == "folder/b"
    assert workspace.snapshot(2, "third").tree == first.tree


def test_what_git_does_for_a_run_bears_its_mark(git_repo: Path) -> None:
    """So that the next process of the run can end leftover writers of a killed one."""
    private = PrivateRepository(open_repository(git_repo), "run-7")
    private.prepare()
    with private.begin("update-index", "-z", "--stdin", waits=True):
        until(lambda: resident_bytes("run-7") > 0)
        assert len(sweep("run-7".__eq__, git_repo)) == 1
        assert resident_bytes("run-7") == 0


def test_what_is_kept_open_may_be_killed(git_repo: Path) -> None:
    """An agent can end any of its user's processes; the next snapshot still works."""
    before = children()
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    kept = children() - before
    assert len(kept) == 2
    for process in kept:
        os.kill(int(process), signal.SIGKILL)
    second = workspace.snapshot(1, "second")
    assert git(git_repo, "rev-parse", f"{second.ref}^") == first.commit
    assert len(children() - before) == 2
    assert not kept & children()


def test_what_is_kept_open_ends_with_a_process_that_is_killed(git_repo: Path) -> None:
    taken = 'w.snapshot(0, "first"); print("taken", flush=True); input()'
    opened = "from tests.workspaces import *; w = workspace_of(Path(sys.argv[1]))"
    command = [sys.executable, "-c", f"import sys; {opened}; {taken}", str(git_repo)]
    with Child[bytes](command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"taken\n"
        kept = children_of(program.pid)
        assert len(kept) == 2
        program.kill()
    until(lambda: not any(Path("/proc", process).exists() for process in kept))


def test_answers_come_whatever_the_environment_says(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_FLUSH", "0")  # git would hold an answer back until more of them come
    assert workspace_of(git_repo).snapshot(0, "first").commit


def test_a_lock_that_a_killed_git_has_left(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    (git_repo / ".git" / f"{first.ref[:-1]}1.lock").touch()
    second = workspace.snapshot(1, "second")
    assert git(git_repo, "rev-parse", second.ref) == second.commit


def test_a_git_that_is_killed_while_it_reads_files(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is not at fault and is still saved."""
    workspace = workspace_of(git_repo)
    workspace.snapshot(0, "first")
    (git_repo / "new.py").write_text("1\n")
    finish = Running.finish
    killed: list[Running] = []

    def kill_one(running: Running, stdin: bytes = b"", accept: Any = (0,)) -> GitResult:
        if stdin == b"new.py\0" and not killed:
            killed.append(running)
            running._popen.kill()
        return finish(running, stdin, accept)

    monkeypatch.setattr(Running, "finish", kill_one)
    taken = workspace.snapshot(1, "second")
    assert killed
    assert taken.missing == ()
    assert git(git_repo, "show", f"{taken.tree}:new.py") == "1"


def test_a_planted_link_is_not_followed(git_repo: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine\n")
    workspace = workspace_of(git_repo)
    workspace.snapshot(0, "first")
    note = git_repo / ".git" / "ralph-tui" / "commit"
    note.unlink()
    note.symlink_to(mine)
    taken = workspace.snapshot(1, "second")
    assert git(git_repo, "rev-parse", taken.ref) == taken.commit
    assert mine.read_text() == "mine\n"


def test_a_folder_in_the_place_of_the_index_is_told(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    workspace.snapshot(0, "first")
    index = git_repo / ".git" / "ralph-tui" / "index"
    index.unlink()
    index.mkdir()
    with pytest.raises(WorkspaceError, match=r"cannot write .*index: Is a directory"):
        workspace.snapshot(1, "second")
    index.rmdir()
    workspace.snapshot(1, "second")


def test_warnings_of_what_is_kept_open_do_not_stop_it(tmp_path: Path) -> None:
    """More warnings than a pipe holds, over many requests."""
    git(tmp_path, "init", "-q")
    script = f"while read -r line; do printf '%0{PIPE_BYTES // 2}d' 1 >&2; echo \"$line\"; done"
    kept = PersistentGit(
        lambda: begin_git(tmp_path, "-c", f"alias.echoed=!{script}", "echoed", waits=True)
    )
    with closing(kept):
        for number in range(10):
            assert kept.ask(b"%d\n" % number) == [str(number)]


def test_what_is_kept_open_says_why_it_ended(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    kept = PersistentGit(lambda: begin_git(tmp_path, "update-ref", "--stdin", waits=True))
    with closing(kept):
        assert kept.ask(b"start\n") == ["start: ok"]
        with pytest.raises(WorkspaceError, match=r"update-ref failed.*unknown command: nonsense"):
            kept.ask(b"nonsense\n")
        assert kept.ask(b"start\ncommit\n", lines=2) == ["start: ok", "commit: ok"]


def test_a_folder_whose_name_git_would_read_otherwise(tmp_path: Path) -> None:
    root = tmp_path / 'a "name"\nwith \\'
    root.mkdir()
    git(root, "init", "-q")
    taken = workspace_of(root).snapshot(0, "first")
    assert git(root, "rev-parse", taken.ref) == taken.commit


def test_a_git_that_is_killed_each_time_costs_one_snapshot_and_says_so(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    (git_repo / "new.py").write_text("1\n")
    before, over = children(), Event()

    def kill_each() -> None:
        while not over.is_set():
            for process in children() - before:
                with suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)

    killer = Thread(target=kill_each)
    killer.start()
    try:
        with pytest.raises(
            WorkspaceError, match=r"^git \S+ was terminated by signal 9 in .*; try again"
        ):
            until(lambda: workspace.snapshot(0, "first") and None)
    finally:
        over.set()
        killer.join()
    taken = workspace.snapshot(1, "second")
    assert git(git_repo, "show", f"{taken.ref}:new.py") == "1"
    assert not [*(git_repo / ".git").glob("*.lock")]
