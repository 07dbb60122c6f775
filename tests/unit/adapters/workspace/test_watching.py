"""The watcher on real files: its reports, their rate, and its work without watches."""

import errno
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from ralph_tui.adapters.workspace.watching import Batches, FileWatcher, Pace
from ralph_tui.events import Event
from ralph_tui.events.run import Noticed
from ralph_tui.events.workspace import FilesChanged
from tests.paths import ROOT
from tests.waiting import until
from tests.workspaces import workspace_of

QUICK = Pace(quiet=0.05, storm=0.2, between=0.1, polling=0.1)


class Seen:
    """A workspace, and a watcher's timed reports about it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.events: list[Event] = []
        self.times: list[float] = []
        self.workspace = workspace_of(root)
        self.tree = self.workspace.snapshot(0, "start").tree

    def emit(self, event: Event) -> None:
        self.events.append(event)
        self.times.append(time.monotonic())

    def changed(self) -> list[FilesChanged]:
        return [event for event in self.events if isinstance(event, FilesChanged)]

    def paths(self) -> list[str]:
        return [row.path for row in self.changed()[-1].changes] if self.changed() else []

    def noticed(self) -> list[Noticed]:
        return [event for event in self.events if isinstance(event, Noticed)]


@pytest.fixture
def seen(git_repo: Path) -> Seen:
    (git_repo / ".gitignore").write_text("node_modules/\n*.log\n")
    return Seen(git_repo)


@pytest.fixture
def start(seen: Seen) -> Iterator[Callable[..., FileWatcher]]:
    watchers = []

    def begin(pace: Pace = QUICK, watch: Callable[..., Batches] = watchfiles.watch) -> FileWatcher:
        watcher = FileWatcher(seen.workspace, seen.emit, pace=pace, watch=watch)
        watchers.append(watcher)
        watcher.follow(1, seen.tree)
        return watcher

    yield begin
    for watcher in watchers:
        watcher.stop()


def test_tells_changes_by_category_live(seen: Seen, start: Callable[..., FileWatcher]) -> None:
    start()
    (seen.root / "app.py").write_text("1\n2\n")
    until(lambda: seen.paths() == ["app.py"])
    event = seen.changed()[-1]
    assert (event.iteration, event.live, event.latest) == (1, True, "app.py")
    assert [(total.category, total.files, total.added) for total in event.totals] == [
        ("source", 1, 2)
    ]
    (seen.root / "docs").mkdir()
    (seen.root / "docs" / "a.md").write_text("x\n")
    until(lambda: seen.paths() == ["app.py", "docs/a.md"])
    assert seen.changed()[-1].latest == "docs/a.md"
    (seen.root / "app.py").unlink()
    until(lambda: seen.paths() == ["docs/a.md"])


def test_follows_another_tree(seen: Seen, start: Callable[..., FileWatcher]) -> None:
    watcher = start()
    (seen.root / "one.py").write_text("1\n")
    until(lambda: seen.paths() == ["one.py"])
    second = seen.workspace.snapshot(1, "second").tree
    watcher.follow(2, second)
    (seen.root / "two.py").write_text("2\n")
    until(lambda: seen.paths() == ["two.py"])
    assert seen.changed()[-1].iteration == 2


def test_does_not_look_for_ignored_or_own_files(
    seen: Seen, start: Callable[..., FileWatcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    changes = seen.workspace.changes

    def counted(since: str, until: str | None = None) -> object:
        looks.append(since)
        return changes(since, until)

    monkeypatch.setattr(seen.workspace, "changes", counted)
    start()
    until(lambda: len(looks) == 1)
    for name in ("node_modules/deep/x.js", "out.log", ".aiwg/ralph/run.jsonl", ".git/x"):
        (seen.root / name).parent.mkdir(parents=True, exist_ok=True)
        (seen.root / name).write_text("x\n")
    batch_over = threading.Event()
    (seen.root / "node_modules" / "second.js").write_text("y\n")
    batch_over.wait(0.5)  # a scan, if any, would come within this time
    # The folders `.aiwg` and `node_modules` may wake it once; nothing is reported.
    assert len(looks) <= 2
    assert seen.changed() == []
    (seen.root / "app.py").write_text("1\n")
    until(lambda: seen.paths() == ["app.py"])


def test_a_storm_is_few_events(seen: Seen, start: Callable[..., FileWatcher]) -> None:
    start(Pace(quiet=0.02, storm=0.05, between=0.1))
    number = 0
    while len(seen.changed()) < 3:
        (seen.root / f"file{number % 100}.py").write_text("x\n" * number)
        number += 1
    gaps = [later - earlier for earlier, later in pairwise(seen.times)]
    assert min(gaps) >= 0.1
    assert number > 50


def test_stops_at_once(seen: Seen, start: Callable[..., FileWatcher]) -> None:
    watcher = start(Pace(polling=100, heartbeat=100))
    assert "file watcher" in {thread.name for thread in threading.enumerate()}
    watcher.stop()
    assert "file watcher" not in {thread.name for thread in threading.enumerate()}
    watcher.stop()


def no_watches(*paths: object, **options: object) -> Batches:
    raise OSError(errno.ENOSPC, "OS file watch limit reached.")


def test_polls_where_nothing_can_be_watched(seen: Seen, start: Callable[..., FileWatcher]) -> None:
    start(watch=no_watches)
    (seen.root / "app.py").write_text("1\n")
    until(lambda: seen.paths() == ["app.py"])
    (seen.root / "b.py").write_text("1\n")
    until(lambda: seen.paths() == ["app.py", "b.py"])
    assert seen.changed()[-1].latest == "b.py"
    (warning,) = seen.noticed()
    assert (warning.level, warning.source) == ("warn", "watch")
    assert "max_user_watches" in warning.text


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems hold no such names")
def test_polls_where_a_name_is_no_text_and_says_so(
    seen: Seen, start: Callable[..., FileWatcher]
) -> None:
    start()
    (seen.root / "app.py").write_text("1\n")
    until(lambda: seen.paths() == ["app.py"])
    (seen.root / os.fsdecode(b"bad\xff")).touch()
    until(seen.noticed)
    assert "name is not UTF-8" in seen.noticed()[0].text
    (seen.root / "b.py").write_text("1\n")
    until(lambda: "b.py" in seen.paths())


def test_an_unreadable_folder_does_not_end_watching(
    seen: Seen, start: Callable[..., FileWatcher]
) -> None:
    def forbidden(*paths: Any, ignore_permission_denied: bool, **options: Any) -> Batches:
        if not ignore_permission_denied:  # as the library does
            raise PermissionError(errno.EACCES, "Permission denied")
        return watchfiles.watch(*paths, ignore_permission_denied=True, **options)

    start(watch=forbidden)
    (seen.root / "app.py").write_text("1\n")
    until(lambda: seen.paths() == ["app.py"])
    assert seen.noticed() == []


LIMITED = """
import pathlib, sys, uuid
sys.path.insert(0, sys.argv[2])
from tests.waiting import until
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.adapters.workspace.watching import FileWatcher, Pace
root = pathlib.Path(sys.argv[1])
workspace = GitWorkspace(open_repository(root), str(uuid.uuid4()))
for name in ("max_inotify_watches", "max_inotify_instances"):
    limit, events = pathlib.Path("/proc/sys/user", name), []
    before = limit.read_text()
    limit.write_text("0")
    watcher = FileWatcher(workspace, events.append, pace=Pace(polling=0.1))
    watcher.follow(1, workspace.snapshot(0, "start").tree)
    until(lambda: any(event.kind == "noticed" for event in events))
    (root / "app.py").write_text(name)
    until(lambda: any(event.kind == "files_changed" for event in events))
    watcher.stop()
    limit.write_text(before)
    print([event.kind for event in events])
