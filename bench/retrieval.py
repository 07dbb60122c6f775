"""Measure recall@3 for similar tasks, by text, by an embedder, and by both, and that of `related`.

The tasks are in ``tests/fixtures/search/tasks.json``: constants were tuned on one half, and the
other half was held out. Each description is searched among all others of its half.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.result import Result, Scale, ms, seconds_of
from ralph_tui.adapters.search.embedder import Embedder, HashedConcepts
from ralph_tui.adapters.search.related import MOST, Method, likeness, similarity
from ralph_tui.adapters.search.terms import query_terms
from ralph_tui.adapters.search.trained import trained_embedder

TASKS: Final = Path(__file__).parents[1] / "tests" / "fixtures" / "search" / "tasks.json"
FIRST: Final = 3
LEAST: Final = 0.9
"""Recall that related tasks must reach on the half that was held out."""


@dataclass(frozen=True)
class Task:
    """A description, and the ids of similar ones."""

    id: str
    family: str
    text: str
    matches: tuple[str, ...]
    held_out: bool


def tasks(*, held_out: bool) -> list[Task]:
    """Return one half of the tasks."""
    told = json.loads(TASKS.read_text(encoding="utf-8"))
    return [
        Task(**{**one, "matches": tuple(one["matches"])})
        for one in told
        if one["held_out"] is held_out
    ]


def quality(scale: Scale) -> Iterator[Result]:
    """Yield each method's recall on both halves, and the quality of the threshold."""
    embedders: list[Embedder] = [HashedConcepts()]
    trained, why_not = trained_embedder()
    if trained is not None:
        embedders.append(trained)
    for embedder in embedders:
        yield from _recalls(embedder, with_text=embedder is embedders[0])
    for embedder in embedders:
        yield _related(embedder)
    half = tasks(held_out=True)
    texts = [task.text for task in half]
    seconds = seconds_of(lambda: HashedConcepts().embed(texts)) / len(texts)
    yield Result("embedding a description, built-in", ms(seconds), "", None, {"seconds": seconds})
    if why_not:
        yield Result("trained embedder", "not measured", "", None, {}, (why_not,))


def _recalls(embedder: Embedder, *, with_text: bool) -> Iterator[Result]:
    methods: tuple[Method, ...] = (
        ("text", "embedder", "both") if with_text else ("embedder", "both")
    )
    for method in methods:
        name = "text alone" if method == "text" else embedder.name
        name = f"text and {embedder.name}" if method == "both" else name
        tuned, held = (_recalled(tasks(held_out=half), embedder, method) for half in (False, True))
        figures = {
            f"{half}_{which}": share
            for half, found in (("held_out", held), ("tuned", tuned))
            for which, share in (("all", found.all), ("no_word", found.no_word))
        }
        yield Result(
            f"recall@{FIRST} of similar tasks, {name}",
            f"{held.all:.1%} held out, {tuned.all:.1%} tuned",
            "",
            None,
            figures,
            (
                f"{name}: of the matches that share no word with the task, "
                f"{held.no_word:.1%} held out, {tuned.no_word:.1%} tuned",
            ),
        )


@dataclass(frozen=True)
class Recalled:
    """Shares of the matches that are among the first results."""

    all: float
    no_word: float
    """Share of the matches that have no word in common with the task."""


def _recalled(half: Sequence[Task], embedder: Embedder, method: Method) -> Recalled:
    texts = [task.text for task in half]
    words = {task.id: set(query_terms(task.text)) for task in half}
    found: list[tuple[bool, bool]] = []
    for place, task in enumerate(half):
        scores = similarity(task.text, texts, embedder, method)
        others = [at for at in range(len(half)) if at != place and scores[at] > 0]
        first = {half[at].id for at in sorted(others, key=lambda at: -scores[at])[:FIRST]}
        found += [(one in first, not words[one] & words[task.id]) for one in task.matches]
    distant = [hit for hit, no_word in found if no_word]
    return Recalled(sum(hit for hit, _ in found) / len(found), sum(distant) / len(distant))


def _related(embedder: Embedder) -> Result:
    """Return the recall and precision of the tasks that a plan is shown, in both halves."""
    lines = []
    figures: dict[str, float] = {}
    for half in (True, False):
        name = "held_out" if half else "tuned"
        found, matches, shown = _shown(tasks(held_out=half), embedder)
        figures |= {f"{name}_recall": found / matches, f"{name}_precision": found / shown}
        lines.append(f"{found / matches:.0%} and {found / shown:.0%} {name.replace('_', ' ')}")
    return Result(
        f"related tasks, at most {MOST}, {embedder.name}: recall, and precision",
        ", ".join(lines),
        "",
        figures["held_out_recall"] >= LEAST,
        figures,
    )


def _shown(half: Sequence[Task], embedder: Embedder) -> tuple[int, int, int]:
    """Return how many matches are shown, how many there are, and how many tasks are shown."""
    found = matches = shown = 0
    for task in half:
        others = [one for one in half if one is not task]
        scores = likeness(task.text, [one.text for one in others], embedder)
        above = [pair for pair in zip(scores, others, strict=True) if pair[0] >= embedder.threshold]
        best = sorted(above, key=lambda pair: -pair[0])[:MOST]
        shown += len(best)
        found += sum(one.id in task.matches for _, one in best)
        matches += len(task.matches)
    return found, matches, shown
