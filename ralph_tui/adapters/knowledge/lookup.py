"""Which learnings may fit an objective: few of many, chosen without reading each of them.

First come those whose words match. Then come the best of each type, for the type of task and for
any task, because an estimate fits whatever its words are. Pinned ones are always included.
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
"""Up to this number, all learnings are candidates."""
BY_WORDS = 30
BY_TYPE = 8


Scores = Callable[[str, Mapping[str, str]], Mapping[str, float]]
"""Returns how well texts, by id, match an objective; only those that do, above 0."""


def no_scores(_: str, __: Mapping[str, str]) -> Mapping[str, float]:
    """Return no scores, so that only quality decides."""
    return {}


@dataclass
class _Known:
    """A learning from either list."""

    name: str
    entry: Entry
    staged: list[Entry] = field(default_factory=list)
    """Its entries in the staging file, one per run that reported it."""
    _read: Learning | None = None

    @property
    def quality(self) -> float:
        """Its quality, as far as that is known without reading it."""
        entry = self.entry
        return float(entry["confidence"] * (0.5 + entry.get("successRate", START) / 2))

    @property
    def text(self) -> str:
        return strip_controls(text_of(self.entry["type"], self.entry["content"]))

    @property
    def since(self) -> str:
        """When it was first recorded."""
        return str(self.entry.get("createdAt", ""))

    def learning(self) -> Learning:
        """Return the learning; it is read only once, because reading takes longer than finding."""
        if self._read is None:
            self._read = (
                reduce(merged, map(staged_learning, self.staged))
                if self.staged
                else learning_of(self.entry)
            )
        return self._read

    def is_same(self, other: "_Known") -> bool:
        """True if it was made of the same entries, which are never changed in place."""
        return self.entry is other.entry and [*map(id, self.staged)] == [*map(id, other.staged)]


class Lookup:
    """All learnings that one run may be shown, at one state of the files."""

    def __init__(
        self,
        learnings: Iterable[Entry],
        staged: Iterable[Entry],
        run: str,
        before: "Lookup | None" = None,
    ) -> None:
        """What `run` itself staged is left out; `before` is the lookup at the previous state."""
        proven: dict[str, _Known] = {}
        for entry in learnings:
            if is_known(entry):
                # Keep the first entry of a name: changes by the user and credits reach only it.
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
            self._known |= before.unchanged_in(self._known)
        self._texts: dict[str, str] | None = None
        self._best: dict[tuple[str, str], list[_Known]] | None = None

    def unchanged_in(self, now: Mapping[str, _Known]) -> dict[str, _Known]:
        """Return the learnings that are the same at the next state and need not be read again."""
        return {
            name: known
            for name, known in self._known.items()
            if name in now and now[name].is_same(known)
        }

    def __len__(self) -> int:
        return len(self._known)

    def texts(self) -> Mapping[str, str]:
        """Return the text of each learning by id; always the same mapping."""
        if self._texts is None:
            self._texts = {name: known.text for name, known in self._known.items()}
        return self._texts

    def candidates(self, scores: Mapping[str, float], task_type: str) -> list[Candidate]:
        """Return the learnings to choose from; `scores` says how well texts match, by id."""
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
        """Return the pinned learnings, and the best of each type for this type of task or any."""
        if self._best is None:
            self._best = _best(self._known.values())
        names = [known.name for known in self._best.get(("", ""), ())]
        for (_, task), best in self._best.items():
            if task in (task_type, ""):
                names += [known.name for known in best]
        return names


def _best(known: Iterable[_Known]) -> dict[tuple[str, str], list[_Known]]:
    """Return the best by type and type of task (``""``: any); ``("", "")`` has the pinned ones."""
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
