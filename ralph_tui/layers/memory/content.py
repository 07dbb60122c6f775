"""The content of a learning, by its type; fields have camelCase names in the knowledge file.

===========  ======================================================================
strategy     approach, toolSequence (kinds of action in order), blockers, resolution,
             avgIterations
antipattern  pattern, consequence, alternative, detectedIn (iterations)
estimate     estimatedIterations, estimatedMinutes, basedOnSamples, confidence
convention   convention, source
===========  ======================================================================

Unknown values are omitted. Content may come from a file written by anyone. Fields in other tools'
formats are also read, and a field of the wrong type is ignored.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Final

from ralph_tui.events.memory import Learning, LearningType
from ralph_tui.text.format import count
from ralph_tui.text.words import same_words

MAIN: Final[Mapping[LearningType, tuple[str, ...]]] = {
    "strategy": ("approach", "description"),
    "antipattern": ("pattern", "description"),
    "estimate": (),
    "convention": ("convention", "description"),
}
"""The field with the main text: our name for it first, then another tool's."""
EXAMPLES: Final = 3
"""Maximum number of examples quoted for an antipattern, or of blockers for a strategy."""
_TEXT_FIELDS: Final[Mapping[LearningType, set[str]]] = {
    "antipattern": {"consequence", "alternative", "examples"},
    "strategy": {"blockers", "resolution"},
}
"""Fields that are part of the text, besides the main one."""

MS_PER_MINUTE: Final = 60_000
"""Another tool records an iteration's duration in milliseconds."""

Content = dict[str, Any]


def learning_id(type_: LearningType, task_type: str, text: str) -> str:
    """Return an ID that is the same for the same words, so that findings of several runs match.

    Each task type has a single estimate, whatever its numbers are.
    """
    said = "" if type_ == "estimate" else same_words(text)
    parts = "\0".join((type_, task_type, said))
    return f"learn-{hashlib.sha256(parts.encode('utf-8', 'replace')).hexdigest()[:12]}"


def strategy(
    approach: str,
    tools: Sequence[str] = (),
    *,
    blockers: Sequence[str] = (),
    resolution: str = "",
    iterations: int = 0,
) -> Content:
    """Return the content of a strategy: what worked, with the kinds of action in order.

    `resolution` says how the `blockers` were removed. `iterations`: the length of the run.
    """
    fields = {
        "approach": approach,
        "toolSequence": list(tools),
        "blockers": list(blockers),
        "resolution": resolution,
        "avgIterations": iterations,
    }
    return {name: value for name, value in fields.items() if value}


def antipattern(
    pattern: str, consequence: str, alternative: str = "", iterations: Sequence[int] = ()
) -> Content:
    """Return the content of an antipattern: the mistake, its consequence and an alternative.
    `iterations`: those in which it was seen.
    """
    fields = {
        "pattern": pattern,
        "consequence": consequence,
        "alternative": alternative,
        "detectedIn": list(iterations),
    }
    return {name: value for name, value in fields.items() if value}


def estimate(iterations: float, minutes: float | None, samples: int) -> Content:
    """Return the content of an estimate; its confidence grows with the number of samples."""
    known = {} if minutes is None else {"estimatedMinutes": _rounded(minutes)}
    return {
        "estimatedIterations": _rounded(iterations),
        **known,
        "basedOnSamples": samples,
        "confidence": round(sample_confidence(samples), 3),
    }


def convention(text: str, source: str) -> Content:
    """Return the content of a convention of this project, with its source."""
    return {"convention": text, "source": source}


def sample_confidence(samples: int) -> float:
    """Return the confidence in an estimate from this many runs, a fraction."""
    return samples / (samples + 2)


def text_of(type_: LearningType, content: Mapping[str, Any]) -> str:
    """Return the learning's text, one or a few sentences; empty without content."""
    if type_ == "estimate":
        return _estimate_words(content)
    main = _main(type_, content)
    if type_ == "strategy" and main:
        return " ".join(_overcome(main, content))
    if type_ != "antipattern" or not main:
        return main
    examples = "; ".join(_texts(content.get("examples"))[:EXAMPLES])
    better = _text(content, "alternative")
    parts = (
        main,
        f"Seen as: {examples}" if examples else "",
        _text(content, "consequence"),
        f"Better: {better}" if better else "",
    )
    return " ".join(_sentence(text) for text in parts if text)


def gist(type_: LearningType, content: Mapping[str, Any]) -> str:
    """Return the main field, which identifies the learning; empty for an estimate."""
    return _main(type_, content)


