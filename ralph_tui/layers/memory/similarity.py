"""Whether two texts say the same, by their words alone."""

from typing import Final

from ralph_tui.layers.control import below
from ralph_tui.text.words import words_of

SIMILAR: Final = 0.6
"""Share of the words that two texts have in common from which on they are one learning."""


def words(text: str) -> frozenset[str]:
    """The words of a text, each once, case-folded."""
    return frozenset(words_of(text))


def jaccard(one: str, other: str) -> float:
    """Words in both, as a share of the words in either; 0 where neither has any."""
    ours, theirs = words(one), words(other)
    either = ours | theirs
    return len(ours & theirs) / len(either) if either else 0.0


def similar(one: str, other: str) -> bool:
    """Whether they say the same."""
    return not below(jaccard(one, other), SIMILAR)
