"""BM25: how well a text fits a query, rare words more, long texts less."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from typing import Final

from ralph_tui.adapters.search.terms import sought, terms

K1: Final = 1.2
B: Final = 0.75
"""BM25's usual constants: how soon a repeated word counts no more, and how much length does."""


def weights(texts: int, having: Mapping[str, int]) -> dict[str, float]:
    """What each term tells: `having` is how many of the `texts` have it."""
    return {term: log(1 + (texts - met + 0.5) / (met + 0.5)) for term, met in having.items()}


def fit(said: Sequence[str], weight: Mapping[str, float], average: float) -> float:
    """BM25 of a text's terms; `average` is the terms of a text on the average."""
    times: dict[str, int] = {}
    for term in said:
        if term in weight:
            times[term] = times.get(term, 0) + 1
    norm = K1 * (1 - B + B * len(said) / average)
    return sum(weight[term] * n * (K1 + 1) / (n + norm) for term, n in times.items())


def shares(query: str, texts: Sequence[str]) -> list[float]:
    """Of each text its BM25, as a share of what the query itself would have: 0 to about 1."""
    said = [terms(text) for text in texts]
    having = Counter(term for words in said for term in set(words))
    wanted = sought(query)
    # A word that no text has counts too: a query that is met by half is met by half.
    weight = weights(len(texts), {term: having[term] for term in wanted})
    average = max(1.0, sum(map(len, said)) / max(1, len(said)))
    whole = fit(terms(query), weight, average)
    return [fit(words, weight, average) / whole if whole else 0.0 for words in said]
