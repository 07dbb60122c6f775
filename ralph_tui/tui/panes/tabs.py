"""Tabs in a pane's title for all panes of its group, and the frame's edges.

If space is short, all names are shortened. If even short names do not fit, the active pane gets its
name first, then as many others as fit; the rest show only their digits. Pure, and independent of
runs.
"""

from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import cell_len

from ralph_tui.tui.draw.spans import Line, cells, clickable, clip_line

TITLE_FRAME = 5
"""Minimum number of cells that a frame takes from its title and from its bottom line."""


class Tab(NamedTuple):
    """A pane's tab in its group's title."""

    digit: int
    heading: str
    shown: bool
    brief: str = ""
    """Short heading; empty if `heading` is short enough."""

    @property
    def short(self) -> str:
        """The brief heading if there is one, else the full heading."""
        return self.brief or self.heading


Placed = tuple[Tab, str, int]
"""A tab, its displayed name, and the cell where it starts."""


def placed(tabs: tuple[Tab, ...], width: int) -> list[Placed]:
    """Place all tabs, in the longest form that fits."""
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
    """Draw all tabs in at most `width` cells; a click presses the tab's digit.

    `lit` if the active pane has the focus.
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
    """Draw an edge of a frame between two corners, with text at its start and end."""
    spans: Line = [(f"{left}─", style)]
    if head:
        spans += [(" ", ""), *head, (" ", "")]
    end: Line = [(" ", ""), *tail, (" ", ""), (f"─{right}", style)] if tail else [(right, style)]
    rest = "─" * (width - cells(spans) - cells(end))
    return [*spans, (rest, style), *end]
