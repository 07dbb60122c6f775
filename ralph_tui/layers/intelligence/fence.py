"""Fence and label foreign words in a prompt, so that they cannot pose as ours.

Text written by an agent, a test, a file or a model enters a prompt only through `data`. Its fence
is longer than any run of backticks inside, so no content closes it. The label above it says that it
is data.
"""

from collections.abc import Iterable

from ralph_tui.text.quoting import (
    DATA_NOTICE,
    closed,
    fenced,
    labelled,
    line_of,
    open_fence,
    visible,
)
from ralph_tui.text.sanitize import plain

__all__ = ["DATA_NOTICE", "closed", "data", "fenced", "item", "open_fence", "sanitize"]

LONGEST_ITEM = 400
"""Maximum length of a list item, in characters."""


def data(label: str, lines: Iterable[str]) -> str:
    """Fence foreign lines for a prompt; `label` names their kind and author."""
    return labelled(label, sanitize("\n".join(lines)))


def item(text: str, longest: int = LONGEST_ITEM) -> str:
    """Return foreign text as one line of a list."""
    return line_of(plain(text), longest)


def sanitize(text: str) -> str:
    """Remove control sequences, secrets and invisible characters, and disarm promise tags."""
    return visible(plain(text))
