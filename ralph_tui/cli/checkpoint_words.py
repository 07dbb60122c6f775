"""Format a run's checkpoints as rows."""

from collections.abc import Iterator, Sequence
from typing import Any

from ralph_tui.adapters.records.aiwg.checkpoint_files import CheckpointData, summarize
from ralph_tui.adapters.records.aiwg.forms import stamp
from ralph_tui.state import CheckpointPoint, IterationSpan
from ralph_tui.text.format import count, duration, memory_size, name_files
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.terms import CHECKPOINTS


def as_json(span: IterationSpan, data: Sequence[CheckpointData]) -> dict[str, Any]:
    """Return an iteration's checkpoints, and their summary, as JSON values."""
    by_number = {one.number: one.as_json() for one in data}
    return {
        "iteration": span.number,
        "summary": summarize(data).as_json(),
        "checkpoints": [
            {
                "number": point.number,
                "trigger": point.trigger,
                "snapshot": point.snapshot,
                "timestamp": stamp(point.at),
            }
            | by_number.get(point.number, {})
            for point in span.checkpoints
        ],
    }


def format_iteration(span: IterationSpan, data: Sequence[CheckpointData]) -> Iterator[str]:
    """Yield a heading for the iteration, and a row per checkpoint."""
    by_number = {one.number: one for one in data}
    names = summarize(data).files_modified
    where = f"iteration {span.number}" if span.number else "before iteration 1"
    changed = f", {name_files(len(names), names, 'since the last commit')}" if names else ""
    yield one_line(f"{where}: {count(len(span.sessions), 'session')}{changed}")
    for point in span.checkpoints:
        yield one_line(f"  {point.number:>3}  {_row(point, by_number.get(point.number))}")


def _row(point: CheckpointPoint, data: CheckpointData | None) -> str:
    snapshot = "no snapshot" if point.snapshot is None else f"snapshot {point.snapshot}"
    row = f"{point.at.astimezone():%Y-%m-%d %H:%M:%S}  {CHECKPOINTS[point.trigger].word:<12}"
    row += f"  {duration(point.duration_s):>7}  {snapshot:<12}"
    if data is None:
        return f"{row}  {point.note}".rstrip()
    git, counts = data.git_status, data.git_status.counts
    parts = [
        f"Git: {counts.modified} modified",
        f"{counts.staged} staged",
        f"{counts.untracked} untracked",
        count(data.aiwg_state.count, "artifact"),
    ]
    parts += [memory_size(data.memory.rss)] if data.memory.rss else []
    parts += [git.error] if git.error else []
    return "  ".join([row, ", ".join(parts), point.note]).rstrip()
