"""Measure the time to list a repository's tasks, for several numbers of tasks."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.result import Result, Scale, ms, seconds_of
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.task_index import TaskIndex
from ralph_tui.adapters.records.task_table import TaskRow, TaskTable

SIZES = (100, 1_000, 10_000, 100_000)
BUDGET = 10_000
"""Number of tasks for which the budget applies."""
ROW = TaskRow(
    "Fix the failing parser tests of the payment service and keep its interface",
    "completed",
    *(2, 13, 100.0, 1.2345),
    *("2026-01-01T00:00:00.123456Z", "2026-01-01T00:10:00.123456Z"),
)
FILES = {
    "metadata.json": {
        "description": ROW.description,
        "status": ROW.status,
        "total_attempts": ROW.attempts,
        "created": ROW.created,
        "updated": ROW.updated,
    },
    "summary.json": {
        "iterations": ROW.iterations,
        "best_completion": ROW.best,
        "cost_usd": ROW.cost_usd,
    },
    "trajectory.json": {"attempts": [{"attempt_id": 1, "agent": "claude"}]},
}
"""Files of a task from which its row is made."""


def listing(scale: Scale) -> Iterator[Result]:
    """Yield the time to list from the index, and once without it from the tasks' files."""
    root = Path(tempfile.mkdtemp(prefix="ralph-bench-"))
    try:
        grown = {}
        for size in SIZES[: scale.of(4, 3)]:
            grown[size] = _listed(root / str(size), size, scale.of(9, 5))
        table = tuple(f"  {size:>7,} tasks  {ms(seconds)}" for size, seconds in grown.items())
        yield Result(
            "history, list of 10,000 tasks",
            ms(grown[BUDGET]),
            "<= 50 ms",
            grown[BUDGET] <= 0.05,
            {f"seconds_{size}": seconds for size, seconds in grown.items()},
            ("", "growth of the list of tasks", *table),
        )
        again = _made_again(root / "again", 1_000)
        yield Result("the same without an index, 1,000 tasks, once", ms(again), "", None)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _listed(root: Path, size: int, rounds: int) -> float:
    """Return the median seconds; every task has a folder and a row, and none is being changed."""
    tasks = ralph_folder(root) / "tasks"
    names = [f"task-{number:03}" for number in range(1, size + 1)]
    for name in names:
        (tasks / name).mkdir(parents=True)
    index = ralph_folder(root) / "index"
    index.mkdir()
    table = TaskTable(dict.fromkeys(names, ROW), set(), tasks.stat().st_mtime_ns)
    (index / "tasks.json").write_text(table.text())
    assert len(TaskIndex(ralph_folder(root)).read()) == size
    return median(seconds_of(TaskIndex(ralph_folder(root)).read) for _ in range(rounds))


def _made_again(root: Path, size: int) -> float:
    for number in range(1, size + 1):
        folder = ralph_folder(root) / "tasks" / f"task-{number:03}"
        folder.mkdir(parents=True)
        for name, content in FILES.items():
            (folder / name).write_text(json.dumps(content))
    return seconds_of(TaskIndex(ralph_folder(root)).read)
