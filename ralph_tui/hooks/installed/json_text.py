"""Changes of a JSON text that leave every character alone that they are not about.

People keep settings in a layout of their own, and in version control: a file that is parsed and
written anew would be another one. Pure; the text is JSON already, as `parse_json` reads it.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ralph_tui.text.foreign_json import parse_json_at

_SPACE = re.compile(r"[ \t\r\n]*")
_MARGIN = re.compile(r"\n([ \t]+)\S")


class Part(NamedTuple):
    """A member of an object, or an element of an array, by where it stands in the text."""

    start: int
    """Of a member: where its name begins."""
    value: int
    end: int
    name: str = ""


class Container(NamedTuple):
    """An object or an array."""

    start: int
    """Of its opening bracket."""
    parts: tuple[Part, ...]
    close: int
    """Of its closing bracket."""

    def find(self, name: str) -> Part | None:
        """A member by its name; of several the last, which is the one that counts."""
        return next((part for part in reversed(self.parts) if part.name == name), None)


def root_of(text: str) -> Container:
    """The outermost object or array."""
    return container_at(text, _skip(text, 0))


def container_at(text: str, start: int) -> Container:
    """The object or array whose opening bracket stands there."""
    named = text[start] == "{"
    parts: list[Part] = []
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        begin, name = at, ""
        if named:
            name, at = parse_json_at(text, begin)
            at = _skip(text, _skip(text, at) + 1)
        _, end = parse_json_at(text, at)
        parts.append(Part(begin, at, end, name))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Container(start, tuple(parts), at)


def with_member(text: str, inside: Container, name: str, value: Any) -> str:
    """With one more member at the end of an object."""
    return _appended(text, inside, f"{json.dumps(name)}: ", value)


def with_element(text: str, inside: Container, value: Any) -> str:
    """With one more element at the end of an array."""
    return _appended(text, inside, "", value)


def without(text: str, inside: Container, parts: Sequence[Part]) -> str:
    """Without these parts, and the commas and spaces that belong to them."""
    return cut(text, cuts_of(inside, parts))


def cuts_of(inside: Container, parts: Sequence[Part]) -> list[tuple[int, int]]:
    """What to cut out for these parts to go, and the commas and spaces that belong to them."""
    gone = {part.start for part in parts}
    kept = [part for part in inside.parts if part.start not in gone]
    if not kept:
        return [(inside.start + 1, inside.close)]
    cuts = []
    for place, part in enumerate(inside.parts):
        if part.start not in gone:
            continue
        if part.start > kept[-1].start:  # what follows goes, too: the comma before it goes
            cuts.append((inside.parts[place - 1].end, part.end))
        else:
            cuts.append((part.start, inside.parts[place + 1].start))
    return cuts


def cut(text: str, cuts: Iterable[tuple[int, int]]) -> str:
    """The text without these places, of which none meets another."""
    pieces, at = [], 0
    for start, end in sorted(cuts):
        pieces.append(text[at:start])
        at = end
    return "".join([*pieces, text[at:]])


def _appended(text: str, inside: Container, label: str, value: Any) -> str:
    lines = "\n" in text.strip() or (not inside.parts and text.strip() == "{}")
    if inside.parts:
        last = inside.parts[-1]
        between = text[inside.start + 1 : inside.parts[0].start]
        lines = lines and "\n" in between
        margin = between.rpartition("\n")[2]
        before, after = f"{text[: last.end]},", text[last.end :]
    else:
        margin = _margin_of(text, inside.start) + unit_of(text)
        before, after = text[: inside.start + 1], text[inside.close :]
    if not lines:
        return f"{before}{' ' if inside.parts else ''}{label}{json.dumps(value)}{after}"
    newline = "\r\n" if "\r\n" in text else "\n"
    words = json.dumps(value, indent=unit_of(text)).replace("\n", f"{newline}{margin}")
    if not inside.parts:
        after = f"{newline}{_margin_of(text, inside.start)}{after}"
    return f"{before}{newline}{margin}{label}{words}{after}"


def unit_of(text: str) -> str:
    """What one level is indented by: as its first line is, else two spaces."""
    found = _MARGIN.search(text)
    return found[1] if found else "  "


def _margin_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
