"""Build the blocks of sections, with their author and whether they may be shortened."""

from collections.abc import Sequence

from ralph_tui.layers.intelligence.budget import Block, Section, lines_of

NAMED_TESTS = 20
"""Maximum number of failing tests named in a prompt."""
RANKS = (
    "reports", "knowledge", "plan", "context", "changed files", "files", "findings", "assessment",
    "output", "control", "reason", "failing", "strategy", "redirect",
)  # fmt: skip
"""Blocks that may be shortened, least important first."""


def uncut_section(heading: str, *paragraphs: str) -> Section:
    """Return a section in our own or the user's words, which are never cut."""
    return Section(heading, whole(*paragraphs))


def whole(*paragraphs: str) -> tuple[Block, ...]:
    """Return the non-empty paragraphs as blocks that are never cut."""
    return tuple(Block((text,)) for text in paragraphs if text)


def foreign(
    rank: str, name: str, label: str, lines: Sequence[str], *, keep_last: bool = False
) -> Block:
    """Return a labelled block with lines by other authors."""
    return Block(
        lines_of(lines), rank_of(rank), name, label=label, keep="last" if keep_last else "first"
    )


def rank_of(name: str) -> int:
    """Return the importance of a block; lower ranks are cut first."""
    return RANKS.index(name)
