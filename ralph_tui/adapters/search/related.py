"""Tasks like a task: of the same kind, of another description, alike enough; found in the index."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ralph_tui.adapters.search.embedder import Embedder, HashedConcepts
from ralph_tui.adapters.search.index import catch_up, index_of
from ralph_tui.adapters.search.likeness import likeness
from ralph_tui.adapters.search.trained import trained_embedder
from ralph_tui.adapters.search.vectors import KeptVectors
from ralph_tui.errors import SearchError
from ralph_tui.layers.memory.task_types import task_type
from ralph_tui.text.sanitize import plain

MOST: Final = 5
"""Related tasks of a task."""
LOOKED_AT: Final = 2000
"""Tasks of a kind that are compared, the newest."""


@dataclass(frozen=True)
class Alike:
    """A task that is like another one."""

    task: str
    description: str
    likeness: float
    """0 to 1."""


def embedder() -> Embedder:
    """The one that is used: the trained one where it is installed, else the built-in one."""
    return trained_embedder()[0] or HashedConcepts()


def related_tasks(
    root: Path, description: str, *, own: str = "", using: Embedder | None = None, most: int = MOST
) -> list[Alike]:
    """The tasks of a worktree that are like `description`, most alike first; blocks.

    `own`: the task that asks. What is recorded of it may read otherwise than `description`.

    None where the records cannot be read: what is related is a help, never a need.
    """
    using = using or embedder()
    kind = task_type(description)
    others = [
        (task, said)
        for task, said in _descriptions(root)
        if task != own and said != description and task_type(said) == kind
    ][:LOOKED_AT]
    texts = [said for _, said in others]
    scores = likeness(description, texts, using, embed=KeptVectors(root, using).embed)
    found = [
        Alike(task, said, score)
        for (task, said), score in zip(others, scores, strict=True)
        if score >= using.threshold
    ]
    return sorted(found, key=lambda one: -one.likeness)[:most]


def _descriptions(root: Path) -> Sequence[tuple[str, str]]:
    """Task and description, the newest first, each once; loops of hooks are none."""
    index = index_of(root)

    def work(connection: sqlite3.Connection) -> list[tuple[str, str]]:
        catch_up(connection, root)
        return connection.execute(
            "SELECT run, text FROM documents WHERE kind = 'objective' AND run GLOB 'task-*' "
            "ORDER BY at DESC"
        ).fetchall()

    try:
        rows = index.use(work)
    except SearchError:
        try:
            with closing(index.in_memory()) as connection:
                rows = work(connection)
        except sqlite3.Error:
            return []
    found: dict[str, str] = {}
    for run, text in rows:
        found.setdefault(str(run).partition("/")[0], plain(str(text)))
    return list(found.items())
