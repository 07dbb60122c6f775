"""The work in progress: how far along the open item is, and what the work in a file is about.

Standard library only, because the hook program runs this too.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ralph_tui.text.format import count, percent

_SENTENCES = re.compile(r"(?<=[.!?:;])\s+|\n+")
_EDGES = " \t-*+#>:;,"
_WORD = re.compile(r"[^\W\d_]{2,}")
FEW = 2
"""Minimum number of words besides the file's name in a sentence about it."""
MOST = 4000
"""Maximum number of characters searched in each text."""


class ItemProgress(NamedTuple):
    """Progress on the plan's first open item; the defaults mean unknown."""

    share: float | None = None
    """0-100."""
    basis: str = ""
    """The basis of `share` in words, such as ``, according to the agent``."""
    done: tuple[str, ...] = ()
    """The item's ticked sub-items."""
    focus: str = ""
    """The item's first open sub-item."""

    @property
    def short(self) -> str:
        """The share in words, such as ``70 % done``; empty if unknown."""
        return "" if self.share is None else f"{percent(self.share)} done"

    @property
    def words(self) -> str:
        """The share and its basis, such as ``50 % done: 1 of 2 sub-items``; empty if unknown."""
        return f"{self.short}{self.basis}"


def item_progress(parts: Sequence[tuple[str, bool]], reported: float | None) -> ItemProgress:
    """Return the progress of an item: ticked sub-items take precedence over the agent's report.

    `parts` are its sub-items, each with True if ticked; `reported` is 0-100, or None.
    """
    done = tuple(text for text, ticked in parts if ticked)
    focus = next((text for text, ticked in parts if not ticked), "")
    if done:
        share = 100 * len(done) / len(parts)
        of_all = f": {len(done)} of {count(len(parts), 'sub-item')}"
        return ItemProgress(share, of_all, done, focus)
    if reported is not None:
        return ItemProgress(reported, ", according to the agent", focus=focus)
    return ItemProgress(focus=focus)


def words_about(path: str, texts: Iterable[str]) -> str:
    """Return the first sentence in `texts` about the file; empty if there is none."""
    name = path.rpartition("/")[2]
    names = re.compile(rf"(?<!\w){re.escape(path)}(?!\w)|(?<![\w./-]){re.escape(name)}(?![\w-])")
    for text in texts:
        for sentence in _SENTENCES.split(text[:MOST]):
            rest, named = names.subn("", sentence)
            if named and len(_WORD.findall(rest)) >= FEW:
                return sentence.strip(_EDGES)
    return ""