def with_text(type_: LearningType, content: Mapping[str, Any], text: str) -> Content:
    """Return the content after the user has reworded it."""
    if type_ == "estimate":
        return {**content, "description": text}
    dropped = _TEXT_FIELDS.get(type_, set())
    kept = {name: value for name, value in content.items() if name not in dropped}
    field = next((name for name in MAIN[type_] if name in kept), MAIN[type_][0])
    return {**kept, field: text}


def iterations_of(content: Mapping[str, Any]) -> float | None:
    """Return the iterations an estimate expects; None if not stated."""
    for name in ("estimatedIterations", "totalIterations"):
        if (number := _number(content, name)) is not None and number > 0:
            return number
    return None


def minutes_of(content: Mapping[str, Any]) -> float | None:
    """Return the minutes an estimate expects; None if not stated."""
    minutes, iterations = _number(content, "estimatedMinutes"), _number(content, "totalIterations")
    if minutes is not None or iterations is None:
        return minutes
    each = _number(content, "avgIterationTime")
    return None if each is None else each * iterations / MS_PER_MINUTE


def samples_of(content: Mapping[str, Any]) -> int:
    """Return the number of runs behind an estimate, at least one."""
    return max(1, int(_number(content, "basedOnSamples") or 1))


def join_estimates(one: Mapping[str, Any], other: Mapping[str, Any]) -> Content:
    """Combine two estimates, weighted by their runs; other fields of `one` are kept.

    An estimate without iterations adds no runs.
    """
    samples = sum(samples_of(each) for each in (one, other) if iterations_of(each) is not None)
    iterations = _mean(iterations_of(one), samples_of(one), iterations_of(other), samples_of(other))
    minutes = _mean(minutes_of(one), samples_of(one), minutes_of(other), samples_of(other))
    if iterations is None:
        return dict(one)
    return {**one, **estimate(iterations, minutes, samples)}


def with_mean_iterations(one: Content, known: Learning, new: Learning) -> Content:
    """Return the content with the mean iterations of two reports, weighted by their runs."""
    name = "avgIterations"
    numbers = (_number(known.content, name), _number(new.content, name))
    mean = _mean(numbers[0], known.runs, numbers[1], new.runs)
    return one if mean is None else {**one, name: _rounded(mean)}


def _mean(one: float | None, weight: int, other: float | None, others: int) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return (one * weight + other * others) / (weight + others)


def _estimate_words(content: Mapping[str, Any]) -> str:
    if said := _text(content, "description"):
        return said
    iterations, minutes = iterations_of(content), minutes_of(content)
    samples = count(samples_of(content), "run")
    if iterations is not None:
        takes = f"about {_amount(iterations, 'iteration')}"
        takes += "" if minutes is None else f" and {_minutes(minutes)}"
        return f"A task of this kind takes {takes}, based on {samples}."
    each = _number(content, "avgIterationTime")
    if each is None:
        return ""
    takes = _minutes(each / MS_PER_MINUTE)
    return f"One iteration of such a task takes {takes}, based on {samples}."


def _minutes(number: float) -> str:
    return _amount(number, "minute") if number >= 1 else "less than a minute"


def _amount(number: float, noun: str) -> str:
    """Format an amount: ``4 iterations``, ``3.5 iterations``; halves only below 10."""
    near = round(number * 2) / 2 if number < 10 else float(round(number))
    whole = near == int(near)
    return count(max(1, int(near)), noun) if whole else f"{near:g} {noun}s"


def _overcome(main: str, content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the approach, the obstacles, and how they were removed."""
    blockers = "; ".join(_texts(content.get("blockers"))[:EXAMPLES])
    resolution = _text(content, "resolution")
    yield _sentence(main) if blockers else main
    if blockers:
        yield _sentence(f"Obstacles: {blockers}")
        if resolution:
            yield _sentence(f"Resolved by: {resolution}")


def _main(type_: LearningType, content: Mapping[str, Any]) -> str:
    return next((text for name in MAIN[type_] if (text := _text(content, name))), "")


def _text(content: Mapping[str, Any], name: str) -> str:
    value = content.get(name)
    return value.strip() if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    if not isinstance(value, list):
        return []
    return [text.strip() for text in value if isinstance(text, str) and text.strip()]


def _number(content: Mapping[str, Any], name: str) -> float | None:
    """Return a finite number from 0 to 1e9; None for anything else."""
    value = content.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1e9 and isfinite(value) else None


def _rounded(number: float) -> float:
    return round(number, 2)


def _sentence(text: str) -> str:
    return text if text[-1:] in ".!?:…" else f"{text}."
