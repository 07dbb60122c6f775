"""Which learnings may fit an objective: few of many, chosen without reading each of them.

What fits by its words comes first; beside it, of each type, the ones that did best, for the task
type and for any: an estimate fits its kind of task whatever its words are. Pinned ones always.
"""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce

from ralph_tui.adapters.knowledge.entries import is_known, learning_of, staged_learning
from ralph_tui.adapters.knowledge.ledger import WAITING
from ralph_tui.adapters.knowledge.schema import Entry
from ralph_tui.events.memory import Learning
from ralph_tui.layers.memory.content import text_of
from ralph_tui.layers.memory.knowledge import START, merged
from ralph_tui.layers.memory.retrieval import Candidate
from ralph_tui.layers.memory.task_types import GENERAL
from ralph_tui.text.sanitize import strip_controls

ALL = 200
"""So few are all looked at."""
BY_WORDS = 30
BY_TYPE = 8


Scores = Callable[[str, Mapping[str, str]], Mapping[str, float]]
"""How well texts, by id, fit an objective: those that fit at all, above 0."""


def no_scores(_: str, __: Mapping[str, str]) -> Mapping[str, float]:
    """Nothing is said of it: all are told apart by how they did alone."""
    return {}


@dataclass
class _Known:
    """A learning of either list."""

    name: str
    entry: Entry
    staged: list[Entry] = field(default_factory=list)
    """Entries of the staging file that it is in, one of each run that has said it so."""
    _read: Learning | None = None

    @property
    def quality(self) -> float:
        """As far as it goes without reading it."""
        entry = self.entry
        return float(entry["confidence"] * (0.5 + entry.get("successRate", START) / 2))

    @property
    def text(self) -> str:
        return strip_controls(text_of(self.entry["type"], self.entry["content"]))

    @property
    def since(self) -> str:
        """When it was first said."""
        return str(self.entry.get("createdAt", ""))

    def learning(self) -> Learning:
        """As a run sees it; read once, for it takes longer than to find it."""
        if self._read is None:
            self._read = (
                reduce(merged, map(staged_learning, self.staged))
                if self.staged
                else learning_of(self.entry)
            )
        return self._read

    def is_as(self, other: "_Known") -> bool:
        """Whether it was made of the same entries: they are never changed in place."""
        return self.entry is other.entry and [*map(id, self.staged)] == [*map(id, other.staged)]


class Lookup:
    """All learnings of one state of the files, as one run may be told them."""

    def __init__(
        self,
        learnings: Iterable[Entry],
        staged: Iterable[Entry],
        run: str,
        before: "Lookup | None" = None,
    ) -> None:
        """What `run` has staged itself is no news to it; `before`: the one of the last state."""
        proven: dict[str, _Known] = {}
        for entry in learnings:
            if is_known(entry):  # the first of a name: it is the one that wishes and credits reach
                name = strip_controls(entry["id"])
                proven.setdefault(name, _Known(name, entry))
        others: dict[str, _Known] = {}
        for entry in staged:
            known = entry["status"] == WAITING and is_known(entry["learning"])
            name = strip_controls(entry["id"])
            if known and entry.get("run", "") != run and name not in proven:
                one = others.setdefault(name, _Known(name, entry["learning"]))
                one.staged.append(entry)
        self._known = proven | others
        if before is not None:
            self._known |= before.unchanged(self._known)
        self._texts: dict[str, str] | None = None
        self._best: dict[tuple[str, str], list[_Known]] | None = None

    def unchanged(self, now: Mapping[str, _Known]) -> dict[str, _Known]:
        """Of this state those that are the same in the next: what was read need not be again."""
        return {
            name: known
            for name, known in self._known.items()
            if name in now and now[name].is_as(known)
        }

    def __len__(self) -> int:
        """How many there are to choose from."""
        return len(self._known)

    def texts(self) -> Mapping[str, str]:
        """What each says, by id; the same mapping each time."""
        if self._texts is None:
            self._texts = {name: known.text for name, known in self._known.items()}
        return self._texts

    def candidates(self, scores: Mapping[str, float], task_type: str) -> list[Candidate]:
        """The ones to choose from; `scores`: how well texts fit, by id, those that do."""
        if len(self._known) <= ALL:
            chosen: Iterable[str] = self._known
        else:
            fitting = heapq.nlargest(BY_WORDS, scores.items(), key=lambda item: item[1])
            chosen = dict.fromkeys([name for name, _ in fitting] + self._likely(task_type))
        return [
            Candidate(self._known[name].learning(), scores.get(name, 0.0), self._known[name].since)
            for name in chosen
            if name in self._known
        ]

    def _likely(self, task_type: str) -> list[str]:
        """Pinned ones, and the best of each type, of this kind of task and of any."""
        if self._best is None:
            self._best = _best(self._known.values())
        names = [known.name for known in self._best.get(("", ""), ())]
        for (_, task), best in self._best.items():
            if task in (task_type, ""):
                names += [known.name for known in best]
        return names


def _best(known: Iterable[_Known]) -> dict[tuple[str, str], list[_Known]]:
    """By type and kind of task; the kind ``""`` is any, the pair of two of these: pinned."""
    pools: dict[tuple[str, str], list[_Known]] = defaultdict(list)
    pinned = []
    for one in known:
        if one.entry.get("pinned"):
            pinned.append(one)
        if not one.entry.get("muted"):
            pools[one.entry["type"], ""].append(one)
            pools[one.entry["type"], one.entry.get("taskType") or GENERAL].append(one)
    best = {
        key: heapq.nlargest(BY_TYPE, pool, key=lambda one: one.quality)
        for key, pool in pools.items()
    }
    return {**best, ("", ""): pinned}
