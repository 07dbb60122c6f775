"""Learnings that may fit an objective: a few of many, chosen without reading all of them.

First come those whose words match. Then come the best of each type, for the type of task and for
any task, because an estimate fits regardless of its words. Pinned ones are always included.
"""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import reduce

from ralph_tui.adapters.knowledge.entries import is_known, learning_of, staged_learning, usefulness
from ralph_tui.adapters.knowledge.ledger import WAITING
from ralph_tui.adapters.knowledge.schema import Entry
from ralph_tui.events.memory import Learning
from ralph_tui.layers.memory.content import text_of
from ralph_tui.layers.memory.knowledge import merged
from ralph_tui.layers.memory.retrieval import Candidate
from ralph_tui.layers.memory.task_types import GENERAL
from ralph_tui.text.sanitize import strip_controls

ALL = 200
"""With at most this many learnings, all of them are candidates."""
BY_WORDS = 30
BY_TYPE = 8


Scores = Callable[[str, str, Callable[[], Mapping[str, str]]], Mapping[str, float]]
"""Returns how well texts match an objective, by id: above 0, and only for those that match.

Its second argument differs when the texts do, so that most calls need not request them.
"""


def no_scores(_: str, __: str, ___: Callable[[], Mapping[str, str]]) -> Mapping[str, float]:
    """Return no scores, so that only quality decides."""
    return {}


class Lookup:
    """All learnings that one run may be shown, for one state of the files.

    Nothing is created per learning, because that would take longer than everything else.
    """

    def __init__(
        self,
        learnings: Iterable[Entry],
        staged: Iterable[Entry],
        run: str,
        before: "Lookup | None" = None,
    ) -> None:
        """Learnings staged by `run` itself are left out; `before` is the previous lookup."""
        proven: dict[str, Entry] = {}
        for entry in learnings:
            if is_known(entry):
                # Keep the first entry with a name: only that one gets user changes and credits.
                proven.setdefault(strip_controls(entry["id"]), entry)
        self._staged: dict[str, list[Entry]] = {}
        """Entries in the staging file by name, one per run that reported the learning."""
        for entry in staged:
            known = entry["status"] == WAITING and is_known(entry["learning"])
            name = strip_controls(entry["id"])
            if known and entry.get("run", "") != run and name not in proven:
                self._staged.setdefault(name, []).append(entry)
        self._known = proven | {name: one[0]["learning"] for name, one in self._staged.items()}
        self.read: dict[str, tuple[list[Entry], Learning]] = {} if before is None else before.read
        """Learnings by name, with the entries that they are made from; these never change in place.

        Reading one takes longer than finding it.
        """
        self._texts: dict[str, str] | None = None
        self._best: dict[tuple[str, str], list[str]] | None = None

    def __len__(self) -> int:
        return len(self._known)

    def texts(self) -> Mapping[str, str]:
        """Return the text of each learning by id; always the same mapping."""
        if self._texts is None:
            self._texts = {
                name: strip_controls(text_of(entry["type"], entry["content"]))
                for name, entry in self._known.items()
            }
        return self._texts

    def candidates(self, scores: Mapping[str, float], task_type: str) -> list[Candidate]:
        """Return the learnings to choose from; `scores` shows how well texts match, by id."""
        if len(self._known) <= ALL:
            chosen: Iterable[str] = self._known
        else:
            fitting = heapq.nlargest(BY_WORDS, scores.items(), key=lambda item: item[1])
            chosen = dict.fromkeys([name for name, _ in fitting] + self._likely(task_type))
        return [
            Candidate(
                self._learning(name),
                scores.get(name, 0.0),
                str(self._known[name].get("createdAt", "")),
            )
            for name in chosen
            if name in self._known
        ]

    def _learning(self, name: str) -> Learning:
        made_of = self._staged.get(name) or [self._known[name]]
        before, learning = self.read.get(name, ([], None))
        if learning is None or [*map(id, before)] != [*map(id, made_of)]:
            learning = (
                reduce(merged, map(staged_learning, made_of))
                if name in self._staged
                else learning_of(self._known[name])
            )
            self.read[name] = made_of, learning
        return learning

    def _likely(self, task_type: str) -> list[str]:
        """Return the pinned learnings, and the best of each type for this type of task or any."""
        if self._best is None:
            self._best = _best(self._known)
        names = [*self._best.get(("", ""), ())]
        for (_, task), best in self._best.items():
            if task in (task_type, ""):
                names += best
        return names


def _best(known: Mapping[str, Entry]) -> dict[tuple[str, str], list[str]]:
    """Return the best by type and task type (``""`` for any); ``("", "")`` has the pinned ones."""
    pools: dict[tuple[str, str], list[str]] = defaultdict(list)
    quality: dict[str, float] = {}
    pinned = []
    for name, entry in known.items():
        if entry.get("pinned"):
            pinned.append(name)
        if not entry.get("muted"):
            quality[name] = usefulness(entry)
            pools[entry["type"], ""].append(name)
            pools[entry["type"], entry.get("taskType") or GENERAL].append(name)
    best = {
        key: heapq.nlargest(BY_TYPE, pool, key=quality.__getitem__) for key, pool in pools.items()
    }
    return {**best, ("", ""): pinned}
