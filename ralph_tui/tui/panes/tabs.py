"""The panes that share a place, as the title of the one in front names them; the frame's edges.

Names grow shorter where room is scarce, all of them together; where even short ones are too long,
as many as fit have their name whole, the one that is shown first, and the others the digit alone
that calls them. Pure, and of a run it knows nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len

from ralph_tui.tui.draw.spans import Line, cells, clickable, clip_line

TITLE_FRAME = 5
"""Cells a frame takes from the title at least, and from what stands in its lower edge."""


@dataclass(frozen=True)
class Tab:
    """One pane as the title of its group names it."""

    digit: int
    heading: str
    shown: bool
    brief: str = ""
    """The heading where room is short; empty: the same."""

    @property
    def short(self) -> str:
        """The short name."""
        return self.brief or self.heading


Placed = tuple[Tab, str, int]
"""A tab, the name it is given, and the cell where it begins."""


def placed(tabs: tuple[Tab, ...], width: int) -> list[Placed]:
    """Every tab in the longest form with which all of them fit."""
    forms: tuple[tuple[list[str], int], ...] = (
        ([tab.heading for tab in tabs], 2),
        ([tab.short for tab in tabs], 2),
        ([tab.short for tab in tabs], 1),
    )
    for names, gap in forms:
        found = list(_in_a_row(tabs, names, gap))
        if _end(found[-1]) <= width:
            return found
    names = [""] * len(tabs)
    for at in sorted(range(len(tabs)), key=lambda at: not tabs[at].shown):
        forms_of_one = (tabs[at].heading, tabs[at].short) if tabs[at].shown else (tabs[at].short,)
        for name in forms_of_one:
            longer = [*names[:at], name, *names[at + 1 :]]
            if _end(list(_in_a_row(tabs, longer, 1))[-1]) <= width:
                names = longer
                break
    return list(_in_a_row(tabs, names, 1))


def _in_a_row(tabs: tuple[Tab, ...], names: list[str], gap: int) -> Iterator[Placed]:
    column = 0
    for tab, name in zip(tabs, names, strict=True):
        yield tab, name, column
        column = _end((tab, name, column)) + gap


def _end(tab: Placed) -> int:
    return tab[2] + cell_len(_label(tab[0], tab[1]))


def _label(tab: Tab, name: str) -> str:
    return f"{tab.digit} {name}".rstrip()


def title(tabs: tuple[Tab, ...], width: int, *, lit: bool) -> Line:
    """All tabs on at most `width` cells, a click on one presses its digit; `lit`: the pane in front
    has the focus.
    """
    spans: Line = []
    column = 0
    for tab, name, start in placed(tabs, width):
        spans += [(" " * (start - column), "")] if start > column else []
        column = _end((tab, name, start))
        if tab.shown:
            style = "focus strong" if lit else "strong" if len(tabs) > 1 else "title"
            digit = f"{tab.digit} " if name else f"{tab.digit}"
            spans += [(digit, "focus" if lit else "dim"), (name, style)]
        else:
            spans += clickable([(_label(tab, name), "dim")], str(tab.digit))
    return clip_line(spans, width)


def edge(left: str, right: str, head: Line, tail: Line, width: int, style: str) -> Line:
    """An edge of a frame between two corners, with what stands at its beginning and its end."""
    spans: Line = [(f"{left}─", style)]
    if head:
        spans += [(" ", ""), *head, (" ", "")]
    end: Line = [(" ", ""), *tail, (" ", ""), (f"─{right}", style)] if tail else [(right, style)]
    rest = "─" * (width - cells(spans) - cells(end))
    return [*spans, (rest, style), *end]
