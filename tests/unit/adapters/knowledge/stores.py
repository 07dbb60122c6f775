"""Knowledge folders for tests: learnings, stores of runs, and the files' content."""

import itertools
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ralph_tui.adapters.knowledge import KnowledgeStore
from ralph_tui.adapters.search.learnings import LearningIndex
from ralph_tui.events.memory import Learning, LearningType
from ralph_tui.layers.memory.content import convention, learning_id, strategy
from tests.paths import FIXTURES

AIWG = FIXTURES / "knowledge"
_SECONDS = itertools.count()


def now() -> datetime:
    """Return a time one second later on each call."""
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(_SECONDS))


def store_of(folder: Path, run: str = "", patience_s: float = 8.0) -> KnowledgeStore:
    """Open the store as a run does; a second one in the same place is a restart."""
    index = LearningIndex(folder.with_name(f"{folder.name}-index"))
    return KnowledgeStore(folder, run, scores=index.scores_among, now=now, patience_s=patience_s)


def learning(
    text: str,
    kind: LearningType = "strategy",
    *,
    task_type: str = "feature",
    confidence: float = 0.6,
) -> Learning:
    """A learning as a run learned it."""
    content = strategy(text) if kind == "strategy" else convention(text, "agent")
    return Learning(
        learning_id=learning_id(kind, task_type, text),
        type=kind,
        task_type=task_type,
        text=text,
        content=content,
        confidence=confidence,
        standing="staged",
    )


def learnings_in(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document(folder)["learnings"]
    return found


def document(folder: Path, name: str = "ralph-learnings.json") -> dict[str, Any]:
    """A file of the folder."""
    found: dict[str, Any] = json.loads((folder / name).read_text())
    return found


def known(folder: Path, text: str = "Mock the clock.", **fields: Any) -> Learning:
    """One learning in the file, reported by two runs; `fields` uses the file's names."""
    said = learning(text)
    for run in ("run-a", "run-b"):
        store_of(folder, run).stage([said])
    promotions = {one.staged_id: one.learning for one in store_of(folder, "run-b").promote()}
    if fields:
        *others, entry = learnings_in(folder)
        write(folder, [*others, {**entry, **fields}])
        store_of(folder).ledger()
    return promotions[said.learning_id]


def write(folder: Path, learnings: list[Any], **others: Any) -> None:
    """Write the list as an editor would, with the old checksum."""
    path = folder / "ralph-learnings.json"
    folder.mkdir(parents=True, exist_ok=True)
    before = document(folder) if path.exists() else {"version": "1.0.0"}
    path.write_text(json.dumps({**before, "learnings": learnings, **others}, indent=2))
