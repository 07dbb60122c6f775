"""A unified diff as git writes it, taken apart by file. Rule: pure; nothing here is sanitized."""

import re
from itertools import pairwise

HEAD = "diff --git "
"""How the part of each file begins."""

MOST_PLACES = 3
NEAR = 3
"""Lines between two changes that are told as one place."""

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_PART = re.compile(f"^(?={HEAD})", re.MULTILINE)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))


def parts_of(text: str) -> list[tuple[str, str]]:
    """A diff as git wrote it, file by file: the path, not quoted any more, and its part."""
    parts = [part for part in _PART.split(text) if part.startswith(HEAD)]
    return [(path_of(part.split("\n", 1)[0]), part) for part in parts]


def path_of(head: str) -> str:
    """The path that a line beginning with `HEAD` names, not quoted any more, as `os.fsdecode`."""
    # Git writes the path twice, each in as many characters.
    names = head.removeprefix(HEAD)
    name = names[(len(names) + 1) // 2 :]
    if name.startswith('"'):
        name = _ESCAPE.sub(_unescaped, name[1:-1].encode()).decode("utf-8", "surrogateescape")
    return name.removeprefix("b/")


def _unescaped(found: re.Match[bytes]) -> bytes:
    what = found[1]
    return bytes([int(what, 8) & 255 if len(what) == 3 else _ESCAPED.get(what[0], what[0])])


def places_of(part: str, most: int = MOST_PLACES) -> str:
    """Where a file was changed, as the new one counts its lines: ``45-120, 130``.

    Of more than `most` places those nearest to each other are told as one; empty where no line
    is told.
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


def _mark(found: list[tuple[int, int]], line: int) -> None:
    if found and line <= found[-1][1] + NEAR:
        found[-1] = (found[-1][0], max(line, found[-1][1]))
    else:
        found.append((line, line))
