"""Reduces texts to words for comparison, never for display. Standard library only."""

import re

_TOKENS = re.compile(r"[^\W_]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words_of(text: str) -> list[str]:
    """Return the case-folded words in order; ``fooBar`` and ``foo_bar`` are two words each."""
    tokens = (_HUMPS.sub(" ", token) for token in _TOKENS.findall(text))
    return [word.casefold() for token in tokens for word in token.split()]


def same_words(text: str) -> str:
    """Normalize a sentence for comparison: ignore case, whitespace and the full stop."""
    return " ".join(text.casefold().split()).rstrip(".")


def without_particulars(text: str) -> str:
    """Return a message's words without numbers, ids, times and paths; never empty for a message."""
    words = text.casefold().split()
    same = [
        word
        for word in words
        if not any(character.isdigit() or character in "/\\" for character in word)
    ]
    return " ".join(same) or ("#" if words else "")
