"""What becomes of a learning: proven, joined to its like, credited, and so relied on or unlearned.

Rule: a learning begins as if three of four uses had helped; each use counts, so that what does not
help is below `RELIED_ON` after two.
"""

from typing import Final

from ralph_tui.events.memory import Learning, LearningType
from ralph_tui.layers.control import below
from ralph_tui.layers.memory.content import (
    gist,
    joined_estimates,
    sample_confidence,
    samples_of,
    text_of,
)
from ralph_tui.layers.memory.similarity import contradicts, says_same
from ralph_tui.text.format import count

START: Final = 0.75
"""The success rate of a learning that was never used."""
WEIGHT: Final = 4
"""Uses that the start counts for."""
RELIED_ON: Final = 0.6
"""Below this success rate a learning is not looked up any more."""
RESTED: Final = 5
"""Runs without it after which it is looked up once more."""
JUDGED: Final[frozenset[LearningType]] = frozenset({"strategy", "convention"})
"""Types that are relied on only while they help."""
PROMOTABLE: Final = 0.6
"""Below this confidence no learning is knowledge, whoever says it."""
SURE: Final = 0.7
"""What is proven is at least this sure: that is what retrieval asks of a strategy."""
SURER: Final = 0.02
SUREST: Final = 0.95
RUNS: Final = 2
"""Runs that have to say a learning before it is proven without having been used."""
_FILLED = ("toolSequence", "consequence", "alternative")
"""Fields that a learning takes over from its like, where it has none."""


def success_rate(uses: int, successes: int, start: float = START) -> float:
    """The share of uses that helped, a fraction, `start` counted as `WEIGHT` uses."""
    return (WEIGHT * start + successes) / (WEIGHT + uses)


def raised(confidence: float) -> float:
    """After one more proof; never less than it was."""
    return max(confidence, min(SUREST, max(confidence, SURE) + SURER))


def credited(learning: Learning, *, success: bool) -> Learning:
    """After one more use; one that is tried once more, and helps, begins anew."""
    if success and learning.rested >= RESTED:
        learning = learning.model_copy(update={"uses": 0, "successes": 0, "success_rate": START})
    uses, successes = learning.uses + 1, learning.successes + success
    return learning.model_copy(
        update={
            "uses": uses,
            "successes": successes,
            "success_rate": _rate(uses, successes, _start(learning)),
            "confidence": raised(learning.confidence) if success else learning.confidence,
            "rested": 0,
        }
    )


def is_dropped(learning: Learning) -> bool:
    """Whether it did not help, so that it is not looked up any more."""
    return is_dropped_at(learning.type, learning.success_rate)


def is_dropped_at(type_: str, rate: float) -> bool:
    """The same of an entry that is not read yet."""
    return type_ in JUDGED and below(rate, RELIED_ON)


def joins(one: Learning, other: Learning) -> bool:
    """Whether two learnings are one: of a kind of task there is one estimate, whatever it says."""
    if (one.type, one.task_type) != (other.type, other.task_type):
        return False
    return one.type == "estimate" or says_same(_gist(one), _gist(other))


def contradict(one: Learning, other: Learning) -> bool:
    """True if they speak of the same and say different things: neither is proof of the other."""
    if "estimate" in (one.type, other.type) or one.learning_id == other.learning_id:
        return False
    return contradicts(_gist(one), _gist(other))


def merged(known: Learning, new: Learning) -> Learning:
    """`known` with what `new` adds to it; its id, its words and its owner's wishes stay."""
    content = {**{name: new.content[name] for name in _FILLED if name in new.content}}
    content |= known.content
    confidence = max(known.confidence, (known.confidence + new.confidence) / 2)
    if known.type == "estimate":
        content = joined_estimates(known.content, new.content)
        confidence = max(confidence, sample_confidence(samples_of(content)))
    uses, successes = known.uses + new.uses, known.successes + new.successes
    proven_already = "proven" in (known.standing, new.standing)
    return known.model_copy(
        update={
            "content": content,
            "text": text_of(known.type, content) or known.text,
            "confidence": confidence,
            "uses": uses,
            "successes": successes,
            "success_rate": _rate(uses, successes, _start(known)),
            "runs": known.runs + new.runs,
            "standing": "proven" if proven_already else "staged",
        }
    )


def said_by(learning: Learning) -> int:
    """Runs that have said it: of an estimate no more than its numbers rest on."""
    told = learning.runs
    return min(told, samples_of(learning.content)) if learning.type == "estimate" else told


def proven(learning: Learning) -> str:
    """Why it may become knowledge, one sentence; empty while it may not.

    What joins a known learning is asked once it is `merged` into that: then two runs have said it.
    """
    if below(learning.confidence, PROMOTABLE):
        return ""
    if (runs := said_by(learning)) >= RUNS:
        return f"{count(runs, 'run')} have said it."
    if learning.successes:
        return f"It helped in {learning.successes} of {count(learning.uses, 'use')}."
    return ""


def promoted(learning: Learning) -> Learning:
    """As knowledge."""
    update = {"standing": "proven", "confidence": raised(learning.confidence)}
    return learning.model_copy(update=update)


def _gist(learning: Learning) -> str:
    return gist(learning.type, learning.content) or learning.text


def _start(learning: Learning) -> float:
    """The rate it had before it was ever used: another tool's, or an owner's, may be any."""
    start = (learning.success_rate * (WEIGHT + learning.uses) - learning.successes) / WEIGHT
    return min(1.0, max(0.0, round(start, 6)))


def _rate(uses: int, successes: int, start: float) -> float:
    # A file can hold more successes than uses.
    return min(1.0, success_rate(uses, successes, start))
