"""Fields that share one row: each knows shorter ways to say itself. Pure.

Rule: a row never grows beyond its width; the least important field gives way first.
"""

from dataclasses import dataclass

from ralph_tui.tui.draw.spans import Line, cells

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
