"""What the tool's knowledge says that a run has taught."""

from collections.abc import Iterator
from datetime import datetime
from typing import get_args

from pydantic import ValidationError

from ralph_tui.adapters.agents.json_fields import as_count, as_list, as_map, as_text
from ralph_tui.events import LearningPromoted
from ralph_tui.events.memory import Learning, LearningType
from ralph_tui.importers.fields import as_number, as_texts, as_when
from ralph_tui.importers.folder import RunFiles
from ralph_tui.importers.imported_run import TOOL
from ralph_tui.layers.memory.content import text_of

FILE = "knowledge/ralph-learnings.json"
MOST = 200
"""Learnings of one run."""


def learned(
    files: RunFiles, run_id: str, iteration: int
) -> Iterator[tuple[LearningPromoted, datetime | None]]:
    """Learnings that name the run as their source, and when they were made."""
    there = RunFiles(files.base, files.base, files.notes)
    fields = there.json(FILE) or {}
    mine = (
        each
        for each in map(as_map, as_list(fields.get("learnings")))
        if run_id and run_id in as_texts(each.get("sourceLoops"))
    )
    for each, _ in zip(mine, range(MOST), strict=False):
        kind, content = as_text(each.get("type")), dict(as_map(each.get("content")))
        said = next((one for one in get_args(LearningType) if one == kind), None)
        text = text_of(said, content) if said is not None else ""
        if said is None or not text:
            continue
        try:
            learning = Learning(
                learning_id=as_text(each.get("id")),
                type=said,
                task_type=as_text(each.get("taskType")) or "general",
                text=text,
                content=content,
                confidence=as_number(each.get("confidence")) or 0.0,
                success_rate=_rate(each.get("successRate")),
                uses=as_count(each.get("useCount")),
                runs=len(as_texts(each.get("sourceLoops"))),
            )
        except ValidationError:
            files.note(FILE, "a learning has values that are none")
            continue
        promoted = LearningPromoted(
            iteration=iteration,
            staged_id=learning.learning_id,
            learning=learning,
            because=f"{TOOL} keeps it in its knowledge",
        )
        yield promoted, as_when(each.get("createdAt"))


def _rate(value: object) -> float:
    rate = as_number(value)
    return Learning.model_fields["success_rate"].default if rate is None else rate
