"""Embedders: a text as a vector, so that texts about the same thing point the same way.

The built-in one needs no download and knows no language: it is a hash of words, of the concepts of
a small table (``synonyms.txt``, written for ralph-tui), and of pieces of words. It sees that
"login" and "authentication" are near, because the table says so, and nothing that it does not say.
The extra ``ralph-tui[embeddings]`` brings one that was trained.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from math import sqrt
from typing import Final, Protocol
from zlib import crc32

from ralph_tui.adapters.search.terms import FILLERS, stem, terms
from ralph_tui.text.words import words_of

Vector = Sequence[float]
"""Of length 1, or all zeros for a text without a word."""


class Embedder(Protocol):
    """Makes vectors of texts; calls may come from any thread and may take seconds."""

    name: str
    """Of the method and its version: vectors of another name cannot be compared with these."""
    dimension: int
    threshold: float
    """Two tasks this alike (see `likeness`) are related."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text."""


WORD: Final = 1.0
CONCEPT: Final = 1.5
PIECE: Final = 0.3
GENERAL: Final = 0.3
"""What a word, its concepts together and its pieces together weigh; of a general word that part."""
PIECE_LENGTH: Final = 4

_GENERAL_WORDS = frozenset(
    map(
        stem,
        words_of(
            "fix repair mend make add implement create write build support change update improve "
            "need needs needed use new must get let show set allow ensure try bring give turn"
        ),
    )
)
"""Words of any task."""


class HashedConcepts:
    """Words, their concepts and their pieces, hashed into a vector; offline and deterministic."""

    name = "hashed-concepts-1"
    dimension = 1024
    threshold = 0.32
    """Where precision and recall are in balance on the half that was tuned on: 81 % of the matches
    are above it, and 1 % of the other tasks of the family."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        sums: dict[int, float] = {}
        for term in dict.fromkeys(terms(text)):
            if term not in FILLERS:
                for place, weight in _features(term, self.dimension):
                    sums[place] = sums.get(place, 0.0) + weight
        length = sqrt(sum(value * value for value in sums.values())) or 1.0
        vector = [0.0] * self.dimension
        for place, value in sums.items():
            vector[place] = value / length
        return vector


@lru_cache(maxsize=16_384)
def _features(term: str, dimension: int) -> tuple[tuple[int, float], ...]:
    """Places in the vector, and what to add there."""
    marked = f"<{term}>"
    pieces = [marked[i : i + PIECE_LENGTH] for i in range(len(marked) - PIECE_LENGTH + 1)]
    parts = (
        (WORD, [f"word {term}"]),
        (CONCEPT, [f"concept {number}" for number in _concepts().get(term, ())]),
        (PIECE, [f"piece {piece}" for piece in pieces]),
    )
    general = GENERAL if term in _GENERAL_WORDS else 1.0
    return tuple(
        _hashed(feature, dimension, weight * general / sqrt(len(features)))
        for weight, features in parts
        for feature in features
    )


def _hashed(feature: str, dimension: int, weight: float) -> tuple[int, float]:
    """Its place, and its weight with a sign of its own: what meets by chance cancels out."""
    number = crc32(feature.encode())
    return number % dimension, weight if number & 0x8000_0000 else -weight


@cache
def _concepts() -> dict[str, tuple[int, ...]]:
    """The lines of the table that each term stands in."""
    table = files("ralph_tui.adapters.search").joinpath("synonyms.txt")
    found: dict[str, dict[int, None]] = {}
    for number, line in enumerate(table.read_text(encoding="utf-8").splitlines()):
        for word in line.partition("#")[0].split(","):
            for term in terms(word):
                found.setdefault(term, {})[number] = None
    return {term: tuple(lines) for term, lines in found.items()}


def alike(one: Vector, other: Vector) -> float:
    """The cosine of two vectors: 1 the same, 0 nothing in common."""
    return sum(a * b for a, b in zip(one, other, strict=True))
