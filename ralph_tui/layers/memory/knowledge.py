"""The lifecycle of a learning: merged, proven, credited, and then used or dropped.

A learning starts as if three of four uses had helped. Each use counts, so a learning that does not
help falls below `memory.min_success_rate` after two uses, by default.
"""

from typing import Final

from ralph_tui.events.memory import Learning, LearningType
from ralph_tui.layers.control.history import below
from ralph_tui.layers.memory.content import (
    gist,
    join_estimates,
    sample_confidence,
    samples_of,
    text_of,
    with_mean_iterations,
)
from ralph_tui.layers.memory.similarity import contradicts, is_same_text
from ralph_tui.layers.settings import MemorySettings
from ralph_tui.text.format import count

START: Final = 0.75
"""The success rate of a learning that was never used."""
WEIGHT: Final = 4
"""Number of uses that the initial rate counts as."""
RESTED: Final = 5
"""Number of runs after which a dropped learning may be retrieved again."""
JUDGED: Final[frozenset[LearningType]] = frozenset({"strategy", "convention"})
"""Types that are used only while they help."""
SURE: Final = 0.7
"""Minimum confidence of a proven learning."""
SURER: Final = 0.02
SUREST: Final = 0.95
DEFAULTS: Final = MemorySettings()
_FILLED = (
    "toolSequence", "consequence", "alternative", "blockers", "resolution", "detectedIn",
)  # fmt: skip
"""Fields that a learning adopts from a matching one if it lacks them."""


def success_rate(uses: int, successes: int, start: float = START) -> float:
    """Return the share of uses that helped, a fraction; `start` counts as `WEIGHT` uses."""
    return (WEIGHT * start + successes) / (WEIGHT + uses)


def raised(confidence: float) -> float:
    """Return the confidence after one more proof; it never decreases."""
    return max(confidence, min(SUREST, max(confidence, SURE) + SURER))


def with_use(learning: Learning, *, success: bool) -> Learning:
    """Return the learning after one more use; a dropped one that now helps starts over."""
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


def is_dropped(learning: Learning, rules: MemorySettings = DEFAULTS) -> bool:
    """True if the learning did not help and is no longer looked up."""
    return is_dropped_at(learning.type, learning.success_rate, rules)


def is_dropped_at(type_: str, rate: float, rules: MemorySettings = DEFAULTS) -> bool:
    """Same as `is_dropped`, for an unparsed entry."""
    return type_ in JUDGED and below(rate, rules.min_success_rate)


def is_same(one: Learning, other: Learning) -> bool:
    """True if two learnings are the same; each task type has a single estimate."""
    if (one.type, one.task_type) != (other.type, other.task_type):
        return False
    return one.type == "estimate" or is_same_text(_gist(one), _gist(other))


def contradict(one: Learning, other: Learning) -> bool:
    """True if the learnings address the same thing but disagree, so neither confirms the other."""
    if "estimate" in (one.type, other.type) or one.learning_id == other.learning_id:
        return False
    return contradicts(_gist(one), _gist(other))


def merged(known: Learning, new: Learning) -> Learning:
    """Return `known` extended by `new`; its ID, main text and user settings are kept."""
    content = {**{name: new.content[name] for name in _FILLED if name in new.content}}
    content |= known.content
    confidence = max(known.confidence, (known.confidence + new.confidence) / 2)
    if known.type == "estimate":
        content = join_estimates(known.content, new.content)
        confidence = max(confidence, sample_confidence(samples_of(content)))
    if known.type == "strategy":
        content = with_mean_iterations(content, known, new)
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


def reporting_runs(learning: Learning) -> int:
    """Return how many runs reported the learning; for an estimate, at most its samples."""
    runs = learning.runs
    return min(runs, samples_of(learning.content)) if learning.type == "estimate" else runs


def proven(learning: Learning, rules: MemorySettings = DEFAULTS) -> str:
    """Return one sentence on why the learning may become knowledge; empty if it may not.

    Merge a new learning into a matching known one before calling this: then two runs have reported
    it.
    """
    if below(learning.confidence, rules.promote_at):
        return ""
    if (runs := reporting_runs(learning)) >= rules.min_uses:
        return f"{count(runs, 'run')} reported it."
    if learning.successes:
        return f"It helped in {learning.successes} of {count(learning.uses, 'counted use')}."
    return ""


def promoted(learning: Learning) -> Learning:
    """Return the learning as knowledge."""
    update = {"standing": "proven", "confidence": raised(learning.confidence)}
    return learning.model_copy(update=update)


def _gist(learning: Learning) -> str:
    return gist(learning.type, learning.content) or learning.text


def _start(learning: Learning) -> float:
    """Return the rate before any use; another tool or the user may have set any value."""
    start = (learning.success_rate * (WEIGHT + learning.uses) - learning.successes) / WEIGHT
    return min(1.0, max(0.0, round(start, 6)))


def _rate(uses: int, successes: int, start: float) -> float:
    # A file may contain more successes than uses.
    return min(1.0, success_rate(uses, successes, start))
