"""Splits Git's unified diffs by file, and finds changed lines. Pure; nothing here is sanitized."""

import re
from collections.abc import Sequence
from itertools import pairwise

from ralph_tui.text.json_fields import as_count, as_list, as_map, as_text

HEAD = "diff --git "
"""Start of the first line of each file's diff."""

MAX_PLACES = 3
NEAR = 3
"""Maximum distance in lines between two changes that are reported as one place."""

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_PART = re.compile(f"^(?={HEAD})", re.MULTILINE)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))


def parts_of(text: str) -> list[tuple[str, str]]:
    """Split Git's diff by file; return each unquoted path with its part of the diff."""
    parts = [part for part in _PART.split(text) if part.startswith(HEAD)]
    return [(path_of(part.split("\n", 1)[0]), part) for part in parts]


def path_of(head: str) -> str:
    """Return the unquoted path from a line that begins with `HEAD`, decoded like `os.fsdecode`."""
    # Git writes the path twice, with equal lengths.
    names = head.removeprefix(HEAD)
    name = names[(len(names) + 1) // 2 :]
    if name.startswith('"'):
        name = _ESCAPE.sub(_unescaped, name[1:-1].encode()).decode("utf-8", "surrogateescape")
    return name.removeprefix("b/")


def _unescaped(found: re.Match[bytes]) -> bytes:
    what = found[1]
    return bytes([int(what, 8) & 255 if len(what) == 3 else _ESCAPED.get(what[0], what[0])])


def places_of(part: str, most: int = MAX_PLACES) -> str:
    """Return the changed lines of a file, numbered as in the new version: ``45-120, 130``.

    If there are more than `most` places, the nearest ones are joined. The result is empty if the
    diff has no lines.
    """
    found: list[tuple[int, int]] = []
    line, inside = 0, False
    for text in part.split("\n"):
        if hunk := _HUNK.match(text):
            line, inside = int(hunk[1]), True
        elif inside and text.startswith(("+", "-")):
            _mark(found, max(1, line))
            line += text.startswith("+")
        elif inside and text.startswith(" "):
            line += 1
    while len(found) > most:
        gaps = [later[0] - before[1] for before, later in pairwise(found)]
        place = gaps.index(min(gaps))
        found[place : place + 2] = [(found[place][0], found[place + 1][1])]
    return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in found)


def last_of_diff(diff: str) -> int | None:
    """Return the last changed line of a unified diff of one file; None if it has no hunk."""
    start, lines = 0, list[str]()
    for text in diff.split("\n"):
        if hunk := _HUNK.match(text):
            start, lines = int(hunk[1]), []
        else:
            lines.append(text)
    return last_of_hunk(start, lines) if start else None


def last_changed_line(result: object) -> int | None:
    """Return the line of the last change in an edit's result, as Claude Code structures it."""
    facts = as_map(result)
    if "structuredPatch" not in facts:
        return None
    hunks = [as_map(hunk) for hunk in as_list(facts["structuredPatch"])]
    if not hunks:  # a new file
        return len(as_text(facts.get("content")).splitlines()) or None
    start = as_count(hunks[-1].get("newStart"))
    lines = [as_text(line) for line in as_list(hunks[-1].get("lines"))]
    return last_of_hunk(start, lines) if start else None


def last_of_hunk(start: int, lines: Sequence[str]) -> int | None:
    """Return the last changed line of a hunk; `start` is its first line in the new version."""
    line, found = start, None
    for text in lines:
        if text.startswith(("+", "-")):
            found = max(1, line)
        line += text.startswith(("+", " "))
    return found


def _mark(found: list[tuple[int, int]], line: int) -> None:
    if found and line <= found[-1][1] + NEAR:
        found[-1] = (found[-1][0], max(line, found[-1][1]))
    else:
        found.append((line, line))
