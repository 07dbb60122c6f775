"""Measure recall@3 for similar tasks, by text, by an embedder, and by both.

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
from ralph_tui.adapters.search.related import Method, similarity
from ralph_tui.adapters.search.terms import query_terms
from ralph_tui.adapters.search.trained import trained_embedder

TASKS: Final = Path(__file__).parents[1] / "tests" / "fixtures" / "search" / "tasks.json"
FIRST: Final = 3


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
    """Return the shares of matches and of others above the threshold, within a family."""
    lines = []
    figures: dict[str, float] = {}
    for half in (True, False):
        name = "held_out" if half else "tuned"
        found, others, matches, strangers = _above(tasks(held_out=half), embedder)
        figures |= {f"{name}_found": found / matches, f"{name}_others": others / strangers}
        lines.append(f"{found / matches:.0%} and {others / strangers:.0%} {name.replace('_', ' ')}")
    return Result(
        f"related tasks from {embedder.threshold:.2f} on, {embedder.name}: matches, and others",
        ", ".join(lines),
        "",
        None,
        figures,
    )


def _above(half: Sequence[Task], embedder: Embedder) -> tuple[int, int, int, int]:
    found = others = matches = strangers = 0
    for task in half:
        family = [one for one in half if one.family == task.family and one is not task]
        scores = similarity(task.text, [one.text for one in family], embedder)
        for one, score in zip(family, scores, strict=True):
            above = score >= embedder.threshold
            if one.id in task.matches:
                matches, found = matches + 1, found + above
            else:
                strangers, others = strangers + 1, others + above
    return found, others, matches, strangers
