"""Detect texts that say the same or contradict each other, by their words alone."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from ralph_tui.layers.control.history import below
from ralph_tui.text.words import words_of

SIMILAR: Final = 0.6
"""Minimum share of words in common for two texts to count as one learning."""

_NOT: Final = """
not no never none nothing nobody nowhere neither nor without cannot t avoid forbid forbidden
"""
"""``t`` is the remainder of *don't* and *isn't*."""
_NEGATIONS: Final = frozenset(_NOT.split())
_PAIRS: Final = """
always/never always/sometimes before/after true/false on/off yes/no first/last all/none any/none
everything/nothing enable/disable add/remove insert/delete create/delete keep/delete keep/remove
keep/drop with/without allow/deny allow/forbid allow/block above/below over/under up/down open/close
start/stop begin/end left/right min/max minimum/maximum increase/decrease raise/lower grow/shrink
include/exclude success/failure succeed/fail pass/fail more/less more/fewer most/least old/new
public/private required/optional parallel/sequential parallel/serial positive/negative
ascending/descending upper/lower same/different early/late earlier/later push/pull read/write
high/low higher/lower local/remote relative/absolute inside/outside internal/external use/avoid
prefer/avoid encode/decode show/hide fast/slow strict/lenient large/small big/small long/short
single/multiple single/double global/local client/server input/output odd/even tabs/spaces
"""
_OPPOSITES: Final = tuple(tuple(pair.split("/")) for pair in _PAIRS.split())
_PREFIXES: Final = ("un", "in", "im", "ir", "il", "dis", "non", "a", "mis", "de")
"""Prefixes that turn a word into its opposite."""
_ENDINGS: Final = ("", "s", "d", "ed", "es", "ing", "ly")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_SMALL: Final = """
a an the this that these those it its is are was were be been and or of to in on at by for as with
so then you your we our will can should must do does
"""
"""Words whose position in a sentence does not matter."""
_FILLERS: Final = frozenset(_SMALL.split())


@lru_cache(maxsize=4096)
def words(text: str) -> frozenset[str]:
    """Return the words of a text, each once, case-folded."""
    return frozenset(words_of(text))


def jaccard(one: str, other: str) -> float:
    """Return the share of common words among the words of both texts; 0 without any words."""
    return _jaccard(words(one), words(other))


def similar(one: str, other: str) -> bool:
    """True if the texts have most of their words in common."""
    return not below(jaccard(one, other), SIMILAR)


def is_same_text(one: str, other: str) -> bool:
    """True if the texts are similar and do not contradict each other."""
    return similar(one, other) and not _differ(one, other)


def contradicts(one: str, other: str) -> bool:
    """True if similar texts differ in a negation, a number, an opposite or their order."""
    return similar(one, other) and _differ(one, other)


def _jaccard(ours: frozenset[str], theirs: frozenset[str]) -> float:
    either = len(ours | theirs)
    return len(ours & theirs) / either if either else 0.0


@lru_cache(maxsize=4096)
def _differ(one: str, other: str) -> bool:
    """True if similar texts say different things."""
    if sorted(_NUMBER.findall(one)) != sorted(_NUMBER.findall(other)):
        return True
    ours, theirs = words_of(one), words_of(other)
    if _negations(ours) != _negations(theirs):
        return True
    here, there = set(ours) - set(theirs), set(theirs) - set(ours)
    if any(_opposed(word, against) for word in here for against in there):
        return True
    return _order(ours, there=set(theirs)) != _order(theirs, there=set(ours))


def _negations(said: Sequence[str]) -> int:
    return sum(word in _NEGATIONS for word in said)


def _opposed(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) > 2 and any(long == prefix + short for prefix in _PREFIXES):
        return True
    return any(
        (_is(one, a) and _is(other, b)) or (_is(one, b) and _is(other, a)) for a, b in _OPPOSITES
    )


def _is(word: str, root: str) -> bool:
    """True if `word` is a form of `root`."""
    stem = root.removesuffix("e")
    if not word.startswith(stem):
        return False
    return word[len(root) :] in _ENDINGS if word.startswith(root) else word == f"{stem}ing"


def _order(said: Sequence[str], there: set[str]) -> list[str]:
    """Return the significant words that both texts have, in order of first occurrence."""
    shared = (word for word in said if word in there and word not in _FILLERS)
    return list(dict.fromkeys(shared))
