"""Tokens that a return to the begin of the line cuts: a terminal writes their rest over it."""

import re
from collections.abc import Iterator

from ralph_tui.text.secrets import formats
from ralph_tui.text.secrets.hints import RETURN

_PIECES = 20
"""Of a token that returns cut; more are no token."""
_WORD_BEFORE = re.compile(r"[\w+/=.~-]{1,120}\Z")
_WORD_AFTER = re.compile(r"[\w+/=.~-]{1,600}")


def spans(line: str) -> Iterator[tuple[int, int]]:
    """Each piece of the tokens that are cut by a return to the line's begin."""
    if "\r" not in line and "\\r" not in line:
        return
    pieces: list[tuple[int, int]] = []
    end = 0
    for found in RETURN.finditer(line):
        if not pieces or end != found.start() or len(pieces) >= _PIECES:
            yield from _pieces_of_tokens(line, pieces)
            before = _WORD_BEFORE.search(line, max(0, found.start() - 120), found.start())
            pieces = [before.span()] if before else []
        after = _WORD_AFTER.match(line, found.end())
        end = after.end() if after else found.end()
        pieces.append((found.end(), end))
    yield from _pieces_of_tokens(line, pieces)


def _pieces_of_tokens(line: str, pieces: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    joined = "".join(line[begin:end] for begin, end in pieces)
    for begin, end in formats.spans(joined, formats.lower_of(joined)) if joined else ():
        at = 0
        for left, right in pieces:
            low, high = max(begin, at), min(end, at + right - left)
            if low < high:
                yield left + low - at, left + high - at
            at += right - left
