"""Prunable parts of old runs: transcripts and logs. Journals, prompts and results stay.

Rule: only listed files are deleted. Both listing and deletion descend from the worktree, folder by
folder, without following links. A file that has changed since it was listed is left alone.
"""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.lock import holder
from ralph_tui.adapters.records.runs import RecordedRun, find_mirrors, find_runs
from ralph_tui.adapters.records.status import problem_of
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.base.plain_files import reading
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import one_line

RUN_LOGS = frozenset({"terminal.log"})
ITERATION_LOGS = frozenset({"transcript.jsonl", "stderr.log", "verification.log"})
RUN_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ENDS = {"run_finished", "run_crashed"}
_WORK = {"run_started", "run_resumed", "step_entered", "iteration_started"}
"""Events after which a run continues, even if it had ended."""

_ITERATION = re.compile(r"iter-\d+")
_LINE_LIMIT = 1 << 20
_ANOTHER = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
"""Errors raised if the file is gone or a link has replaced a folder."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True)
class OldFile:
    """A file as it was when listed."""

    path: Path
    size: int
    """Bytes."""
    identity: tuple[int, ...]
    """Device, inode, size and time of change; they differ in another file of the same name."""


@dataclass(frozen=True)
class OldRun:
    """An ended run and its files that can be deleted."""

    run: RecordedRun
    run_id: str
    ended: datetime
    outcome: str
    files: tuple[OldFile, ...]

    @property
    def size(self) -> int:
        """Total size of the files in bytes."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True)
class Listing:
    """The runs that can be pruned, oldest first, and why the others cannot."""

    runs: tuple[OldRun, ...]
    left: tuple[str, ...]
    """One sentence for each run that cannot be pruned."""
    kept_ids: frozenset[str]
    """Ids of all other runs. Their snapshots stay, even if a run in `runs` has the same id."""


@dataclass(frozen=True)
class _Ends:
    """Facts from the first and last lines of a journal."""

    run_id: str
    at: datetime
    kind: str
    outcome: str


def old_runs(root: Path, *, keep: int, age: timedelta, dead: bool, now: datetime) -> Listing:
    """Return the runs that ended at least `age` ago, except for the newest `keep` of all runs.

    With `dead`, this includes runs whose process is gone but that have no recorded end, and runs
    with a damaged journal.
    """
    owner = holder(ralph_folder(root) / "lock")
    left, found = [], []
    kept_ids: set[str] = set()
    for run in find_runs(root):
        ends = _ends(run.journal)
        if ends is None:
            left.append(f"{run.name}: its journal cannot be read")
        else:
            found.append((run, ends))
    found.sort(key=lambda pair: pair[1].at)
    newest = len(found) - keep
    runs = []
    for number, (run, ends) in enumerate(found):
        files: tuple[OldFile, ...] = ()
        try:
            files = tuple(_files(root, run.folder))
            why = ""
        except OSError as error:
            why = f"its folder cannot be opened ({error.strerror}), or is behind a symbolic link"
        if owner is not None and owner.run_id in ("", ends.run_id):
            why = f"it is running (process {owner.pid})"
            if not owner.alive:
                why = (
                    "its process is gone, but processes it started remain; 'ralph-tui resume' "
                    "ends them"
                )
        elif not dead and problem_of(run):
            why = "its journal has a bad line (see 'ralph-tui status'); --dead prunes it"
        elif ends.kind not in ENDS and not dead:
            why = "it has no recorded end; 'ralph-tui resume' continues it, --dead prunes it"
        if why:
            left.append(f"{run.name}: {why}")
        if why or number >= newest or now - ends.at < age:
            kept_ids.add(ends.run_id)
        else:
            runs.append(OldRun(run, ends.run_id, ends.at, ends.outcome, files))
    return Listing(tuple(runs), tuple(left), frozenset(kept_ids))


def is_alive(root: Path, run_id: str) -> bool:
    """True if a process is working on this run."""
    owner = holder(ralph_folder(root) / "lock")
    return owner is not None and owner.run_id in ("", run_id)


