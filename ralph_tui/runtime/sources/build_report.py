"""Build the report of a recorded run from its journal, lock, folder and repository."""

from datetime import UTC, datetime
from pathlib import Path

from ralph_tui.adapters.records.folders import as_argument, worktree_around, worktree_root
from ralph_tui.adapters.records.journal import Recording
from ralph_tui.adapters.records.runs import RecordedRun, find_mirrors
from ralph_tui.adapters.records.status import phase_without_end, read_status, worked_until
from ralph_tui.adapters.workspace.hidden_refs import saved_snapshots
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.analysis.report import Circumstances, report
from ralph_tui.base.errors import RalphError
from ralph_tui.events import RunStarted, SnapshotTaken
from ralph_tui.events.workspace import FileChange
from ralph_tui.runtime.sources.snapshots import RecordedFiles


def build_report(
    recording: Recording, root: Path, *, full: bool = False, mirror: RecordedRun | None = None
) -> str:
    """Return the report; folders are shown relative to the worktree `root`.

    `mirror` is the fleet's copy of the run if `recording` is from the loop's own worktree, which
    will be removed.
    """
    found = RecordedRun(recording.path)
    circumstances = _circumstances(root, found, recording, mirror or found)
    return report(recording.events, circumstances, full=full)


def _circumstances(
    root: Path, found: RecordedRun, recording: Recording, named: RecordedRun
) -> Circumstances:
    kept = recording.folder if named is found else named.folder
    folder, first = kept.absolute(), recording.events[0]
    shown = folder.relative_to(root) if folder.is_relative_to(root) else kept
    if isinstance(first, RunStarted) and first.imported:
        return Circumstances(
            shown.as_posix(), problems=[recording.problem] * bool(recording.problem)
        )
    status = read_status(found)
    alive, end = status["alive"], ("unheard", status["reason"])
    if not found.hooked:
        end = phase_without_end(found, kept=len(recording.events) if recording.problem else None)
    problems = [said for said in (recording.problem, recording.newer) if said]
    if recording.torn and not alive:  # a running process may be writing it just now
        problems.append(
            "its last line was cut off, as after a crash; everything before it is reported"
        )
    held, changes = _held(found, recording), _changes(found, recording)
    now = None
    if isinstance(first, RunStarted) and not found.hooked:
        until = worked_until(found.status, first.run_id, recording.events)
        now = datetime.now(UTC) if alive else until
    loop = named.name if named.fleet is not None else ""
    around = worktree_around(kept)
    here = around is not None and around.resolve() == root.resolve()
    argument = loop if here and (not loop or _is_newest(root, named)) else as_argument(kept)
    return Circumstances(
        shown.as_posix(), alive, problems, held, changes, end, loop, argument, around is None, now
    )


def _is_newest(root: Path, named: RecordedRun) -> bool:
    """True if the name of a fleet's loop means this attempt."""
    attempts = [run.folder for run in find_mirrors(root) if run.name == named.name]
    return bool(attempts) and attempts[-1].samefile(named.folder)


def _held(found: RecordedRun, recording: Recording) -> int | None:
    """Count the snapshots that still exist; None if no repository can be read."""
    taken = [event for event in recording.events if isinstance(event, SnapshotTaken)]
    try:
        return len(saved_snapshots(open_repository(worktree_root(found.folder)), taken))
    except RalphError:
        return None


def _changes(found: RecordedRun, recording: Recording) -> tuple[FileChange, ...] | None:
    """Return the changes from first to last snapshot; None if the repository lacks one of them."""
    taken = [event for event in recording.events if isinstance(event, SnapshotTaken)]
    if not taken:
        return None
    try:
        return RecordedFiles(found.folder).changes(taken[0].tree, taken[-1].tree)
    except RalphError:
        return None
