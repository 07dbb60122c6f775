"""Progress of a plan file: ticked boxes of a Markdown checklist, or stories of a ``prd.json``."""

import json
import re
from dataclasses import dataclass
from typing import Any

_ITEM = re.compile(r"\s*(?:>\s*)*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\](?:\s|$)")
_FENCE = re.compile(r"\s*(?:>\s*)*(?:[-*+]\s+)?(`{3,}|~{3,})(.*)")


@dataclass(frozen=True)
class Progress:
    """Items of a plan."""

    done: int
    total: int
    """At least 1."""


def read_plan(text: str, name: str) -> Progress | None:
    """What a plan file says; `name` tells JSON from Markdown. None when it holds no items."""
    text = text.removeprefix("\ufeff")
    if name.lower().endswith(".json"):
        done, total = _stories(text)
    else:
        done, total = _boxes(text)
    return Progress(done, total) if total else None


def _boxes(text: str) -> tuple[int, int]:
    done = total = 0
    fence = ""
    hidden = False  # within an HTML comment that spans lines
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
            total += 1
            done += item[1] != " "
        elif "<!--" in line:
            hidden = "-->" not in line.rpartition("<!--")[2]
    return done, total


def _stories(text: str) -> tuple[int, int]:
    try:
        return _count(json.loads(text))
    except (ValueError, RecursionError):
        return 0, 0


def _count(node: Any) -> tuple[int, int]:
    """Done and all stories below; one that holds others counts through them."""
    match node:
        case dict():
            done, total = _sum(node.values())
            if total == 0 and isinstance(node.get("passes"), bool):
                return int(node["passes"]), 1
            return done, total
        case list():
            done, total = _sum(node)
            if total:
                # Beside stories that say so, one that says nothing has not passed.
                total += sum(1 for item in node if isinstance(item, dict) and not _count(item)[1])
            return done, total
        case _:
            return 0, 0


def _sum(nodes: Any) -> tuple[int, int]:
    counts = [_count(node) for node in nodes]
    return sum(done for done, _ in counts), sum(total for _, total in counts)
