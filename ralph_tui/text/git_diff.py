"""A unified diff as git writes it, taken apart by file. Rule: pure; nothing here is sanitized."""

import re

HEAD = "diff --git "
"""How the part of each file begins."""

_PART = re.compile(f"^(?={HEAD})", re.MULTILINE)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))


def parts_of(text: str) -> list[tuple[str, str]]:
    """A diff as git wrote it, file by file: the path, not quoted any more, and its part."""
    parts = [part for part in _PART.split(text) if part.startswith(HEAD)]
    return [(path_of(part.split("\n", 1)[0]), part) for part in parts]


def path_of(head: str) -> str:
    """The path that a line beginning with `HEAD` names, not quoted any more."""
    # Git writes the path twice, each in as many characters.
    names = head.removeprefix(HEAD)
    name = names[(len(names) + 1) // 2 :]
    if name.startswith('"'):
        name = _ESCAPE.sub(_unescaped, name[1:-1].encode()).decode("utf-8", "replace")
    return name.removeprefix("b/")


def _unescaped(found: re.Match[bytes]) -> bytes:
    what = found[1]
    return bytes([int(what, 8) & 255 if len(what) == 3 else _ESCAPED.get(what[0], what[0])])
