"""Summary of a run's checkpoints: their number, duration and files. Pure."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ralph_tui.state import CheckpointPoint
from ralph_tui.state.timeline import SessionSpan, TimelineFold
from ralph_tui.text.format import count, duration, memory_size, name_files
from ralph_tui.text.terms import CHECKPOINTS


@dataclass(frozen=True)
class CheckpointSummary:
    """All checkpoints of a run."""

    triggers: Counter[str]
    """Number of each kind."""
    sessions: int
    seconds: float
    """Total duration of the sessions, each up to its end or its last event."""
    files: int
    """Files changed by sessions, each counted once."""
    more: bool
    """True if more files were changed than the record lists."""
    last: CheckpointPoint
    largest: CheckpointPoint | None
    """The checkpoint with the agent's peak memory; None if unknown."""


def summarize(timeline: TimelineFold, at: datetime) -> CheckpointSummary | None:
    """Summarize all checkpoints; None if there are none. `at`: the time of the last event."""
    points = [point for span in timeline.spans for point in span.checkpoints]
    if not points:
        return None
    sessions = [session for span in timeline.spans for session in span.sessions]
    lasted: dict[str, float] = {}
    for point in points:
        lasted[point.session_id] = max(point.duration_s, lasted.get(point.session_id, 0.0))
    summary = [span.files for span in timeline.spans if span.files is not None]
    largest = max(points, key=lambda point: point.memory_bytes)
    return CheckpointSummary(
        triggers=Counter(point.trigger for point in points),
        sessions=len(sessions),
        seconds=sum(
            _seconds(session, at, lasted.get(session.session_id, 0.0)) for session in sessions
        ),
        files=len({change.path for files in summary for change in files.changes}),
        more=any(len(f.changes) < sum(total.files for total in f.totals) for f in summary),
        last=points[-1],
        largest=largest if largest.memory_bytes else None,
    )


def _seconds(session: SessionSpan, at: datetime, captured_s: float) -> float:
    """Return a session's time; `captured_s`: its time at the last checkpoint."""
    worked_s = session.duration_s
    if worked_s is None:
        worked_s = (at - session.began_at).total_seconds()
    return max(worked_s, captured_s)


def words_of(summary: CheckpointSummary, when: Callable[[datetime], str]) -> list[str]:
    """Return the summary as lines; `when` formats a time."""
    kinds = [
        f"{summary.triggers[k]} {term.word}"
        for k, term in CHECKPOINTS.items()
        if summary.triggers[k]
    ]
    rows = [f"{count(summary.triggers.total(), 'checkpoint')}: {', '.join(kinds)}"]
    changed = f"{'at least ' if summary.more else ''}{count(summary.files, 'file')} changed"
    if summary.sessions:
        rows.append(
            f"{count(summary.sessions, 'session')}, {duration(summary.seconds)} in all, {changed}"
        )
    else:
        rows.append(changed)
    if summary.largest is not None:
        where = f"in iteration {summary.largest.iteration}"
        rows.append(
            f"the agent's peak memory: {memory_size(summary.largest.memory_bytes)}, {where}"
        )
    return [*rows, f"last: {_last(summary.last, when)}"]


def _last(point: CheckpointPoint, when: Callable[[datetime], str]) -> str:
    parts = [
        f"iteration {point.iteration}" if point.iteration else "the baseline",
        CHECKPOINTS[point.trigger].word,
        when(point.at),
    ]
    if point.session_id:
        parts.append(f"{duration(point.duration_s)} into its session")
    held = "no snapshot" if point.snapshot is None else f"snapshot {point.snapshot}"
    return ", ".join([*parts, held, name_files(point.files, point.modified)])