def known_run_ids(roots: Iterable[Path]) -> frozenset[str]:
    """Return the ids of all runs that these worktrees work on or have a journal for.

    Raises ``WorkspaceError`` if a worktree or journal cannot be read, because its snapshots would
    look like orphans.
    """
    known: set[str] = set()
    for root in roots:
        shown = one_line(str(root))
        if not root.is_dir():
            raise WorkspaceError(
                f"the worktree {shown} is missing, so its snapshots look like orphans; restore it, "
                "or remove it with 'git worktree prune'"
            )
        owner = holder(ralph_folder(root) / "lock")
        known.update({owner.run_id} if owner is not None else ())
        for run in chain(find_runs(root), find_mirrors(root)):
            ends = _ends(run.journal)
            if ends is None:
                raise WorkspaceError(
                    f"the journal {one_line(str(run.journal))} cannot be read, so its snapshots "
                    "look like orphans; correct it, or move it away"
                )
            known.add(ends.run_id)
    return frozenset(known)


def remove(root: Path, file: OldFile) -> bool:
    """Delete a listed file; return False if it has changed or is gone.

    Raises ``WorkspaceError`` if it cannot be deleted.
    """
    try:
        with _opened(root, file.path.parent) as folder:
            there = os.stat(file.path.name, dir_fd=folder, follow_symlinks=False)
            if _identity(there) != file.identity:
                return False
            os.unlink(file.path.name, dir_fd=folder)
    except OSError as error:
        if error.errno in _ANOTHER:
            return False
        raise WorkspaceError(
            f"cannot delete {one_line(str(file.path))}: {error.strerror}; "
            "make its folder writable and try again"
        ) from error
    return True


def _files(root: Path, attempt: Path) -> Iterator[OldFile]:
    yield from _logs(root, attempt, RUN_LOGS)
    results = attempt / "results"
    try:
        with _opened(root, results) as folder, os.scandir(folder) as entries:
            names = [entry.name for entry in entries if _ITERATION.fullmatch(entry.name)]
    except FileNotFoundError:
        return
    for name in sorted(names):
        yield from _logs(root, results / name, ITERATION_LOGS)


def _logs(root: Path, path: Path, names: frozenset[str]) -> Iterator[OldFile]:
    with _opened(root, path) as folder, os.scandir(folder) as entries:
        found = [(e.name, e.stat(follow_symlinks=False)) for e in entries if e.name in names]
    for name, there in sorted(found, key=lambda pair: pair[0]):
        if stat.S_ISREG(there.st_mode):
            yield OldFile(path / name, there.st_size, _identity(there))


@contextmanager
def _opened(root: Path, folder: Path) -> Iterator[int]:
    """Keep a folder below `root` open; raise ``OSError`` if a link is on its path."""
    descriptor = os.open(root, _FOLDER)
    try:
        for part in folder.relative_to(root).parts:
            deeper = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = deeper
        yield descriptor
    finally:
        os.close(descriptor)


def _identity(there: os.stat_result) -> tuple[int, ...]:
    return (there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns)


def _ends(journal: Path) -> _Ends | None:
    """Read the first and last lines of a journal; return None for any other file."""
    try:
        with reading(journal) as file:
            first = _fields(file.readline(_LINE_LIMIT))
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LINE_LIMIT))
            lines = file.read().split(b"\n")[:-1]  # after the last newline: torn, or empty
        # A late event, such as that of an escalation, may follow the end.
        late = (fields for line in reversed(lines) if (fields := _fields(line)))
        last = next((fields for fields in late if fields.get("kind") in ENDS | _WORK), first)
        at = datetime.fromisoformat(last["at"])
        run_id = first["run_id"] if first["kind"] == "run_started" else ""
        if not RUN_ID.fullmatch(run_id):
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    outcome = {"run_finished": last.get("outcome"), "run_crashed": "failed"}.get(last["kind"])
    return _Ends(run_id, at, last["kind"], one_line(str(outcome or "died")))


def _fields(line: bytes) -> dict[str, Any]:
    try:
        value = parse_json(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
