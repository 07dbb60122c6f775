"""Find the run that a user names as RUN, whichever tool recorded it, and read it as events.

RUN is one of our runs, as `adapters.records.runs` describes, or a run that another tool recorded.
Another tool's run is given by name (``aiwg/1a2b3c4d``, or ``aiwg`` for the newest), by its file, or
by a folder that contains it (``.aiwg``, ``ralph-external``). The file or folder may be anywhere.
Without RUN, the newest run of any tool is used.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.folders import named_path
from ralph_tui.adapters.records.foreign import ForeignRun, foreign_runs
from ralph_tui.adapters.records.runs import RecordedRun, newest_run, resolve_run
from ralph_tui.base.errors import UsageError
from ralph_tui.text.sanitize import one_line

if TYPE_CHECKING:
    from ralph_tui.adapters.records.journal import Recording

AnyRun = RecordedRun | ForeignRun
LISTED = 6
"""Maximum number of other tools' runs listed in an error."""


def find_run(root: Path, name: str | None, *, hooked: bool = True) -> AnyRun:
    """Find the run a user means, from any tool; `hooked` includes loops recorded by hooks.

    Raises ``UsageError`` if there is no such run; the message lists the existing ones.
    """
    if name is None:
        return _newest(root, hooked=hooked) or _resolved(root, None, hooked=hooked)
    imported = find_foreign(root, name)
    if imported is not None:
        return imported
    around = _worktree(name)
    if around is not None and (newest := _newest(around, hooked=hooked)) is not None:
        return newest
    return _resolved(root, name, hooked=hooked)


def _resolved(root: Path, name: str | None, *, hooked: bool) -> RecordedRun:
    """Resolve one of our runs; an error also lists the runs of other tools."""
    try:
        return resolve_run(root, name, hooked=hooked)
    except UsageError as error:
        foreign = foreign_runs()
        known = [run.name for run in foreign.find(root)]
        if name is not None and _exists(name):
            raise
        more = ", ..." if len(known) > LISTED else ""
        others = [f"of {foreign.tool}: {', '.join(known[:LISTED])}{more}"] if known else []
        raise UsageError("; ".join([str(error), *others, *foreign.remains(root)])) from error


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # no file can have such a name
        return False


def find_ours(root: Path, name: str | None, *, hooked: bool = False) -> RecordedRun:
    """Find the ralph-tui run that a command should act on.

    Raises ``UsageError`` as `resolve_run` does, and for another tool's run, which is read-only.
    """
    if name is None:
        return resolve_run(root, None, hooked=hooked)
    imported, around = find_foreign(root, name), _worktree(name)
    if imported is None and around is not None and newest_run(around, hooked=hooked) is None:
        imported = max(foreign_runs().find(around), key=lambda run: run.changed, default=None)
    if imported is not None:
        raise UsageError(explain_read_only(imported))
    return resolve_run(root, name, hooked=hooked)


def explain_read_only(run: ForeignRun) -> str:
    """Explain why no command can act on another tool's run, and what can be done."""
    name, tool = one_line(run.name), foreign_runs().tool
    return (
        f"{name} was recorded by {tool} and is read-only: 'ralph-tui replay {name}' "
        f"shows it, 'ralph-tui report {name}' reports on it"
    )


def to_replay(run: AnyRun) -> "Path | Recording":
    """Return the events for a screen, or our journal's path, because it may be long or growing."""
    return run.journal if isinstance(run, RecordedRun) else read_run(run)


def read_run(run: AnyRun) -> "Recording":
    """Read all events of a run. Raises ``JournalError`` if our journal is not valid."""
    if not isinstance(run, RecordedRun):
        return foreign_runs().read(run)._replace(records_root=run.folder)
    from ralph_tui.adapters.records.journal import read_journal  # noqa: PLC0415

    return read_journal(run.journal)


def _newest(root: Path, *, hooked: bool) -> AnyRun | None:
    """Return the run that was written to last, or None."""
    ours = newest_run(root, hooked=hooked)
    theirs = max(foreign_runs(root).find(root), key=lambda run: run.changed, default=None)
    if ours is None or theirs is None:
        return ours or theirs
    return theirs if theirs.changed > ours.journal.stat().st_mtime else ours


def find_foreign(root: Path, name: str) -> ForeignRun | None:
    """Return the other tool's run with this name or path; None for any other name."""
    foreign = foreign_runs()
    tool, _, short = name.partition("/")
    if tool == foreign.tool:
        found = [run for run in foreign.find(root) if not short or run.name == name]
        if found:
            return max(found, key=lambda run: run.changed)
    path = named_path(name)
    try:
        ours = path.name == "events.jsonl" or (path / "events.jsonl").is_file()
        return None if ours or not path.exists() or _worktree(name) else foreign.find_at(path)
    except (OSError, ValueError):
        return None


def _worktree(name: str) -> Path | None:
    """Return the worktree that a path names, directly or by its ``.aiwg``."""
    path = named_path(name)
    try:
        if (path / ".aiwg").is_dir():
            return path
        if path.absolute().name == ".aiwg" and path.is_dir():
            return path.absolute().parent
    except (OSError, ValueError):
        pass
    return None
