"""Limit a prompt's length: estimate its tokens, and leave out parts if it is too long.

A section consists of blocks, and a block consists of units: sentences, or lines. A unit is included
whole or not at all. Blocks with a rank lose units, the lowest rank first; blocks without one stay
whole.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ralph_tui.layers.intelligence.fence import data, open_fence

CHARACTERS_PER_TOKEN = 4
"""An estimate for English text and code."""
_WIDE = re.compile(r"[^\x00-\x7f]")
_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z`\"'(])")


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: one per 4 ASCII characters, and one per other character.

    This is not a model's own count. For the sample prompts in `tests`, the estimate is 0.9 to 1.1
    times the count of a byte-pair tokenizer. It is twice that count for Russian, and half of it for
    emoji.
    """
    wide = 0 if text.isascii() else len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // CHARACTERS_PER_TOKEN)


@dataclass(frozen=True)
class Block:
    """A piece of a section."""

    units: tuple[str, ...]
    """Each includes its trailing white space."""
    rank: int | None = None
    """Lower ranks are cut first; None is never cut."""
    name: str = ""
    """The block's name in the note about omitted parts."""
    lead: str = ""
    """Our introduction, omitted together with the block."""
    label: str = ""
    """For text by other authors: its kind and its author."""
    keep: Literal["first", "last"] = "first"
    """Which units are kept if some are cut."""
    unsaid: int = 0
    """Number of further units whose text is unavailable."""
    counted: bool = False
    """True if a last line reports how many units are missing."""

    def text(self, kept: int) -> str:
        """Return the text cut to `kept` units; empty for 0."""
        if not kept:
            return ""
        units = self.units[:kept] if self.keep == "first" else self.units[-kept:]
        body = "".join(units).strip("\n")
        missing = len(self.units) - kept + self.unsaid
        if self.counted and missing:
            body += f"\n- and {missing} more, not named"
        body = data(self.label, body.split("\n")) if self.label else body.strip()
        return f"{self.lead}\n\n{body}" if self.lead else body


def whole_text(block: Block) -> str:
    """Return the text with all units."""
    return block.text(len(block.units))


@dataclass(frozen=True)
class Section:
    """A part of a prompt under one heading; empty if all its blocks are."""

    heading: str
    blocks: tuple[Block, ...]

    def text(self, block_text: Callable[[Block], str] = whole_text) -> str:
        """Return the section's text; `block_text` renders a block."""
        texts = (block_text(block) for block in self.blocks)
        body = "\n\n".join(text for text in texts if text)
        return f"# {self.heading}\n\n{body}" if body else ""


@dataclass(frozen=True)
class FittedPrompt:
    """A prompt that keeps to its budget as far as possible."""

    text: str
    tokens: int
    cut: tuple[str, ...]
    """Names of the parts left out."""


Render = Callable[[Mapping[str, str]], str]
"""Function that renders the whole text from its sections by name."""
CUT = "cut"
"""Name of the section that reports what was left out."""


def fit(sections: Mapping[str, Section], limit: int, render: Render) -> FittedPrompt:
    """Leave out as little as possible, the least important first."""
    blocks = [block for section in sections.values() for block in section.blocks]
    ranked = [block for block in blocks if block.rank is not None]
    ranked.sort(key=lambda block: block.rank or 0)
    kept: dict[int, int] = {}
    texts: dict[tuple[int, int], str] = {}  # cached: scanning for secrets is slow

    def block_text(block: Block) -> str:
        units = kept.get(id(block), len(block.units))
        key = id(block), units
        if key not in texts:
            texts[key] = block.text(units)
        return texts[key]

    def written() -> str:
        parts = {name: section.text(block_text) for name, section in sections.items()}
        return render({**parts, CUT: _cut_line(_cut(ranked, kept))})

    def fits(block: Block, units: int) -> bool:
        kept[id(block)] = units
        return estimate_tokens(written()) <= limit

    for block in ranked:
        if estimate_tokens(written()) <= limit:
            break
        low, high = 0, len(block.units) - 1  # the most units that fit, or 0
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(block, middle) else (low, middle - 1)
        kept[id(block)] = max(0, low)
    text = written()
    return FittedPrompt(text, estimate_tokens(text), tuple(_cut(ranked, kept)))


def _cut(ranked: Sequence[Block], kept: Mapping[int, int]) -> list[str]:
    """Return the names of the parts left out, the most important first."""
    return list(dict.fromkeys(_cuts(reversed(ranked), kept)))


def _cuts(ranked: Iterator[Block], kept: Mapping[int, int]) -> Iterator[str]:
    for block in ranked:
        units = kept.get(id(block), len(block.units))
        if units < len(block.units):
            yield f"part of {block.name}" if units else block.name


def _cut_line(cut: Sequence[str]) -> str:
    return f"This prompt was shortened. Left out: {', '.join(cut)}." if cut else ""


def units_of(text: str) -> tuple[str, ...]:
    """Split Markdown text into sentences and lines; a code block is one unit."""
    units: list[str] = []
    block = ""
    for line in text.strip().splitlines(keepends=True):
        block += line
        if open_fence(block.rstrip("\n")):
            continue
        pieces = [block] if "\n" in block.rstrip("\n") else _sentences(block)
        units += pieces
        block = ""
    return (*units, block) if block else tuple(units)


def _sentences(line: str) -> list[str]:
    ends = [found.end() for found in _SENTENCE.finditer(line)]
    return [line[a:b] for a, b in zip([0, *ends], [*ends, len(line)], strict=True)]


def lines_of(items: Sequence[str]) -> tuple[str, ...]:
    """Return each item as a line."""
    return tuple(f"{text}\n" for text in items)
