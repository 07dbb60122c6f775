"""Classify an objective by its words; the first matching kind wins.

A word matches in all its forms (``failing``, ``ported``, ``documentation``), but only as a whole:
``support`` does not match ``port``. A kind's own name matches too.
"""

from collections.abc import Callable
from typing import Final

from ralph_tui.text.words import words_of

GENERAL: Final = "general"


def _forms(*stems: str) -> frozenset[str]:
    """Return regular stems with their endings; callers list irregular forms."""
    found: set[str] = set()
    for stem in stems:
        base = stem[:-1] if stem.endswith("e") else stem
        found |= {stem, f"{stem}s", f"{base}es", f"{base}ed", f"{base}ing"}
    return frozenset(found)


_TEST = _forms("test", "spec")
_WRONG = _forms("fix", "fail") | {"failure", "failures", "red", "flaky", "flakiness"}
_BUG = _forms("bug", "crash", "error", "fix") | {"buggy"}
_REFACTOR = _forms("refactor")
_MIGRATION = _forms("migrate", "port", "upgrade") | {"migration", "migrations"}
_DOCUMENTATION = _forms("document", "doc") | {"documentation", "readme"}
_PERFORMANCE = (
    _forms("slow", "speed")
    | {"fast", "faster", "fastest", "slower", "slowest", "sped", "speedup", "latency", "latencies"}
    | {"performance"}
)
_MEMORY = frozenset({"memory"})
_USE = _forms("use") | {"usage"}
_FEATURE = _forms("add", "implement", "create", "support", "build", "feature") | {
    "built",
    "implementation",
    "creation",
}


def _test_fix(words: frozenset[str]) -> bool:
    return bool(words & _TEST and words & _WRONG)


def _performance(words: frozenset[str]) -> bool:
    return bool(words & _PERFORMANCE or (words & _MEMORY and words & _USE))


def _has(known: frozenset[str]) -> Callable[[frozenset[str]], bool]:
    return lambda words: bool(words & known)


_KINDS: tuple[tuple[str, Callable[[frozenset[str]], bool]], ...] = (
    ("test-fix", _test_fix),
    ("bug-fix", _has(_BUG)),
    ("refactor", _has(_REFACTOR)),
    ("migration", _has(_MIGRATION)),
    ("documentation", _has(_DOCUMENTATION)),
    ("performance", _performance),
    ("feature", _has(_FEATURE)),
)
TASK_TYPES: Final = (*(name for name, _ in _KINDS), GENERAL)


def task_type(objective: str) -> str:
    """Return the objective's task type, one of `TASK_TYPES`."""
    words = frozenset(words_of(objective))
    return next((name for name, fits in _KINDS if fits(words)), GENERAL)
