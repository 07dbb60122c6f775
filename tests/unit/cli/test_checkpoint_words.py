"""Rows and JSON of `checkpoint list` for checkpoints without a file or a snapshot."""

from datetime import UTC, datetime

from ralph_tui.cli.checkpoint_words import as_json, format_iteration
from ralph_tui.state import CheckpointPoint, IterationSpan


def test_a_failed_snapshot_is_listed_with_its_reason_note_and_time() -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    point = CheckpointPoint(
        9, at, 1, 2, "key", None, 0, "Before it", "the disk is full", duration_s=61.5, by="you"
    )
    span = IterationSpan(1, at, checkpoints=[point])
    _, row = format_iteration(span, [])
    assert " 1m " in row
    assert row.endswith("no snapshot   Before it  the disk is full")
    [listed] = as_json(span, [])["checkpoints"]
    assert listed == {
        "number": 2,
        "timestamp": "2026-01-02T03:04:05.000Z",
        "duration": 61_500,
        "trigger": "key",
        "snapshot": None,
        "note": "Before it",
        "by": "you",
        "error": "the disk is full",
    }
