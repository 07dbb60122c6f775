"""What shares one row, in the room that there is: fields that know shorter ways to say themselves,
and keys with what they do. Pure.

Rule: a row never grows beyond its width. The least important field gives way first; of keys the
last verbs are left out first, then whole keys, and no key is ever cut.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ralph_tui.tui.draw.spans import Line, cells, clip_line

GAP: Line = [("  ", "")]


@dataclass
class Field:
    """Something the header says, from its longest form to its shortest; the last may be empty."""

    forms: list[Line]
    rank: int
    """Higher ranks are shortened later."""
    whole: int = 0
    """How many forms say all of it; 0: every form that is not empty."""


def fit(fields: list[Field], width: int) -> list[Line]:
    """One form per field, together at most `width` cells where their shortest forms allow it.

    Everything is shortened before anything is left out; low ranks first.
    """
    chosen = [0] * len(fields)
    while True:
        forms = [field.forms[choice] for field, choice in zip(fields, chosen, strict=True)]
        if cells(join(forms)) <= width:
            return forms
        able = [i for i, field in enumerate(fields) if chosen[i] + 1 < len(field.forms)]
        if not able:
            return forms
        chosen[min(able, key=lambda i: _loss(fields[i], chosen[i]))] += 1


def _loss(field: Field, choice: int) -> tuple[bool, int, int]:
    """How much it would hurt to take the next shorter form."""
    whole = field.whole or sum(1 for form in field.forms if form)
    return (choice + 1 >= whole, field.rank, choice)


def join(forms: list[Line]) -> Line:
    """The fields on one row, two blanks between them."""
    row: Line = []
    for form in forms:
        if form:
            row += (GAP if row else []) + form
    return row


T = TypeVar("T")


def fitted(
    items: Sequence[T],
    draw: Callable[[Sequence[T], int], Line],
    width: int,
    last: Callable[[T], bool] = lambda _: False,
) -> Line:
    """The row; `draw` is given the items and how many of their verbs are left out, from the end.

    Of whole items the last go first, those of which `last` holds after all others.
    """
    left = list(items)
    while True:
        for bare in range(len(left) + 1):
            spans = draw(left, bare)
            if cells(spans) <= width:
                return spans
        if len(left) <= 1:
            return clip_line(spans, width)
        spare = [number for number, item in enumerate(left) if not last(item)]
        del left[(spare or range(len(left)))[-1]]
