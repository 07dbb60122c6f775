"""Format the output of ``ralph-tui restore``: snapshots, planned changes, and results."""

from ralph_tui.events import SnapshotTaken, WorktreeRestored
from ralph_tui.events.workspace import MAX_KEPT, FileChange
from ralph_tui.runtime.restoring import SnapshotRow
from ralph_tui.state import RunState
from ralph_tui.text.format import count, percent
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import BEST, ROLLED_BACK

LONGEST_REASON = 60
REASONS = {"key": "requested", "timer": "by timer"}
"""Words for snapshot reasons that are recorded as names."""
SHOWN = 20
"""Maximum number of files that a plan lists by name."""


def snapshot_notes(state: RunState) -> dict[int, str]:
    """Return the notes of checkpoints, by snapshot number."""
    return {
        point.snapshot: point.note
        for span in state.timeline.spans
        for point in span.checkpoints
        if point.note and point.snapshot
    }


def format_row(point: SnapshotRow, note: str, *listed: float) -> str:
    """Format a line of the list; `listed` holds the completion of every listed snapshot."""
    taken = point.taken
    when = f"{taken.at.astimezone():%Y-%m-%d %H:%M}"
    completion = "" if point.completion is None else percent(point.completion, *listed)
    mark = (BEST.glyph if point.best else " ") + (ROLLED_BACK.glyph if point.undo else " ")
    gone = "" if point.held else "  (not in the repository)"
    return f"{mark}{taken.number:>4}  {when}  iter {taken.iteration:>3}  {completion:>7}  " + (
        f"{_reason_text(taken, note)}{gone}".rstrip()
    )


def format_plan(
    target: SnapshotTaken, rows: tuple[tuple[FileChange, str], ...], note: str
) -> list[str]:
    """Describe the changes to the files, and why some cannot be restored."""
    changes = [change for change, _ in rows]
    added, removed = (sum(c.added for c in changes), sum(c.removed for c in changes))
    words = f"{count(len(changes), 'file')}, +{added:,} −{removed:,} lines"
    where = f"snapshot {target.number}, iteration {target.iteration}"
    lines = [
        f"back to {where} ({_reason_text(target, note)}): {words if changes else 'no changes'}"
    ]
    lines += [
        f"  {change.status:<8}  {one_line(change.path)}  +{change.added} −{change.removed}"
        for change in changes[:SHOWN]
    ]
    if len(changes) > SHOWN:
        lines.append(f"  and {count(len(changes) - SHOWN, 'more file')}")
    kept = [f"  {one_line(change.path)}: {one_line(why)}" for change, why in rows if why]
    if kept:
        lines += [f"{len(kept)} of them cannot be restored:", *kept[:MAX_KEPT]]
    if len(kept) > MAX_KEPT:
        lines.append(f"  and {count(len(kept) - MAX_KEPT, 'more file')}")
    return lines


def describe_restore(event: WorktreeRestored, run_option: str) -> list[str]:
    """Describe the restore, and how to undo it."""
    lines = [f"{count(event.files, 'file')} restored to snapshot {event.snapshot}"]
    lines += [f"  unchanged: {one_line(line)}" for line in event.left_alone_rows]
    return [*lines, f"undo: ralph-tui restore {event.present}{run_option}"]


def skipped_text(event: WorktreeRestored) -> str:
    """Report how many files were not restored; empty if all were."""
    number = event.left_alone
    if not number:
        return ""
    was, still = ("was", "it is") if number == 1 else ("were", "they are")
    return f"{count(number, 'file')} {was} not restored; {still} unchanged"


def _reason_text(taken: SnapshotTaken, note: str) -> str:
    reason = REASONS.get(taken.reason, taken.reason)
    return clip(one_line(f"{reason}: {note}" if note else reason), LONGEST_REASON)
