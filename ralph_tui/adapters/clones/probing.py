"""Whether the completion command measures the tree that a loop works in.

With an editable install (``pip install -e``) of the user's tree, tests that are run in another tree
import the user's code: a loop's work is never measured there, or worse, passes without it. So every
Python source of a new tree, but for its tests, gets a fault with a word of its own, and the command
is run: where its output shows the word, it has read this tree. Where not, and it gives the same
without the fault, it has not. The tree is nobody's yet: no run has begun in it, and should this
process die meanwhile, it is made anew.
"""

import os
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.verification import ShellGate
from ralph_tui.base.errors import WorkspaceError, why, workspace_error
from ralph_tui.base.plain_files import is_plain, read_bytes, write_whole
from ralph_tui.layers.sensor import GateResult
from ralph_tui.text.sanitize import clip, one_line

LIMIT_S = 180.0
"""How long the command may take each time; one that takes longer is not looked at."""
MOST_FILES = 3000
MOST_BYTES = 64 << 20
"""Of all sources together: they are held in memory meanwhile."""
MOST_LOG = 64 << 20
_TEST = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")
_TOOLS = frozenset({"setup.py", "noxfile.py", "tasks.py", "dodo.py"})
_PYTHON = re.compile(
    rb"\bpy(?:test|thon)|\bunittest\b|\btox\b|\bnox\b|Traceback \(most recent|\.py[:\"]"
)


@dataclass(frozen=True)
class Probe:
    """One look; `run` blocks for as long as the command takes, once or twice."""

    tree: Path
    command: str
    variables: Mapping[str, str]
    log: Path
    cancelled_by: Callable[[ShellGate], object]
    """Is told of a command that begins, so that it can be ended."""

    def begins(self) -> bool:
        """Whether there is anything to look at. Raises ``WorkspaceError``."""
        return bool(self.command.strip() and _sources(self.tree))

    def run(self) -> str:
        """A warning, one sentence; empty where there is none. Raises ``WorkspaceError``."""
        word = f"ralph_tui_probe_{uuid.uuid4().hex[:12]}"
        with _faults(self.tree, f"!{word}\n".encode()) as faulty:
            if not faulty:
                return ""
            result = self._measured()
            said = self._said()
        if word.encode() in said or not _PYTHON.search(self.command.encode() + b"\n" + said):
            return ""
        if not _tells(result) or (not result.ok and not self._gives_the_same(result)):
            return ""
        name = clip(one_line(self.command), 80)
        return (
            f"the completion command `{name}` gave the same with a fault in each of {faulty} "
            f"Python sources of {one_line(str(self.tree))}: it measures other files, as after an "
            "editable install of another tree; have the fleet's set-up command install each tree"
        )

    def _gives_the_same(self, faulty: GateResult) -> bool:
        again = self._measured()
        return _tells(again) and _outcome(again) == _outcome(faulty)

    def _measured(self) -> GateResult:
        gate = ShellGate(
            self.command, cwd=self.tree, run_id="fleet-probe", timeout_s=LIMIT_S, env=self.variables
        )
        self.cancelled_by(gate)
        return gate.run(self.log)

    def _said(self) -> bytes:
        with suppress(OSError):
            return read_bytes(self.log, most=MOST_LOG)
        return b""


def _tells(result: GateResult) -> bool:
    """Whether tests were run at all: a program that is missing fails with any sources."""
    counted = result.counts is not None and result.counts.total > 0
    return result.ok or (counted and not result.timed_out and not result.cancelled)


def _outcome(result: GateResult) -> object:
    return result.ok, result.exit_code, result.counts


@contextmanager
def _faults(tree: Path, fault: bytes) -> Iterator[int]:
    """While the block runs, every source begins with this; how many do."""
    before: dict[Path, tuple[bytes, os.stat_result]] = {}
    try:
        for path in _sources(tree):
            there = path.stat()
            before[path] = read_bytes(path, most=MOST_BYTES), there
        if sum(len(content) for content, _ in before.values()) > MOST_BYTES:
            before.clear()
        for path, (content, there) in before.items():
            write_whole(path, fault + content, durable=False, mode=there.st_mode & 0o7777)
        yield len(before)
    except OSError as error:
        raise _refused(tree, error) from error
    finally:
        _put_back(tree, before)


def _put_back(tree: Path, before: Mapping[Path, tuple[bytes, os.stat_result]]) -> None:
    """Content, mode and time: what was compiled from it counts again."""
    try:
        for path, (content, there) in before.items():
            write_whole(path, content, durable=False, mode=there.st_mode & 0o7777)
            os.utime(path, ns=(there.st_atime_ns, there.st_mtime_ns))
    except OSError as error:
        raise _refused(tree, error) from error


def _sources(tree: Path) -> list[Path]:
    """The Python files that git knows, but for tests and what builds; none where they are many."""
    listed = open_repository(tree).git("ls-files", "-z").out.decode("utf-8", "surrogateescape")
    names = [name for name in listed.split("\0") if name.endswith(".py")]
    wanted = [name for name in names if not _TEST.search(name)]
    wanted = [name for name in wanted if PurePosixPath(name).name not in _TOOLS]
    paths = [tree / name for name in wanted if is_plain(tree / name)]
    return paths if len(paths) <= MOST_FILES else []


def _refused(tree: Path, error: OSError) -> WorkspaceError:
    return workspace_error(
        f"the tree {one_line(str(tree))} cannot be looked at: {why(error, 'make it writable')}",
        error,
    )