"""


def test_polls_at_the_real_limits(git_repo: Path) -> None:
    inside = ["unshare", "--user", "--map-root-user"]
    if shutil.which("unshare") is None or subprocess.run([*inside, "true"], check=False).returncode:
        pytest.skip("no user namespaces here")
    done = subprocess.run(
        [*inside, sys.executable, "-c", LIMITED, str(git_repo), str(ROOT)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == "['noticed', 'files_changed']\n" * 2


def test_a_failing_git_is_told_once_and_then_forgotten(
    seen: Seen, start: Callable[..., FileWatcher]
) -> None:
    watcher = start(watch=no_watches)
    until(seen.noticed)
    watcher.follow(2, "0" * 40)
    until(lambda: len(seen.noticed()) == 2)
    watcher.follow(3, seen.tree)
    (seen.root / "app.py").write_text("1\n")
    until(lambda: seen.paths() == ["app.py"])
    assert len(seen.noticed()) == 2
    assert seen.changed()[-1].iteration == 3


def test_a_folder_whose_path_is_not_utf8_is_watched(git_repo: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(git_repo, tmp_path / os.fsdecode(b"bad\xff")))
    seen = Seen(root)
    watcher = FileWatcher(seen.workspace, seen.emit, pace=Pace(0.05, 0.2, 0.1, 1000, 1000))
    watcher.follow(1, seen.tree)
    try:
        until(lambda: bool(seen.changed()) or (root / "new.txt").write_text("x") is None)
        until(lambda: seen.paths() == ["new.txt"])
        (root / "sub").mkdir()
        (root / "sub" / "später.txt").write_text("y")
        until(lambda: "sub/später.txt" in seen.paths())
    finally:
        watcher.stop()
    assert seen.noticed() == []
