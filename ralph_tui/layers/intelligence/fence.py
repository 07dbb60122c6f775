"""Foreign words in a prompt: fenced and labelled, so that they cannot pose as ours.

Rule: whatever an agent, a test, a file or a model has written enters a prompt through `data`, and
only there. Its fence is longer than any run of backticks within, so no content closes it; the label
above says that it is data.
"""

from collections.abc import Iterable

from ralph_tui.text.quoting import SAYS_DATA, closed, fenced, labelled, line_of, open_fence, visible
from ralph_tui.text.sanitize import plain

__all__ = ["SAYS_DATA", "closed", "data", "fenced", "harmless", "item", "open_fence"]

LONGEST_ITEM = 400
"""Characters of one item of a list."""


def data(label: str, lines: Iterable[str]) -> str:
    """Foreign lines in a prompt; `label` says what they are, and whose."""
    return labelled(label, harmless("\n".join(lines)))


def item(text: str, longest: int = LONGEST_ITEM) -> str:
    """Foreign text as one line of a list."""
    return line_of(plain(text), longest)


def harmless(text: str) -> str:
    """Without control sequences, secrets, and what cannot be seen or is read by a program."""
    return visible(plain(text))
