"""BM25: how well a text matches a query. Rare words count more, and long texts less."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from typing import Final

from ralph_tui.adapters.search.terms import query_terms, terms

K1: Final = 1.2
B: Final = 0.75
"""BM25's usual constants, for the saturation of repeated words and the effect of length."""


def weights(texts: int, having: Mapping[str, int]) -> dict[str, float]:
    """Return the weight of each term, given how many of the `texts` have it."""
    return {term: log(1 + (texts - met + 0.5) / (met + 0.5)) for term, met in having.items()}


def bm25(said: Sequence[str], weight: Mapping[str, float], average: float) -> float:
    """Return the BM25 of a text's terms; `average` is the average number of terms in a text."""
    times: dict[str, int] = {}
    for term in said:
        if term in weight:
            times[term] = times.get(term, 0) + 1
    norm = K1 * (1 - B + B * len(said) / average)
    return sum(weight[term] * n * (K1 + 1) / (n + norm) for term, n in times.items())


def shares(query: str, texts: Sequence[str]) -> list[float]:
    """Return each text's BM25 as a share of the query's own: 0 to about 1."""
    said = [terms(text) for text in texts]
    having = Counter(term for words in said for term in set(words))
    wanted = query_terms(query)
    # Words that no text has count as well: matching half of the words yields half of the share.
    weight = weights(len(texts), {term: having[term] for term in wanted})
    average = max(1.0, sum(map(len, said)) / max(1, len(said)))
    whole = bm25(terms(query), weight, average)
    return [bm25(words, weight, average) / whole if whole else 0.0 for words in said]
