"""How sections are put together: whose words they are, and what may be shortened."""

from collections.abc import Sequence

from ralph_tui.layers.intelligence.budget import Block, Section, lines_of

RANKS = (
    "reports", "knowledge", "plan", "context", "changed files", "findings", "assessment",
    "output", "control", "reason", "failing", "strategy", "redirect",
)  # fmt: skip
"""What may be shortened, the least important first."""


def spoken(heading: str, *paragraphs: str) -> Section:
    """Our own words, or the owner's, which are never cut."""
    return Section(heading, whole(*paragraphs))


def whole(*paragraphs: str) -> tuple[Block, ...]:
    """As blocks of a section; empty ones are none."""
    return tuple(Block((text,)) for text in paragraphs if text)


def foreign(
    rank: str, name: str, label: str, lines: Sequence[str], *, keep_last: bool = False
) -> Block:
    """Lines that somebody else wrote."""
    return Block(
        lines_of(lines), rank_of(rank), name, label=label, keep="last" if keep_last else "first"
    )


def rank_of(name: str) -> int:
    """How important it is."""
    return RANKS.index(name)
