"""Which learnings fit an iteration, best first, and which of them its prompt carries.

Rule: what is muted never, what is pinned always. Of the rest only what fits: by its text, by the
kind of task it was learned in, or as a convention, which holds in every task of the project. An
estimate is for its own kind of task. What does not help is not looked up any more; whether an
antipattern or an estimate "helped" says nothing of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ralph_tui.events.memory import Learning, LearningType, Retrieved
from ralph_tui.layers.control import below
from ralph_tui.layers.memory.knowledge import RELIED_ON, SURE, joins, said_by
from ralph_tui.layers.memory.orders import gives_orders
from ralph_tui.layers.memory.task_types import GENERAL
from ralph_tui.text.format import count

IN_PROMPT: Final = 5
"""Learnings that a prompt carries at most."""
LIMITS: Final[dict[LearningType, int]] = {
    "strategy": 3,
    "antipattern": 2,
    "estimate": 1,
    "convention": 2,
}
UNPROVEN_SURE: Final = 0.6
"""The confidence that a learning needs which is not proven."""
UNPROVEN: Final = 2
"""Of all that are chosen."""
JUDGED: Final[frozenset[LearningType]] = frozenset({"strategy", "convention"})
"""Types that are relied on only while they help."""
FITS_WELL: Final = 0.5


@dataclass(frozen=True)
class Candidate:
    """A learning that may fit an objective."""

    learning: Learning
    score: float = 0.0
    """How well its text fits, 0 and more, comparable within one answer; 0: not at all."""


@dataclass(frozen=True)
class _Ranked:
    learning: Learning
    relevance: float
    rank: float


def retrieve(candidates: Sequence[Candidate], task_type: str) -> list[Retrieved]:
    """What fits a task of that type, best first, pinned ones before all others."""
    best = max((candidate.score for candidate in candidates), default=0.0)
    ranked = [
        _ranked(candidate.learning, candidate.score / best if best > 0 else 0.0, task_type)
        for candidate in candidates
        if candidate.learning.text.strip() and not candidate.learning.muted
    ]
    ranked.sort(key=lambda one: (not one.learning.pinned, -one.rank, one.learning.learning_id))
    found: list[Retrieved] = []
    carried = 0
    for one in _chosen(ranked, task_type):
        in_prompt = carried < IN_PROMPT and not is_withheld(one.learning)
        carried += in_prompt
        found.append(
            Retrieved(
                **one.learning.model_dump(),
                why=_why(one, task_type),
                relevance=one.relevance,
                in_prompt=in_prompt,
            )
        )
    return found


def is_withheld(learning: Learning) -> bool:
    """Whether it stays out of every prompt because it reads like an order to the agent."""
    return not learning.pinned and gives_orders(learning.text)


def rank(learning: Learning, relevance: float, task_type: str) -> float:
    """How much it deserves its place; `relevance` is a fraction, and more for the same task."""
    fit = relevance * (2 if learning.task_type == task_type else 1)
    return (0.2 + fit) * learning.confidence * (0.5 + learning.success_rate / 2)


def _ranked(learning: Learning, relevance: float, task_type: str) -> _Ranked:
    relevance = min(1.0, max(0.0, relevance))
    return _Ranked(learning, relevance, rank(learning, relevance, task_type))


def _chosen(ranked: Sequence[_Ranked], task_type: str) -> list[_Ranked]:
    chosen: list[_Ranked] = []
    for one in ranked:
        learning = one.learning
        if any(other.learning.learning_id == learning.learning_id for other in chosen):
            continue
        if learning.pinned:
            chosen.append(one)
            continue
        same = [other for other in chosen if other.learning.type == learning.type]
        unproven = sum(other.learning.standing == "staged" for other in chosen)
        if (
            len(same) < LIMITS[learning.type]
            and (learning.standing == "proven" or unproven < UNPROVEN)
            and _fits(one, task_type)
            and _is_relied_on(learning)
            and not any(joins(other.learning, learning) for other in same)
        ):
            chosen.append(one)
    return chosen


def _fits(one: _Ranked, task_type: str) -> bool:
    learning = one.learning
    if learning.task_type == task_type or learning.type == "convention":
        return True
    return one.relevance > 0 and learning.type != "estimate"


def _is_relied_on(learning: Learning) -> bool:
    if learning.type in JUDGED and below(learning.success_rate, RELIED_ON):
        return False
    if learning.standing == "staged":
        return not below(learning.confidence, UNPROVEN_SURE)
    return learning.type != "strategy" or not below(learning.confidence, SURE)


def _why(one: _Ranked, task_type: str) -> str:
    learning = one.learning
    clauses = ["you pinned it"] if learning.pinned else [_fit_words(one, task_type)]
    clauses.append(_proof_words(learning))
    if is_withheld(learning):
        clauses.append(
            "it stays out of the prompt, because it reads like an order to the agent and not like "
            "something learned"
        )
    text = "; ".join(clauses)
    return f"{text[0].upper()}{text[1:]}."


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
        times = count(learning.uses, "iteration")
        helped = f"it helped in {learning.successes} of {times} that had it"
        return f"{helped}, and is not proven yet" if learning.standing == "staged" else helped
    if learning.standing == "staged":
        return "one run has said it and nothing has proven it yet"
    if (runs := said_by(learning)) > 1:
        return f"{runs} runs have said it, and it was not used yet"
    return "it is proven, and was not used yet"
