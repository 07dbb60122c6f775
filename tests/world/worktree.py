"""A worktree without files: its snapshots, its watcher, and the completion command."""

from collections import deque
from collections.abc import Callable
from pathlib import Path

from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.runners import MAX_NAMES
from ralph_tui.ports.worktree import Restored, Snapshot


class FakeGate:
    """Passes a given number of tests in each run, out of `total`."""

    def __init__(self, passed: list[int], total: int = 10) -> None:
        self.passed = deque(passed)
        self.total = total
        self.tail = "the tail"
        """The end of what it prints."""
        self.cancelled = 0
        self.last = 0
        self.measure: Callable[[], GateResult] | None = None
        """Takes the place of the numbers."""

    def run(self, log: Path) -> GateResult:
        if self.measure is not None:
            return self.measure()
        self.last = self.passed.popleft() if self.passed else self.last
        failed = self.total - self.last
        names = tuple(f"test_{n}" for n in range(self.last, self.total))
        counts = Counts("pytest", self.last, failed, failing=names[:MAX_NAMES])
        return GateResult(ok=not failed, exit_code=int(failed > 0), counts=counts, tail=self.tail)

    def cancel(self) -> None:
        self.cancelled += 1


STILL = ("ralph: before restoring", "ralph: as snapshot")
"""Snapshots around a restore: no work was done since the previous one or the restore."""


class FakeWorkspace:
    """Numbers its trees; by default every session changes one file."""

    def __init__(self) -> None:
        self.root = Path("/r")
        self.taken: list[str] = []
        self._tree = ""
        self.changed = [FileChange(path="a.py", status="modified", category="source", added=1)]
        self.difference = "+ a line\n"
        """Between any two trees."""
        self.compared: list[tuple[str, str]] = []
        self.error: Exception | None = None
        self.restored: list[str] = []
        self.conflicting: tuple[str, ...] = ()
        self.hurried = 0

    def hurry(self) -> None:
        self.hurried += 1

    def snapshot(self, number: int, message: str) -> Snapshot:
        if self.error is not None:
            raise self.error
        self.taken.append(message)
        if not message.startswith(STILL):
            self._tree = f"t{number}"
        return Snapshot(number, f"refs/ralph/x/{number:03}", f"c{number}", self._tree)

    def changes(self, since: str, until: str | None = None) -> tuple[FileChange, ...]:
        return tuple(self.changed)

    def excerpt(self, since: str, until: str, limit: int) -> str:
        self.compared.append((since, until))
        return self.difference[:limit]

    def restore(self, tree: str) -> Restored:
        if self.error is not None:
            raise self.error
        self.restored.append(tree)
        self._tree = tree
        return Restored(("a.py",), ())

    def newest(self) -> int:
        return len(self.taken)

    def conflicts(self) -> tuple[str, ...]:
        return self.conflicting


class FakeWatcher:
    """Records its calls."""

    def __init__(self) -> None:
        self.followed: list[tuple[int, str]] = []
        self.stopped = False

    def follow(self, iteration: int, tree: str) -> None:
        self.followed.append((iteration, tree))

    def stop(self) -> None:
        self.stopped = True
