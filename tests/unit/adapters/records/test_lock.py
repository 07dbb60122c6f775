"""The lock: one run per worktree, and a dead holder never blocks."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph_tui.adapters.records.lock import Owner, acquire, holder
from ralph_tui.base.errors import LockHeldError, WorkspaceError
from tests.processes import Child
from tests.rows import each_row


def test_a_second_run_is_refused_and_told_who_owns_the_worktree(tmp_path: Path) -> None:
    lock = acquire(tmp_path / "lock", "task-001/001", "uuid", "2026-01-01T00:00:00Z")
    with pytest.raises(LockHeldError, match=rf"task-001/001 \(process {os.getpid()} on"):
        acquire(tmp_path / "lock", "task-001/002", "other", "2026-01-01T00:00:00Z")
    assert holder(tmp_path / "lock") == lock.owner
    lock.release()
    assert holder(tmp_path / "lock") is None


def test_reading_the_lock_file_does_not_lose_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    acquire(path, "task-001/001", "uuid", "now")
    path.read_text()
    with path.open() as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@each_row("content", ["", "garbage", "[]", '{"pid": "x"}', "\x1b[31m{}"])
def test_a_stale_file_never_blocks(tmp_path: Path, content: str) -> None:
    path = tmp_path / "lock"
    path.write_text(content)
    assert holder(path) is None
    acquire(path, "task-001/001", "uuid", "now").release()


def test_a_dead_owner_whose_agents_are_being_stopped_is_waited_for(tmp_path: Path) -> None:
    """A process that inherited the descriptor briefly outlives the holder."""
    path = tmp_path / "lock"
    script = (
        "import os, subprocess, sys\n"
        "from pathlib import Path\n"
        "from ralph_tui.adapters.records.lock import acquire\n"
        f"lock = acquire(Path({str(path)!r}), 'task-001/001', 'uuid', 'now')\n"
        "child = subprocess.Popen(['cat'], stdin=0, pass_fds=[lock.descriptor])\n"
        "print(child.pid, flush=True)\n"
    )
    owner = Child[bytes](
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with owner:
        assert owner.stdout is not None
        assert owner.stdin is not None
        owner.stdout.readline()
        assert owner.wait() == 0
        assert holder(path) is not None
        owner.stdin.close()
        acquire(path, "task-001/002", "other", "now").release()


def test_a_lock_file_swept_away_is_given_back_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "ralph"
    path = folder / "lock"
    lock = acquire(path, "task-001/001", "uuid", "now")
    shutil.rmtree(folder)
    lock.keep_name()
    assert holder(path) == lock.owner
    lock.keep_name()
    assert holder(path) == lock.owner
    lock.release()
    assert holder(path) is None


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match="make the folder writable"):
        acquire(tmp_path / "file" / "lock", "task-001/001", "uuid", "now")


def test_an_owner_file_is_foreign_text(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text(
        '{"pid": 1, "host": "\\u001b]0;x\\u0007h", "started": "s", "run": "a\\nb", "run_id": "i"}'
    )
    assert Owner.read(path) == Owner(1, "h", "s", "a⏎b", "i")


def test_a_lock_file_that_was_removed_lets_no_second_run_in(tmp_path: Path) -> None:
    path = tmp_path / ".aiwg/ralph/lock"
    lock = acquire(path, "task-001/001", "uuid", "now")
    path.unlink()
    with pytest.raises(LockHeldError):
        acquire(path, "task-001/002", "other", "now")
    shutil.rmtree(tmp_path / ".aiwg")
    with pytest.raises(LockHeldError):
        acquire(path, "task-001/002", "other", "now")
    lock.keep_name()
    with pytest.raises(LockHeldError, match="task-001/001"):
        acquire(path, "task-001/002", "other", "now")
    lock.release()
    acquire(path, "task-001/002", "other", "now").release()


def test_an_owner_is_never_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may be stopped between any two steps: each write leaves a complete record."""
    path, seen = tmp_path / "lock", list[Owner]()

    def watched(write: Callable[..., object]) -> Callable[..., object]:
        def step(*arguments: object) -> object:
            done = write(*arguments)
            seen.append(Owner.read(path))
            return done

        return step

    lock = acquire(path, "task-001/001", "a very long id of a run", "2026-01-01T00:00:00+00:00")
    for name in ("pwrite", "ftruncate"):
        monkeypatch.setattr(os, name, watched(getattr(os, name)))
    lock.rename("task-001/001", "/a/long/address/of/a/socket")
    lock.release()
    acquire(path, "", "i", "").release()
    assert seen
    assert all(owner.pid == os.getpid() for owner in seen)
