"""Long names on few cells: what tells them apart stays. Rule: pure."""

import re

from rich.cells import cell_len

from ralph_tui.tui.draw.spans import ELLIPSIS, clip

_UNITTEST = re.compile(r"(\S+) \((\S+)\)")


def middle(text: str, width: int) -> str:
    """The text on at most `width` cells, cut in its middle."""
    if cell_len(text) <= width:
        return text
    if width < 5:
        return clip(text, width)
    before = (width - 1) // 2
    return clip(text, before + 1).removesuffix(ELLIPSIS) + ELLIPSIS + end_of(text, width // 2)


def end_of(text: str, width: int) -> str:
    """The last so many cells of a text."""
    text = text[-width:] if width > 0 else ""
    while cell_len(text) > width:
        text = text[1:]
    return text


def path_on(path: str, width: int) -> str:
    """A path cut in its middle: its beginning and the name of the file stay as long as they can."""
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
    """A test's own name, and as much of where it stands as fits: ``test_open (…test_quotes)``.

    Understands ``path::Class::test`` of pytest and ``test (module.Class.test)`` of unittest.
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
