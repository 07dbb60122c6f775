"""Fit fields or keys into one row by shortening or dropping them. Pure.

Rule: a row never exceeds its width. The least important field is shortened first. Keys lose their
verbs from the end, then whole keys are dropped, and no key is ever cut.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from ralph_tui.tui.draw.spans import Line, cells, clip_line

GAP: Line = [("  ", "")]


class Field(NamedTuple):
    """A header field in all its forms, from longest to shortest; the last may be empty."""

    forms: list[Line]
    rank: int
    """Fields with a higher rank are shortened later."""
    whole: int = 0
    """Number of complete forms; 0 means every form that is not empty."""


def fit(fields: list[Field], width: int) -> list[Line]:
    """Choose one form per field so that all fit in `width` cells, if possible.

    Fields are shortened before any is left out; low ranks first.
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
    """Return the cost of choosing the next shorter form; lower is better."""
    whole = field.whole or sum(1 for form in field.forms if form)
    return (choice + 1 >= whole, field.rank, choice)


def join(forms: list[Line]) -> Line:
    """Join the fields on one row, separated by two blanks."""
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
    """Return the longest row that fits; `draw` gets the items and the number of hidden verbs.

    Items are dropped from the end; those accepted by `last` are dropped after all others.
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
