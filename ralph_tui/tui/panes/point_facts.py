"""What happened in an iteration or at a point: questions, alarms, checkpoints, restores. Pure."""

from ralph_tui.events import InterventionMade, WorktreeRestored
from ralph_tui.state import CheckpointPoint, IterationSpan, RunState
from ralph_tui.text.format import clock, count, duration, memory_size, place, points_gained
from ralph_tui.text.terms import (
    CRITICAL,
    LEVEL_TONES,
    LEVELS,
    ROLLED_BACK,
    SEVERITIES,
    alarm_words,
    subject_words,
)
from ralph_tui.tui.draw.spans import Line, flat, wrap
from ralph_tui.tui.panes.iteration_cells import kept_words
from ralph_tui.tui.panes.timeline_points import TimelinePoint

MOST_ALARMS = 2
"""That are told of one iteration."""


def made(span: IterationSpan, state: RunState, width: int) -> list[Line]:
    """What was asked about it, or the alarms that rose where nothing was."""
    if span.interventions:
        return [row for one in span.interventions for row in _intervention(one, state, width)]
    rows: list[Line] = []
    for alarm in span.alarms[:MOST_ALARMS]:
        mark = LEVELS[SEVERITIES[alarm.severity]].glyph
        style = LEVEL_TONES[SEVERITIES[alarm.severity]]
        what = f"{mark} {alarm_words(alarm.alarm)} "
        rows.append([(what, f"{style} strong"), ("rose here", "dim")])
    return rows


def of_point(point: TimelinePoint, state: RunState, width: int) -> list[Line]:
    """What is known of a checkpoint or a restore itself."""
    if point.rollback is not None:
        return _rollback(point.rollback, state, width)
    checkpoint = point.checkpoint
    if checkpoint is None:
        return []
    where = f"checkpoint {checkpoint.number} {kept_words(checkpoint)}"
    rows: list[Line] = [[(where, "accent"), (f"  {clock(checkpoint.at, seconds=True)}", "dim")]]
    if held := _of_session(checkpoint):
        rows.append([(held, "dim")])
    for text, style in ((checkpoint.note, "text"), (checkpoint.error, "warn")):
        if text:
            rows += [[(piece, style)] for piece in wrap(text, width, 3)]
    return rows


def _of_session(checkpoint: CheckpointPoint) -> str:
    """``41m into the session · agent at most 312 MB``, as far as it is known."""
    parts = []
    if checkpoint.session_id and checkpoint.trigger != "start":
        parts.append(f"{duration(checkpoint.duration_s)} into the session")
    if checkpoint.memory_bytes:
        parts.append(f"agent at most {memory_size(checkpoint.memory_bytes)}")
    return " · ".join(parts)


def _intervention(made: InterventionMade, state: RunState, width: int) -> list[Line]:
    known = state.oversight.interventions
    told = next((other for other in known if other.seq == made.seq), None)
    head: Line = [
        (f"{CRITICAL.glyph} {made.level}", "bad strong"),
        (f" {subject_words(flat(made.about))}", "text"),
    ]
    if told is not None and told.decision:
        head += [("  ", ""), (flat(told.decision, 60), "owner")]
    if told is not None and told.effect is not None:
        gained, after = told.effect.points, told.effect.after
        head.append((f", after {after}: ", "dim"))
        head.append((points_gained(gained), "good" if gained >= 1 else "warn"))
    return [head, *([(row, "dim")] for row in wrap(made.reason, width, 3))]


def _rollback(back: WorktreeRestored, state: RunState, width: int) -> list[Line]:
    taken = state.timeline.snapshots.get(back.snapshot)
    where = f"snapshot {back.snapshot}" + (f", {place(taken.iteration)}" if taken else "")
    head: Line = [(f"{ROLLED_BACK.glyph} restored", "owner strong"), (f" {where}", "text")]
    head.append((f"  {count(back.files, 'file')}, by {flat(back.by, 40)}", "dim"))
    if not back.kept:
        return [head]
    words = f"{count(back.left_alone, 'file')} left alone"
    return [head, *([(row, "dim")] for row in wrap(words, width, 2))]
