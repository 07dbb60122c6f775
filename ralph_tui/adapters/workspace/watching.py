"""Reports changes in the worktree at most once a second, or every two seconds if there are many.

A thread waits for file system events, which only trigger a check: Git determines the changes. If
the system has no watches left, the thread checks every five seconds instead.
"""

import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Event as Flag
from threading import Lock, Thread

import watchfiles
from watchfiles._rust_notify import WatchfilesRustInternalError

from ralph_tui.adapters.workspace.private_repository import is_own
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.base.plain_files import folder_of
from ralph_tui.events.run import Noticed
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.sensor.categories import files_changed
from ralph_tui.ports.host import Emit

Batches = Iterable[set[tuple[watchfiles.Change, str]]]

MAX_FILTERED = 500
"""Maximum number of paths in a batch to filter by Git's ignore rules; larger ones always count."""
MAX_DATED = 200
"""Maximum number of paths whose times are read to find the one that changed last."""


@dataclass(frozen=True)
class Pace:
    """Intervals in seconds."""

    quiet: float = 0.1
    """Time without further changes after which a change is checked."""
    storm: float = 2.0
    """Interval between checks while changes are continuous."""
    between: float = 1.0
    """Minimum time between two checks."""
    polling: float = 5.0
    """Interval between checks if the system has no watches left."""
    heartbeat: float = 30.0
    """Maximum time without a check, because watches can be lost silently."""


class FileWatcher:
    """`ralph_tui.ports.Watcher` on a Git workspace."""

    def __init__(
        self,
        workspace: GitWorkspace,
        emit: Emit,
        *,
        pace: Pace | None = None,
        watch: Callable[..., Batches] = watchfiles.watch,
    ) -> None:
        self._workspace = workspace
        self._emit = emit
        self._pace = pace or Pace()
        self._watch = watch
        self._watched = str(workspace.root)
        self._stopping = Flag()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._target: tuple[int, str] | None = None
        self._seen: tuple[tuple[int, str] | None, tuple[FileChange, ...]] = (None, ())
        self._ignored_folders: set[str] = set()
        self._looked = -self._pace.heartbeat
        self._noticed = ""

    def follow(self, iteration: int, tree: str) -> None:
        with self._lock:
            self._target = (iteration, tree)
            if self._thread is None and not self._stopping.is_set():
                self._thread = Thread(target=self._run, name="file watcher", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        try:
            with _utf8_name(self._workspace.root) as self._watched:
                try:
                    self._follow_events()
                except PermissionError:
                    # Not from the start: if it may skip unreadable folders, the library also skips
                    # folders for which it has no watches.
                    self._follow_events(ignore_permission_denied=True)
        except (OSError, WatchfilesRustInternalError, UnicodeError) as error:
            pause = self._pace.polling
            self._notice(
                "The files cannot be watched; checking for changes every "
                f"{pause:g} s instead{_describe_failure(error)}.",
                str(error),
            )
            while not self._stopping.wait(pause):
                self._report_changes([])

    def _follow_events(self, *, ignore_permission_denied: bool = False) -> None:
        pace = self._pace
        for batch in self._watch(
            self._watched,
            watch_filter=lambda _, path: self._may_be_change(path),
            debounce=int(pace.storm * 1000),
            step=int(pace.quiet * 1000),
            rust_timeout=int(pace.between * 1000),
            yield_on_timeout=True,
            stop_event=self._stopping,
            raise_interrupt=False,
            ignore_permission_denied=ignore_permission_denied,
        ):
            paths = self._relevant([self._relative(path) for _, path in batch])
            overdue = time.monotonic() - self._looked >= pace.heartbeat
            if paths or overdue or self._target != self._seen[0]:
                self._report_changes(paths)
                self._stopping.wait(pace.between)

    def _report_changes(self, paths: list[str]) -> None:
        """Ask Git for the changes, and report them if they are new."""
        target = self._target
        if target is None or self._stopping.is_set():
            return
        self._looked = time.monotonic()
        iteration, tree = target
        try:
            changes = self._workspace.changes(tree)
        except WorkspaceError as error:
            self._notice("Changed files cannot be listed now.", str(error))
            return
        reported = self._seen[1] if self._seen[0] == target else ()
        self._seen = (target, changes)
        if changes != reported and target == self._target and not self._stopping.is_set():
            changed = [change.path for change in changes]
            noted = sorted(set(paths).intersection(changed))
            latest = _newest(self._workspace.root, noted[:MAX_DATED] + changed[:MAX_DATED])
            self._emit(files_changed(iteration, changes, live=True, latest=latest))

    def _notice(self, text: str, detail: str) -> None:
        """Warn, but not about the same problem twice in a row."""
        if text != self._noticed and not self._stopping.is_set():
            self._noticed = text
            self._emit(Noticed(level="warn", source="watch", text=text, detail=detail))

    def _relative(self, path: str) -> str:
        # The library's names are UTF-8, regardless of this process's encoding.
        return os.fsdecode(os.path.relpath(path, self._watched).encode("utf-8", "surrogateescape"))

    def _may_be_change(self, path: str) -> bool:
        """True if an event may be a change; fast, because it is called for every event."""
        relative = self._relative(path)
        if is_own(relative):
            return False
        parts = PurePosixPath(relative)
        return ".git" not in parts.parts and self._ignored_folders.isdisjoint(
            str(parent) for parent in (parts, *parts.parents)
        )

    def _relevant(self, paths: list[str]) -> list[str]:
        """Return the paths that Git does not ignore, and remember the ignored folders."""
        if any(PurePosixPath(path).name == ".gitignore" for path in paths):
            self._ignored_folders.clear()
        if len(paths) > MAX_FILTERED:
            return paths
        folders = {str(p) for path in paths for p in PurePosixPath(path).parents if p.name}
        try:
            ignored = self._workspace.ignored(sorted(folders.union(paths)))
        except WorkspaceError:  # a path is behind a symbolic link, or deleted: check all
            return paths
        self._ignored_folders |= folders & ignored
        return [path for path in paths if path not in ignored]


@contextmanager
def _utf8_name(folder: Path) -> Iterator[str]:
    """Yield a path to the folder in UTF-8, the only encoding that the library accepts."""
    try:
        str(folder).encode("utf-8")
    except UnicodeEncodeError:
        with folder_of(folder / "any") as descriptor:
            yield f"/proc/self/fd/{descriptor}"
    else:
        yield str(folder)


def _newest(root: Path, paths: list[str]) -> str | None:
    """Return the existing path that was written last."""
    times = {}
    for path in paths:
        try:
            times[path] = (root / path).lstat().st_mtime_ns
        except OSError:
            continue
    return max(times, key=lambda path: times[path], default=None)


def _describe_failure(error: Exception) -> str:
    if out_of_watches(error):
        where = "fs.inotify.max_user_watches or max_user_instances"
        return f" (the system has no free watches; raise {where})"
    if "to string" in str(error):  # the library accepts only UTF-8 names
        return " (a file name is not UTF-8)"
    return ""


def out_of_watches(error: Exception) -> bool:
    """True if the error shows that the system's limit on watches has been reached."""
    words = str(error).lower()
    return getattr(error, "errno", None) in (errno.ENOSPC, errno.EMFILE) or any(
        word in words for word in ("os error 28", "os error 24", "no space left", "limit")
    )
