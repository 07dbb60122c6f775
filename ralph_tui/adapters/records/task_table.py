"""The table of all tasks as a file, one column per line, so that ten thousand rows load fast.

The agent can write this file, so its content is checked on reading.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ralph_tui.adapters.records.files import read_json
from ralph_tui.adapters.records.folders import number_of

VERSION = 3


class TaskRow(NamedTuple):
    """A task in a list; its texts must be sanitised before they are shown."""

    description: str
    status: str
    attempts: int
    iterations: int
    best: float | None
    """Points; None until something has been measured."""
    cost_usd: float | None
    """None if no agent reported it."""
    created: str
    """ISO-8601, UTC."""
    updated: str
    last_outcome: str = ""
    """Outcome of the newest attempt, as in `RunFinished`; empty before its end."""


_NUMBERS: dict[str, frozenset[type[object]]] = {
    "attempts": frozenset({int}),
    "iterations": frozenset({int}),
    "best": frozenset({int, float, type(None)}),
    "cost_usd": frozenset({int, float, type(None)}),
}
"""Types in the numeric columns; all other columns are text."""


@dataclass
class TaskTable:
    """The rows of all tasks, by the task's name."""

    rows: dict[str, TaskRow] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    """Tasks that are still open, so that their files may be newer than their rows."""
    listed: int = 0
    """When the tasks' folder last changed, in ns, if every task has a row; 0 if unknown."""

    @classmethod
    def read(cls, path: Path) -> "TaskTable | None":
        """Read a table; return None if it is missing or invalid."""
        known = read_json(path)
        if known is None or known.get("version") != VERSION:
            return None
        opened, listed = known.get("open"), known.get("listed")
        if not (isinstance(opened, list) and isinstance(listed, int)):
            return None
        try:
            names, *columns = [_column(known.get(n), n) for n in ("task", *TaskRow._fields)]
            rows = map(TaskRow._make, zip(*columns, strict=True))
            return cls(dict(zip(names, rows, strict=True)), set(map(str, opened)), listed)
        except (TypeError, ValueError):
            return None

    def text(self) -> str:
        """Return the file's content in the form that `read` expects."""
        names = ("task", *TaskRow._fields)
        columns = [*zip(*((name, *row) for name, row in self.rows.items()), strict=True)]
        fields: dict[str, Any] = {
            "version": VERSION,
            "open": sorted(self.open, key=number_of),
            "listed": self.listed,
        }
        for name, column in zip(names, columns or [()] * len(names), strict=True):
            fields[name] = "\n".join(column) if column and name not in _NUMBERS else column
        lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in fields.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"


def checked(row: TaskRow) -> TaskRow:
    """Return the row, or raise ``TypeError`` if a column cannot hold one of its values."""
    for name, value in row._asdict().items():
        _column([value] if name in _NUMBERS else value, name)
    return row


def by_number(item: tuple[str, object]) -> tuple[int, str]:
    """Sort key for rows."""
    return number_of(item[0]), item[0]


def _column(value: Any, name: str) -> list[Any]:
    if name not in _NUMBERS and isinstance(value, str):
        return value.split("\n")
    if isinstance(value, list) and _NUMBERS.get(name, frozenset()).issuperset(map(type, value)):
        return value
    raise TypeError(f"no column {name}")
