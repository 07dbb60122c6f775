"""A check that the completion command measures the worktree of a loop.

After an editable install (``pip install -e``) of the user's files, tests in another worktree import
the user's code. The work of a loop is then never measured, or passes without being measured.

The probe adds a fault with a unique word to every Python source of a new worktree, except tests,
and runs the command. If the output contains the word, the command has read this worktree. If not,
and if the result is the same without the fault, it has not. No run has begun in the worktree yet;
if this process dies, the worktree is recreated.
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
from ralph_tui.layers.sensor.gate import GateResult
from ralph_tui.text.sanitize import clip, one_line

LIMIT_S = 180.0
"""Timeout of each run of the command in seconds; a slower command is not probed."""
MAX_FILES = 3000
MAX_BYTES = 64 << 20
"""Maximum size of all sources in bytes; they stay in memory during the probe."""
MAX_LOG = 64 << 20
_TEST = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")
_TOOLS = frozenset({"setup.py", "noxfile.py", "tasks.py", "dodo.py"})
_PYTHON = re.compile(
    rb"\bpy(?:test|thon)|\bunittest\b|\btox\b|\bnox\b|Traceback \(most recent|\.py[:\"]"
)


@dataclass(frozen=True)
class Probe:
    """One probe; `run` blocks while the command runs once or twice."""

    tree: Path
    command: str
    variables: Mapping[str, str]
    log: Path
    cancelled_by: Callable[[ShellGate], object]
    """Called with each command as it starts, so that it can be ended."""

    def has_sources(self) -> bool:
        """True if there is anything to probe. Raises ``WorkspaceError``."""
        return bool(self.command.strip() and _sources(self.tree))

    def run(self) -> str:
        """Return a one-sentence warning, or ""; raises ``WorkspaceError``."""
        word = f"ralph_tui_probe_{uuid.uuid4().hex[:12]}"
        with _faults(self.tree, f"!{word}\n".encode()) as faulty:
            if not faulty:
                return ""
            result = self._run_command()
            said = self._read_log()
        if word.encode() in said or not _PYTHON.search(self.command.encode() + b"\n" + said):
            return ""
        if not _ran_tests(result) or (not result.ok and not self._is_reproducible(result)):
            return ""
        name = clip(one_line(self.command), 80)
        return (
            f"the completion command `{name}` produced the same result with a fault in each of "
            f"{faulty} Python sources of {one_line(str(self.tree))}; it tests other files, for "
            "example because another clone is installed in editable mode; install each clone in "
            "the fleet's set-up command"
        )

    def _is_reproducible(self, faulty: GateResult) -> bool:
        again = self._run_command()
        return _ran_tests(again) and _outcome(again) == _outcome(faulty)

    def _run_command(self) -> GateResult:
        gate = ShellGate(
            self.command, cwd=self.tree, run_id="fleet-probe", timeout_s=LIMIT_S, env=self.variables
        )
        self.cancelled_by(gate)
        return gate.run(self.log)

    def _read_log(self) -> bytes:
        with suppress(OSError):
            return read_bytes(self.log, most=MAX_LOG)
        return b""


def _ran_tests(result: GateResult) -> bool:
    """True if any tests ran; a missing program would fail with or without the fault."""
    counted = result.counts is not None and result.counts.total > 0
    return result.ok or (counted and not result.timed_out and not result.cancelled)


def _outcome(result: GateResult) -> object:
    return result.ok, result.exit_code, result.counts


@contextmanager
def _faults(tree: Path, fault: bytes) -> Iterator[int]:
    """Apply the fault to every source during the block; yield the number of sources."""
    before: dict[Path, tuple[bytes, os.stat_result]] = {}
    try:
        for path in _sources(tree):
            there = path.stat()
            before[path] = read_bytes(path, most=MAX_BYTES), there
        if sum(len(content) for content, _ in before.values()) > MAX_BYTES:
            before.clear()
        for path, (content, there) in before.items():
            write_whole(path, fault + content, durable=False, mode=there.st_mode & 0o7777)
        yield len(before)
    except OSError as error:
        raise _refused(tree, error) from error
    finally:
        _restore(tree, before)


def _restore(tree: Path, before: Mapping[Path, tuple[bytes, os.stat_result]]) -> None:
    """Restore content, mode and times, so that compiled files stay valid."""
    try:
        for path, (content, there) in before.items():
            write_whole(path, content, durable=False, mode=there.st_mode & 0o7777)
            os.utime(path, ns=(there.st_atime_ns, there.st_mtime_ns))
    except OSError as error:
        raise _refused(tree, error) from error


def _sources(tree: Path) -> list[Path]:
    """Return the tracked Python files, except tests and build scripts; none if too many."""
    listed = open_repository(tree).git("ls-files", "-z").out.decode("utf-8", "surrogateescape")
    names = [name for name in listed.split("\0") if name.endswith(".py")]
    wanted = [name for name in names if not _TEST.search(name)]
    wanted = [name for name in wanted if PurePosixPath(name).name not in _TOOLS]
    paths = [tree / name for name in wanted if is_plain(tree / name)]
    return paths if len(paths) <= MAX_FILES else []


def _refused(tree: Path, error: OSError) -> WorkspaceError:
    return workspace_error(
        f"the clone {one_line(str(tree))} cannot be checked: {why(error, 'make it writable')}",
        error,
    )
