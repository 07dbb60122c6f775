"""What ``ralph-tui restore`` says: the points of a run, what would change, and what has."""

from pathlib import Path

from ralph_tui.adapters.workspace.restore import files_below
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.events import SnapshotTaken, WorktreeRestored
from ralph_tui.events.workspace import FileChange
from ralph_tui.runtime.restoring import Point
from ralph_tui.state import RunState
from ralph_tui.text.format import count, percent
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import BEST, ROLLED_BACK

LONGEST_REASON = 60
SHOWN = 20
"""Files that a plan names, and paths that an event does."""
WHY_LEFT_ALONE = (
    "what is left alone: something that no snapshot holds stands in its place (an ignored or very "
    "large file, a folder), or it lies outside of what may be touched (behind a link, in a folder "
    "that cannot be written, ignored by the snapshot's own rules)"
)


def notes_of(state: RunState) -> dict[int, str]:
    """What was said at checkpoints, by the number of the snapshot."""
    return {
        point.snapshot: point.note
        for span in state.timeline.spans
        for point in span.checkpoints
        if point.note and point.snapshot
    }


def row(point: Point, note: str, *beside: float) -> str:
    """A line of the list; `beside` are the readings of all its points."""
    taken = point.taken
    when = f"{taken.at.astimezone():%Y-%m-%d %H:%M}"
    completion = "" if point.completion is None else percent(point.completion, *beside)
    mark = (BEST.glyph if point.best else " ") + (ROLLED_BACK.glyph if point.undo else " ")
    gone = "" if point.held else "  (gone from the repository)"
    return f"{mark}{taken.number:>4}  {when}  iter {taken.iteration:>3}  {completion:>7}  " + (
        f"{_reason(taken, note)}{gone}".rstrip()
    )


def in_the_way(workspace: GitWorkspace, changes: tuple[FileChange, ...]) -> frozenset[str]:
    """Those of the files to be written in whose place stands what no snapshot holds."""
    root = workspace.root
    doomed = {root / change.path for change in changes if change.status == "deleted"}
    written = {change.path: change.status for change in changes if change.status != "deleted"}
    ignored = workspace.ignored(list(written))
    return frozenset(
        path
        for path, status in written.items()
        if (status == "added" or path in ignored) and _stays(root / path, doomed)
    )


def _stays(there: Path, doomed: set[Path]) -> bool:
    if there.is_symlink() or not there.is_dir():
        return there.is_symlink() or there.exists()
    # A folder goes with the last of its files, if all of them are to go.
    return any(file not in doomed for file in files_below(there))


def plan(
    target: SnapshotTaken, changes: tuple[FileChange, ...], note: str, kept: frozenset[str]
) -> list[str]:
    """What would be done to the files; `kept` are the paths that will be left alone."""
    added, removed = (sum(c.added for c in changes), sum(c.removed for c in changes))
    words = f"{count(len(changes), 'file')}, +{added:,} −{removed:,} lines"
    where = f"snapshot {target.number}, iteration {target.iteration}"
    lines = [
        f"back to {where} ({_reason(target, note)}): {words if changes else 'nothing differs'}"
    ]
    lines += [
        f"  {change.status:<8}  {one_line(change.path)}  +{change.added} −{change.removed}"
        + ("  (will be left alone)" if change.path in kept else "")
        for change in changes[:SHOWN]
    ]
    if len(changes) > SHOWN:
        lines.append(f"  and {count(len(changes) - SHOWN, 'more file')}")
    if kept:
        lines.append(f"{count(len(kept), 'file')} cannot be brought back; {WHY_LEFT_ALONE}")
    return lines


def done(told: WorktreeRestored, run_option: str) -> list[str]:
    """What was done, and how to undo it."""
    lines = [f"{count(told.files, 'file')} brought back to snapshot {told.snapshot}"]
    lines += [f"  left alone: {one_line(path)}" for path in told.kept]
    lines += [WHY_LEFT_ALONE] if told.kept else []
    return [*lines, f"undo it with: ralph-tui restore {told.present}{run_option}"]


def left_alone(told: WorktreeRestored) -> str:
    """How many files were not brought back; empty when all were."""
    number = len(told.kept)
    if not number:
        return ""
    least = "at least " if number == SHOWN else ""
    verb, stand = ("was", "it is") if number == 1 else ("were", "they are")
    return f"{least}{count(number, 'file')} {verb} not brought back: {stand} as before"


def _reason(taken: SnapshotTaken, note: str) -> str:
    return clip(one_line(f"{taken.reason}: {note}" if note else taken.reason), LONGEST_REASON)
