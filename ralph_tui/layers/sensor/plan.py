"""Progress of a plan file: ticked boxes of a Markdown checklist, or stories of a ``prd.json``."""

import re
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from ralph_tui.text.foreign_json import parse_json

_ITEM = re.compile(r"\s*(?:>\s*)*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\](?:\s|$)")
_FENCE = re.compile(r"\s*(?:>\s*)*(?:[-*+]\s+)?(`{3,}|~{3,})(.*)")


Item = tuple[str, bool]
"""The item's text, and whether it is done."""


@dataclass(frozen=True)
class Progress:
    """The items of a plan."""

    done: int
    total: int
    """Number of items, at least 1."""
    items: tuple[Item, ...] = field(default=(), compare=False)
    """Every item, in file order."""
    indents: tuple[int, ...] = field(default=(), compare=False)
    """Each item's indentation in columns; empty for stories, which have no sub-items."""

    def open_parts(self) -> tuple[Item, ...]:
        """Return the sub-items of the first open item: those below it that are indented further."""
        first = next((n for n, (_, done) in enumerate(self.items) if not done), None)
        if first is None or len(self.indents) != len(self.items):
            return ()
        below = range(first + 1, len(self.items))
        parts = takewhile(lambda n: self.indents[n] > self.indents[first], below)
        return tuple(self.items[n] for n in parts)


def read_plan(text: str, name: str) -> Progress | None:
    """Parse a plan file, JSON or Markdown by the extension of `name`; None if it has no items."""
    text = text.removeprefix("\ufeff")
    indents: list[int] = []
    if name.lower().endswith(".json"):
        items = _stories(text)
    else:
        boxes = _boxes(text)
        items, indents = [item for _, item in boxes], [indent for indent, _ in boxes]
    done = sum(done for _, done in items)
    return Progress(done, len(items), tuple(items), tuple(indents)) if items else None


def _boxes(text: str) -> list[tuple[int, Item]]:
    """Return each item with its indent."""
    items: list[tuple[int, Item]] = []
    fence = ""
    hidden = False  # inside a multi-line HTML comment
    for line in text.splitlines():
        if hidden:
            hidden = "-->" not in line
            continue
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not mark[2].strip()
            fence = "" if closes else fence
            continue
        if mark is not None:
            fence = mark[1]
        elif item := _ITEM.match(line):
            indent = len(item[0].expandtabs(4)) - len(item[0].expandtabs(4).lstrip(" >"))
            items.append((indent, (line[item.end() :].strip(), item[1] != " ")))
        elif "<!--" in line:
            hidden = "-->" not in line.rpartition("<!--")[2]
    return items


def _stories(text: str) -> list[Item]:
    try:
        return _leaves(parse_json(text), "")
    except ValueError:
        return []


def _leaves(node: Any, where: str) -> list[Item]:
    """Return the stories below `node`; a story with nested stories counts only through them."""
    match node:
        case dict():
            items = [
                item for key, below in node.items() for item in _leaves(below, f"{where}/{key}")
            ]
            if not items and isinstance(node.get("passes"), bool):
                return [(_name(node, where), node["passes"])]
            return items
        case list():
            below = [_leaves(item, f"{where}/{index}") for index, item in enumerate(node)]
            if not any(below):
                return []
            # If any story says whether it passes, a story that does not say has not passed.
            return [
                item
                for index, (story, items) in enumerate(zip(node, below, strict=True))
                for item in items
                or [(_name(story, f"{where}/{index}"), False)] * isinstance(story, dict)
            ]
        case _:
            return []


def _name(story: dict[str, Any], where: str) -> str:
    """Return the story's id or title, else its position in the file."""
    return str(story.get("id") or story.get("title") or where)
