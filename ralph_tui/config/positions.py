"""On which line of a settings file a setting stands.

The parser of the standard library tells of no lines, so it is given the file piece by piece: a line
that it takes is a whole statement, and one that it refuses begins a longer one. What it takes says
by itself which names stand there.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

MOST_PARSED = 1_000_000
"""Characters that may be parsed: a list of a thousand lines is tried at each of them."""


def lines_of(text: str) -> dict[str, int]:
    """The first line of each dotted name, sections included, of a text that is valid TOML.

    In a list of tables their places count from 0: ``objective.0.text``. A text that takes too long
    to look through has them for its beginning.
    """
    return _lines(text)[0]


def unfinished(text: str) -> int:
    """The line on which a statement begins that has no end; 0 where each has one."""
    return _lines(text)[1]


def _lines(text: str) -> tuple[dict[str, int], int]:
    lines: dict[str, int] = {}
    section: tuple[str, ...] = ()
    counted: Counter[tuple[str, ...]] = Counter()
    statement, begun, left = "", 0, MOST_PARSED
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        begun = begun if statement else number
        statement += f"{line}\n"
        left -= len(statement)
        if left < 0:
            break
        try:
            table = tomllib.loads(statement)
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
        names = list(_names(table))
        if statement.lstrip().startswith("["):
            section = max(names, key=len, default=())
            if statement.lstrip().startswith("[["):
                counted[section] += 1
                section = (*section, str(counted[section] - 1))
            names = [section[:depth] for depth in range(1, len(section) + 1)]
        else:
            names = [(*section, *name) for name in names]
        for name in names:
            lines.setdefault(".".join(name), begun)
        statement = ""
    return lines, begun if statement else 0


def _names(table: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The keys of a table and of those within; of a list of tables its own."""
    for key, value in table.items():
        yield (key,)
        if isinstance(value, Mapping):
            yield from ((key, *below) for below in _names(value))
