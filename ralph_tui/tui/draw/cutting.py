"""Shorten long names without losing the parts that distinguish them. Pure functions."""

import re

from rich.cells import cell_len

from ralph_tui.tui.draw.spans import ELLIPSIS, clip

_UNITTEST = re.compile(r"(\S+) \((\S+)\)")


def middle(text: str, width: int) -> str:
    """Return the text in at most `width` cells, cut in the middle."""
    if cell_len(text) <= width:
        return text
    if width < 5:
        return clip(text, width)
    before = (width - 1) // 2
    return clip(text, before + 1).removesuffix(ELLIPSIS) + ELLIPSIS + end_of(text, width // 2)


def end_of(text: str, width: int) -> str:
    """Return the last `width` cells of a text."""
    text = text[-width:] if width > 0 else ""
    while cell_len(text) > width:
        text = text[1:]
    return text


def path_on(path: str, width: int) -> str:
    """Return a path cut in the middle, keeping the first folder and the file name if possible."""
    if cell_len(path) <= width:
        return path
    folder, slash, name = path.rpartition("/")
    room = width - cell_len(name) - len(slash)
    if not slash or room < 1:
        return middle(name, width)
    first = folder.split("/")[0]
    head = f"{first}/{ELLIPSIS}"
    return f"{head if cell_len(head) <= room else ELLIPSIS}{slash}{name}"


def name_of_test(name: str, width: int) -> str:
    """Return a test's own name, plus as much of its location as fits: ``test_open (…test_quotes)``.

    Understands pytest's ``path::Class::test`` and unittest's ``test (module.Class.test)``.
    """
    own, where = _parts(name)
    if not where or cell_len(own) + len(" (…)") >= width:
        return middle(own, width)
    room = width - cell_len(own) - len(" ()")
    if cell_len(where) > room:
        where = ELLIPSIS + end_of(where, room - 1)
    return f"{own} ({where})"


def _parts(name: str) -> tuple[str, str]:
    if "::" in name.split("[", maxsplit=1)[0]:
        head, bracket, parameters = name.partition("[")
        where, _, own = head.rpartition("::")
        return own + bracket + parameters, where
    if found := _UNITTEST.fullmatch(name):
        own, where = found.groups()
        return own, where.removesuffix(f".{own}")
    return name, ""
