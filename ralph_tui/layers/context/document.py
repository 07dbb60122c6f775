"""A document of bounded length: parts, whose lines go one by one, the least important first. Pure.

A last line says what was left out.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ralph_tui.text.format import count

MOST_LINES = 40
"""Of a list: more have no place."""


class Part(NamedTuple):
    """A piece of a section, whose lines can go one by one, the last first."""

    heading: str
    rank: int
    """The lower, the sooner it goes."""
    lines: tuple[str, ...]
    noun: str = ""
    """One of its lines; empty: they are a text, which `name` names."""
    name: str = ""
    lead: str = ""
    """Words before them; they go with the last line."""
    more: int = 0
    """Further lines that are not here."""

    def text(self, kept: int) -> str:
        """With so many of its lines."""
        gap = "\n\n" if self.lead else ""
        return f"{self.lead}{gap}" + "\n".join(self.lines[:kept]) if kept else ""

    def left_out(self, kept: int) -> str:
        """In words; empty where nothing is."""
        missing = len(self.lines) - kept + self.more
        if not missing:
            return ""
        if self.noun:
            return count(missing, self.noun)
        return f"part of {self.name}" if kept else self.name


def listed(
    heading: str, rank: int, noun: str, lines: Sequence[str], lead: str = "", given: int = 0
) -> Part:
    """A list of such things, of which there are at least `given`."""
    kept = tuple(lines[:MOST_LINES])
    more = max(len(lines), given) - len(kept)
    return Part(heading, rank, kept, noun, lead=lead, more=more)


def document(head: Sequence[str], parts: Sequence[Part], limit: int) -> str:
    """In Markdown; of `head`, its paragraphs before the first section, nothing is left out."""
    kept = [len(part.lines) for part in parts]
    text = _written(head, parts, kept)
    for place in sorted(range(len(parts)), key=lambda place: parts[place].rank):
        while len(text) > limit and kept[place]:
            over = len(text) - limit
            while over > 0 and kept[place]:
                kept[place] -= 1
                over -= len(parts[place].lines[kept[place]]) + 1
            text = _written(head, parts, kept)
    return text


def _written(head: Sequence[str], parts: Sequence[Part], kept: Sequence[int]) -> str:
    pieces, heading = [*head], ""
    for part, lines in zip(parts, kept, strict=True):
        if body := part.text(lines):
            if part.heading != heading:
                pieces.append(f"## {part.heading}")
            heading = part.heading
            pieces.append(body)
    left_out = (part.left_out(lines) for part, lines in zip(parts, kept, strict=True))
    # Several parts may have one name.
    if named := ", ".join(dict.fromkeys(words for words in left_out if words)):
        pieces.append(f"Left out, to keep this short: {named}.")
    return "\n\n".join(pieces) + "\n"
