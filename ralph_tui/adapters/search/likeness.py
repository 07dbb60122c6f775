"""How alike two descriptions of tasks are: by their words, by an embedder, or by both.

``python -m bench --only retrieval`` measures each way; the best is the default.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal

from ralph_tui.adapters.search.embedder import Embedder, Vector, alike
from ralph_tui.adapters.search.ranking import shares

Method = Literal["text", "embedder", "both"]

BEST: Final[Method] = "both"
TEXT_SHARE: Final = 0.2
"""Of `both`: what the words weigh; the best on the half of the set that constants are tuned on."""

Embed = Callable[[Sequence[str]], Sequence[Vector]]


def likeness(
    query: str,
    texts: Sequence[str],
    embedder: Embedder,
    method: Method = BEST,
    *,
    embed: Embed | None = None,
) -> list[float]:
    """Of each text how alike it is, 0 to 1; `embed` brings vectors that may be kept."""
    by_words = [min(1.0, share) for share in shares(query, texts)]
    if method == "text":
        return by_words
    first, *others = (embed or embedder.embed)([query, *texts])
    by_meaning = [max(0.0, alike(first, other)) for other in others]
    if method == "embedder":
        return by_meaning
    return [
        TEXT_SHARE * words + (1 - TEXT_SHARE) * meaning
        for words, meaning in zip(by_words, by_meaning, strict=True)
    ]
