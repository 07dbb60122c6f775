"""Search terms of a text: its words, in order, without their endings.

Rule: texts and queries both go through `terms`. Terms therefore have only letters and digits, and
users need not know the index's syntax.
"""

import re
from functools import lru_cache
from typing import Final

from ralph_tui.text.words import words_of

_FILLERS = """
a about after again all an and any are as at be because been before being but by can cannot could
did do does each every for from had has have her his how i if in into is it its itself just me more
most my no nor not of off on once one only or other our out over own please same shall she should
so some such than that the their them then there these they this those through to too under until
up us very was we were what when where which while who whom why will with within without would you
your
"""
_TOKENS = re.compile(r"[^\W_]+")
_ENDINGS = (
    *("ational", "ization", "ations", "ation", "ingly", "ments", "ment", "ness"),
    *("ities", "ity", "ings", "ing", "edly", "ions", "ion", "ers", "ies", "ied"),
    *("er", "ed", "es", "ly", "s", "e"),
)
_SHORTEST = 3
"""Minimum number of letters that must remain when an ending is removed."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return a word without its English ending: ``failing`` and ``failed`` become ``fail``."""
    if not word.isascii() or word.isdigit():
        return word
    for ending in _ENDINGS:
        left = len(word) - len(ending)
        if word.endswith(ending) and left >= _SHORTEST + ending.startswith("er"):
            if ending == "s" and word.endswith(("ss", "us", "is")):
                return word
            base = word[: -len(ending)]
            if ending in ("ies", "ied"):
                return base + "y"
            doubled = base[-1] == base[-2] and base[-1] not in "aeiols"
            return base[:-1] if doubled and len(base) > _SHORTEST else base
    return word


FILLERS: Final = frozenset(stem(word) for word in _FILLERS.split())
"""Terms without a meaning of their own, searched for only if a query has nothing else."""


def terms(text: str) -> list[str]:
    """Return a text's terms in order, with fillers; ``OrderManager`` is followed by its parts."""
    return [term for token in _TOKENS.findall(text) for term in _terms_of(token)]


def query_terms(query: str) -> list[str]:
    """Return a query's terms without duplicates; fillers only if there is nothing else."""
    found = dict.fromkeys(terms(query))
    return [term for term in found if term not in FILLERS] or list(found)


@lru_cache(maxsize=65_536)
def _terms_of(token: str) -> tuple[str, ...]:
    parts = [part for part in words_of(token) if len(part) > 1]
    whole = stem(token.casefold())
    return (whole, *map(stem, parts)) if len(parts) > 1 or parts != [token.casefold()] else (whole,)
