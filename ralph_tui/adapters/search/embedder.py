"""Embedders: vectors for texts, so that texts about the same thing point in similar directions.

The built-in embedder needs no download and knows no language. It hashes words, pieces of words, and
the concepts in a small table (``synonyms.txt``, written for ralph-tui). It relates "login" to
"authentication" only because that table does. The extra ``ralph-tui[embeddings]`` adds a trained
embedder.
"""

from array import array
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from math import sqrt
from operator import mul
from typing import Final, NamedTuple, Protocol
from zlib import crc32

from ralph_tui.adapters.search.terms import FILLERS, stem, terms
from ralph_tui.text.words import words_of


class Vector(NamedTuple):
    """A sparse vector of length 1: its non-zero positions and weights, none for an empty text."""

    places: "array[int]"
    weights: "array[float]"

    @classmethod
    def of(cls, places: Iterable[int], weights: Iterable[float]) -> "Vector":
        """Return the vector with these positions and weights, scaled to length 1."""
        values = array("f", weights)
        length = sqrt(sum(value * value for value in values)) or 1.0
        return cls(array("H", places), array("f", [value / length for value in values]))


class Embedder(Protocol):
    """An embedder. Any thread may call it; a call may take seconds."""

    name: str
    """The method and its version; vectors from different ones cannot be compared."""
    dimension: int
    threshold: float
    """Tasks at least this similar are related."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        pass


WORD: Final = 1.0
CONCEPT: Final = 1.5
PIECE: Final = 0.3
GENERAL: Final = 0.3
"""Weights of a word, all its concepts and all its pieces, and the factor for general words."""
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
"""Words that may occur in any task."""


class HashedConcepts:
    """Words, their concepts and their pieces, hashed into a vector; offline and deterministic."""

    name = "hashed-concepts-1"
    dimension = 1024
    threshold = 0.24
    """The value that balances precision and recall on the half of the data used for tuning.

    There, 99 % of the related tasks are among the five best results above it, and 41 % of the
    results shown are related.
    """

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        sums: dict[int, float] = {}
        for term in dict.fromkeys(terms(text)):
            if term not in FILLERS:
                for place, weight in _features(term, self.dimension):
                    sums[place] = sums.get(place, 0.0) + weight
        return Vector.of(sums, sums.values())


@lru_cache(maxsize=16_384)
def _features(term: str, dimension: int) -> tuple[tuple[int, float], ...]:
    """Return positions in the vector and the value to add at each."""
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
    """Return a position and a weight whose sign is random, so that collisions cancel out."""
    number = crc32(feature.encode())
    return number % dimension, weight if number & 0x8000_0000 else -weight


@cache
def _concepts() -> dict[str, tuple[int, ...]]:
    """Return the lines of the table that contain each term."""
    table = files("ralph_tui.adapters.search").joinpath("synonyms.txt")
    found: dict[str, dict[int, None]] = {}
    for number, line in enumerate(table.read_text(encoding="utf-8").splitlines()):
        for word in line.partition("#")[0].split(","):
            for term in terms(word):
                found.setdefault(term, {})[number] = None
    return {term: tuple(lines) for term, lines in found.items()}


def cosines(one: Vector, others: Iterable[Vector], dimension: int) -> list[float]:
    """Return each cosine with `one`: 1 for the same direction, 0 for nothing in common."""
    dense = [0.0] * dimension
    for place, weight in zip(*one, strict=True):
        dense[place] = weight
    value = dense.__getitem__
    return [sum(map(mul, map(value, other.places), other.weights)) for other in others]
