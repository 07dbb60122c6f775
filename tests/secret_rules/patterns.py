"""What a pattern costs and how its matches begin, read from its parse tree."""

import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any

sre: Any = import_module("re._constants")
sre_parse: Any = import_module("re._parser")

LONGEST = 600
"""Characters after which a pattern without an end is cut; the rest of the word goes with it."""
MAX_PREFIXES = 400
WIDEST_GAP = 64
"""Repetitions of a group of several elements that are taken for harmless."""

_POSIX = {
    "[:alnum:]": "a-zA-Z0-9",
    "[:alpha:]": "a-zA-Z",
    "[:digit:]": "0-9",
    "[:xdigit:]": "0-9a-fA-F",
}
_ONE = (sre.IN, sre.LITERAL, sre.ANY, sre.NOT_LITERAL)
"""Elements that take one character."""


@dataclass(frozen=True)
class Analysis:
    """Of one pattern."""

    prefixes: frozenset[str]
    """In lower case: each text that it matches begins with one of these."""
    reach: int
    """The most characters that it takes, at most `LONGEST`."""


def translate(pattern: str) -> str:
    """The pattern in Python's dialect; ValueError if it has none."""
    pattern = pattern.replace(r"\z", r"\Z")
    for posix, members in _POSIX.items():
        pattern = pattern.replace(posix, members)
    while (at := pattern.find("(?i)", 1)) > 0:
        end = _group_end(pattern, at + 4)
        pattern = f"{pattern[:at]}(?i:{pattern[at + 4 : end]}){pattern[end:]}"
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is no pattern here: {error}") from None
    return pattern


def analyse(pattern: str) -> Analysis:
    """Beginnings and reach; ValueError if it may take more than linear time."""
    tree = sre_parse.parse(pattern)
    _refuse_costly(tree, repeated=False)
    prefixes, _ = _prefixes(tree)
    return Analysis(frozenset(prefixes), min(widest(pattern), LONGEST))


def widest(pattern: str) -> int:
    """The most characters it takes; beyond all texts if there is no bound."""
    return int(sre_parse.parse(pattern).getwidth()[1])


def _group_end(pattern: str, at: int) -> int:
    """Where the group that holds position `at` is closed, or the end."""
    depth, in_class = 0, False
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            at += 1
        elif in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        elif character == "(":
            depth += 1
        elif character == ")":
            if not depth:
                return at
            depth -= 1
        at += 1
    return at


def _refuse_costly(tree: Any, *, repeated: bool) -> None:
    """A repetition of something that itself repeats may try every way to divide a text."""
    for kind, value in tree:
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            low, high, inner = value
            varies = high != low and high > 1
            simple = len(inner) == 1 and inner[0][0] in _ONE
            if varies and repeated:
                raise ValueError("repeats what repeats")
            if varies and not simple and high > WIDEST_GAP:
                raise ValueError("repeats a group without bound")
            _refuse_costly(inner, repeated=repeated or (varies and not simple))
        elif kind is sre.SUBPATTERN:
            _refuse_costly(value[3], repeated=repeated)
        elif kind is sre.BRANCH:
            for branch in value[1]:
                _refuse_costly(branch, repeated=repeated)
        elif kind in (sre.ASSERT, sre.ASSERT_NOT):
            _refuse_costly(value[1], repeated=repeated)
        elif kind in (sre.GROUPREF, sre.GROUPREF_EXISTS):
            raise ValueError("refers back to a group")


def _prefixes(tree: Any) -> tuple[set[str], bool]:
    """All beginnings in lower case, and whether they are the whole of what it matches."""
    found = {""}
    for kind, value in tree:
        whole = True
        if kind in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
            continue
        if kind is sre.LITERAL:
            more = {chr(value).lower()}
        elif kind is sre.SUBPATTERN:
            more, whole = _prefixes(value[3])
        elif kind is sre.BRANCH:
            parts = [_prefixes(branch) for branch in value[1]]
            more = set().union(*(part for part, _ in parts))
            whole = all(is_whole for _, is_whole in parts)
        elif kind is sre.IN and len(value) <= 4 and all(item[0] is sre.LITERAL for item in value):
            more = {chr(code).lower() for _, code in value}
        elif kind in (sre.MAX_REPEAT, sre.MIN_REPEAT) and value[1] == 1:
            more, whole = _prefixes(value[2])
            more = more | {""} if value[0] == 0 else more
        else:
            return found, False
        found = {begin + end for begin in found for end in more}
        if not whole or len(found) > MAX_PREFIXES:
            return found, False
    return found, True
