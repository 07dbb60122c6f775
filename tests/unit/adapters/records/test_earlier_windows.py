"""Sizes and windows of earlier runs, read from their status files."""

import json
from pathlib import Path
from typing import Any

from ralph_tui.adapters.records.earlier_windows import earlier_windows


def left(root: Path, name: str, points: list[Any], peaks: list[Any], **fields: Any) -> None:
    """A run whose status file says this."""
    task, attempt = name.split("/")
    folder = root / ".aiwg" / "ralph" / "tasks" / task / "attempts" / attempt
    folder.mkdir(parents=True)
    (folder / "events.jsonl").touch()
    taken = [{"size": "medium", "basis": "default", "points": one} for one in points]
    history = [{"iteration": n, "peak_percent": one} for n, one in enumerate(peaks, 1)]
    status = {"agent": "claude", "requested_model": None} | fields
    status["context"] = {"taken": taken, "history": history}
    (folder / "status.json").write_text(json.dumps(status))


def test_runs_of_the_same_agent_and_model_are_read(tmp_path: Path) -> None:
    left(tmp_path, "task-001/001", [6, 8], [40, 90])
    left(tmp_path, "task-001/002", [60], [99], agent="codex")
    left(tmp_path, "task-002/001", [61], [98], requested_model="large")
    left(tmp_path, "task-002/002", [62], [97])
    left(tmp_path, "task-003/001", [9], [50])
    found = earlier_windows(tmp_path, "task-002/002", "claude", None)
    assert found.runs == 2
    assert sorted(one.points for one in found.items) == [6, 8, 9]
    assert sorted(found.peaks) == [40, 50, 90]


def test_values_that_make_no_sense_are_left_out(tmp_path: Path) -> None:
    left(tmp_path, "task-001/001", ["x", -1, 400, None, 7], [None, "x", 120, 55])
    found = earlier_windows(tmp_path, "", "claude", None)
    assert [one.points for one in found.items] == [100, 7]
    assert found.peaks == [55]


def test_without_earlier_runs_nothing_is_known(tmp_path: Path) -> None:
    assert earlier_windows(tmp_path, "", "claude", None).runs == 0
