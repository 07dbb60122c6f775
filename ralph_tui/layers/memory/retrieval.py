"""Choose the learnings that fit an iteration, best first, and those to put into its prompt.

Muted learnings are never chosen, pinned ones always. Any other learning must fit by its text or its
task type, or be a convention, which applies to every task of the project. Estimates are used only
in the plan.

A strategy or convention that does not help is dropped, but looked up again after `RESTED` runs, at
most one per run. Of two learnings that contradict each other, the newer comes first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ralph_tui.events.memory import Learning, LearningType, Retrieved
from ralph_tui.layers.control.history import below
from ralph_tui.layers.memory.knowledge import (
    DEFAULTS,
    RESTED,
    contradict,
    is_dropped,
    is_same,
    reporting_runs,
)
from ralph_tui.layers.memory.orders import gives_orders
from ralph_tui.layers.memory.task_types import GENERAL
from ralph_tui.layers.settings import MemorySettings
from ralph_tui.text.format import count

LIMITS: Final[dict[LearningType, int]] = {
    "strategy": 3,
    "antipattern": 2,
    "estimate": 0,
    "convention": 2,
}
"""Maximum number of proven learnings, by type; a larger `max_results` raises it proportionally."""
UNPROVEN_SURE: Final = 0.6
"""Minimum confidence of an unproven learning."""
UNPROVEN: Final = 2
"""Maximum number of unproven learnings; in the prompt, they precede proven ones."""
FITS_WELL: Final = 0.5


@dataclass(frozen=True)
class Candidate:
    """A learning that may fit an objective."""

    learning: Learning
    score: float = 0.0
    """How well its text fits: 0 means not at all; comparable only within one result."""
    since: str = ""
    """Time of its first report, in a form that sorts by time; empty if unknown."""


@dataclass(frozen=True, eq=False)  # comparing by identity is ten times as fast, and equivalent
class _Ranked:
    learning: Learning
    relevance: float
    rank: float
    since: str
    again: bool
    """True if it was dropped and is now being tried again."""

    @property
    def unproven(self) -> bool:
        return self.learning.standing == "staged" or self.again


def retrieve(
    candidates: Sequence[Candidate],
    task_type: str,
    again: str = "",
    rules: MemorySettings = DEFAULTS,
) -> list[Retrieved]:
    """Return the learnings for a task of this type, best first; pinned ones precede all others.

    `again` is the ID of the only dropped learning that this run looks up again; empty if it has not
    chosen one yet.
    """
    best = max((candidate.score for candidate in candidates), default=0.0)
    ranked = [
        _ranked(candidate, candidate.score / best if best > 0 else 0.0, task_type, rules)
        for candidate in candidates
        if candidate.learning.text.strip() and not candidate.learning.muted
    ]
    ranked.sort(key=lambda one: (not one.learning.pinned, -one.rank, one.learning.learning_id))
    chosen = _chosen(ranked, task_type, again, rules)
    sent = _for_prompt(chosen, rules)
    found = []
    for place, one in enumerate(chosen):
        against = [other for other in chosen if contradict(one.learning, other.learning)]
        found.append(
            Retrieved(
                **one.learning.model_dump(),
                why=_why(one, task_type, against),
                relevance=one.relevance,
                in_prompt=place in sent,
                again=one.again,
                contradicts=[
                    other.learning.learning_id
                    for other in against
                    if place in sent and chosen.index(other) in sent
                ],
            )
        )
    return found


def is_withheld(learning: Learning) -> bool:
    """True if the learning stays out of prompts because it reads like an order to the agent."""
    return not learning.pinned and gives_orders(learning.text)


def rank(learning: Learning, relevance: float, task_type: str) -> float:
    """Return the rank; `relevance` is a fraction and counts double for the same task type."""
    fit = relevance * (2 if learning.task_type == task_type else 1)
    return (0.2 + fit) * learning.confidence * (0.5 + learning.success_rate / 2)


def _ranked(
    candidate: Candidate, relevance: float, task_type: str, rules: MemorySettings
) -> _Ranked:
    relevance, learning = min(1.0, max(0.0, relevance)), candidate.learning
    again = not learning.pinned and is_dropped(learning, rules)
    worth = rank(learning, relevance, task_type)
    return _Ranked(learning, relevance, worth, candidate.since, again)


def _for_prompt(chosen: Sequence[_Ranked], rules: MemorySettings) -> set[int]:
    """Return the indexes of the learnings for the prompt: pinned, then unproven, then others."""
    sent = [place for place, one in enumerate(chosen) if not is_withheld(one.learning)]
    pinned = [place for place in sent if chosen[place].learning.pinned]
    unproven = [place for place in sent if chosen[place].unproven and place not in pinned]
    first = dict.fromkeys([*pinned, *unproven, *sent])
    return set(list(first)[: rules.max_results])


def _chosen(
    ranked: Sequence[_Ranked], task_type: str, again: str, rules: MemorySettings
) -> list[_Ranked]:
    chosen: list[_Ranked] = []
    fitting = [
        one for one in ranked if one.learning.pinned or _is_eligible(one, task_type, again, rules)
    ]
    free = fitting
    for one in fitting:
        newer = [other for other in free if _supersedes(other, one)]
        placed = [each for each in (*newer, one) if _has_place(each, chosen, rules)]
        if placed:
            chosen += placed
            free = [each for each in free if _has_room(each, chosen, rules)]
        if not free:
            break
    return chosen


def _supersedes(one: _Ranked, other: _Ranked) -> bool:
    """True if `one` is the newer of two contradictory learnings that compete for a place."""
    return (
        "" < other.since < one.since
        and one.learning.pinned == other.learning.pinned
        and contradict(one.learning, other.learning)
    )


def _is_eligible(one: _Ranked, task_type: str, again: str, rules: MemorySettings) -> bool:
    learning = one.learning
    if one.again and (learning.rested < RESTED or again not in ("", learning.learning_id)):
        return False
    return _fits(one, task_type) and _is_trusted(learning, rules)


def _has_place(one: _Ranked, chosen: Sequence[_Ranked], rules: MemorySettings) -> bool:
    learning = one.learning
    return _has_room(one, chosen, rules) and (
        learning.pinned or not any(is_same(other.learning, learning) for other in chosen)
    )


def _has_room(one: _Ranked, chosen: Sequence[_Ranked], rules: MemorySettings) -> bool:
    """True if the limits allow it and it is not chosen yet."""
    learning = one.learning
    if any(other.learning.learning_id == learning.learning_id for other in chosen):
        return False
    if learning.pinned:
        return True
    if one.unproven:
        again = one.again and any(other.again for other in chosen)
        return not again and sum(other.unproven for other in chosen) < UNPROVEN
    same = (other for other in chosen if other.learning.type == learning.type)
    most = LIMITS[learning.type] * max(DEFAULTS.max_results, rules.max_results)
    return sum(not other.unproven for other in same) < most // DEFAULTS.max_results


def _fits(one: _Ranked, task_type: str) -> bool:
    learning = one.learning
    if learning.task_type == task_type or learning.type == "convention":
        return True
    return one.relevance > 0


def _is_trusted(learning: Learning, rules: MemorySettings) -> bool:
    if learning.type == "estimate":
        return False
    if learning.standing == "staged":
        return not below(learning.confidence, UNPROVEN_SURE)
    return learning.type != "strategy" or not below(learning.confidence, rules.min_confidence)


def _why(one: _Ranked, task_type: str, against: Sequence[_Ranked]) -> str:
    learning = one.learning
    clauses = ["you pinned it"] if learning.pinned else [_fit_words(one, task_type)]
    clauses.append(_proof_words(learning))
    if one.again:
        clauses.append(f"it was not used in {learning.rested} runs, so it gets another try")
    clauses += [f"it contradicts {_age(other, one)}" for other in against]
    if is_withheld(learning):
        clauses.append(
            "it stays out of the prompt because it reads like an order to the agent, not like a "
            "learning"
        )
    text = "; ".join(clauses)
    return f"{text[0].upper()}{text[1:]}."


def _age(other: _Ranked, one: _Ranked) -> str:
    """Return the other learning's name, and whether it is newer or older."""
    name = other.learning.learning_id
    if "" in (one.since, other.since) or one.since == other.since:
        return name
    return f"{name}, which is {'newer' if other.since > one.since else 'older'}"


def _fit_words(one: _Ranked, task_type: str) -> str:
    learning = one.learning
    how = "fits the objective well" if one.relevance >= FITS_WELL else "fits the objective a little"
    kind = "tasks" if learning.task_type == GENERAL else f"{learning.task_type} tasks"
    if learning.task_type == task_type:
        learned = f"it comes from {kind} like this one"
        return f"{learned} and {how}" if one.relevance > 0 else learned
    if one.relevance > 0:
        return f"it {how}, though it comes from other {kind}"
    return "it is a convention of this project"


def _proof_words(learning: Learning) -> str:
    if learning.uses:
        helped = f"it helped in {learning.successes} of {count(learning.uses, 'counted use')}"
        return f"{helped} and is not proven yet" if learning.standing == "staged" else helped
    if learning.standing == "staged":
        return "one run reported it and nothing has proven it yet"
    if (runs := reporting_runs(learning)) > 1:
        return f"{runs} runs reported it, and it has not been used yet"
    return "it is proven, and has not been used yet"
