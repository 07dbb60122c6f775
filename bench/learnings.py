"""Measure the time to find matching learnings, for knowledge of several sizes."""

import json
import random
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench.result import Result, Scale, ms, seconds_of
from ralph_tui.adapters.knowledge import knowledge_folder, open_knowledge
from ralph_tui.adapters.search.learnings import LearningIndex
from ralph_tui.layers.memory.content import learning_id
from ralph_tui.layers.memory.retrieval import retrieve
from ralph_tui.layers.memory.task_types import TASK_TYPES, task_type
from ralph_tui.layers.settings import MemorySettings
from ralph_tui.ports.knowledge import Knowledge

SIZES = (100, 1_000, 10_000, 100_000)
BUDGET_S = 0.003
READ_S = 1.0
WORDS = 20_000
"""Vocabulary size; the n-th word has 1/n of the first one's frequency, as in any language."""
SAID = 14
"""Words in a learning."""
ASKED = 10
"""Words in an objective."""


@dataclass(frozen=True)
class Times:
    """Seconds of a query at one size."""

    again: float
    """For a repeated objective, as in each iteration of a run."""
    anew: float
    """For a new objective."""
    index: float
    """For only the index look-up of a new objective."""
    unread: float
    """For the first query, which reads and indexes the file."""
    changed: float
    """For the first query after a change of the file."""
    later: float
    """For the first query of another process, with the file and its index as they were left."""


def query(scale: Scale) -> Iterator[Result]:
    """Yield the time from the objective to the chosen learnings, with unchanged files."""
    root = Path(tempfile.mkdtemp(prefix="ralph-bench-"))
    try:
        sizes = SIZES if not scale.quick else SIZES[:-1]
        grown = {size: _asked(root / str(size), size, scale.of(40, 20)) for size in sizes}
    finally:
        shutil.rmtree(root, ignore_errors=True)
    most = max(grown)
    times = grown[most]
    yield Result(
        f"knowledge query, {most:,} learnings",
        ms(times.again),
        "<= 3 ms",
        times.again <= BUDGET_S,
        {f"seconds_{size}": figures.again for size, figures in grown.items()},
        (
            "",
            "growth of the knowledge query: again, of a new objective, of that the index",
            *(
                f"  {size:>7,} learnings  {ms(each.again)}  {ms(each.anew)}  {ms(each.index)}"
                for size, each in grown.items()
            ),
        ),
    )
    yield Result(
        "the same when its file was edited by hand: not indexed yet, and again",
        f"{times.unread:.1f} s, {times.changed:.1f} s",
        "",
        None,
        {"unread_seconds": times.unread, "changed_seconds": times.changed},
    )
    yield Result(
        "the same in another process, with the file as a run left it",
        f"{times.later:.2f} s",
        "<= 1 s",
        times.later <= READ_S,
        {"later_seconds": times.later},
    )


def _asked(root: Path, size: int, rounds: int) -> Times:
    chance = random.Random(size)
    words = [f"word{number}" for number in range(WORDS)]
    weights = [1 / number for number in range(1, WORDS + 1)]

    def sentence(length: int) -> str:
        return " ".join(chance.choices(words, weights, k=length))

    texts = [sentence(SAID) for _ in range(size)]
    entries = [_entry(text, chance) for text in texts]
    path = knowledge_folder(root) / "ralph-learnings.json"
    path.parent.mkdir(parents=True)
    knowledge = open_knowledge(root, "bench", MemorySettings())
    objectives = [f"fix {sentence(ASKED)}" for _ in range(rounds)]

    def ask(objective: str, asked: Knowledge = knowledge) -> None:
        kind = task_type(objective)
        retrieve(asked.candidates(objective, kind), kind)

    _write(path, entries)
    unread = seconds_of(partial(ask, sentence(ASKED)))
    _write(path, [*entries, _entry(sentence(SAID), chance)])
    changed = seconds_of(partial(ask, sentence(ASKED)))
    anew = median(seconds_of(partial(ask, each)) for each in objectives)
    again = median(seconds_of(partial(ask, each)) for each in objectives)
    later = seconds_of(
        partial(ask, sentence(ASKED), open_knowledge(root, "bench", MemorySettings()))
    )
    index = LearningIndex(root / "alone")
    named = {f"learn-{number}": text for number, text in enumerate(texts)}
    index.update(lambda: named)
    alone = median(seconds_of(partial(index.scores, each)) for each in objectives)
    return Times(again, anew, alone, unread, changed, later)


def _entry(text: str, chance: random.Random) -> dict[str, Any]:
    kind = chance.choice(TASK_TYPES)
    return {
        "id": learning_id("strategy", kind, text),
        "type": "strategy",
        "taskType": kind,
        "content": {"approach": text},
        "confidence": round(chance.uniform(0.5, 0.95), 2),
        "sources": ["bench"],
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
        "useCount": 1,
        "successRate": 0.75,
    }


def _write(path: Path, entries: list[dict[str, Any]]) -> None:
    document = {"version": "1.0.0", "learnings": entries, "lastUpdated": "2026-01-01T00:00:00.000Z"}
    path.write_text(json.dumps(document), encoding="utf-8")
