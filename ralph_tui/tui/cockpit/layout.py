"""Which panes share a place at which size. Pure; the stylesheet says where the places are.

Rule: a group shows one of its panes and names the others as tabs, so that every pane is reachable
at every size.
"""

from collections.abc import Sequence

from ralph_tui.tui.panes.tabs import NAMES

HORIZONTAL = [(0, "-scant"), (60, "-narrow"), (100, "-normal"), (140, "-wide")]
"""Breakpoints by columns."""
VERTICAL = [(0, "-flat"), (15, "-short"), (28, "-tall")]
"""Breakpoints by rows."""

ORDER = tuple(NAMES)
"""All panes, in the order of their keys: 1 to 9, then 0."""

Groups = tuple[tuple[str, ...], ...]

WIDE: Groups = (
    ("progress",),
    ("log",),
    ("iterations",),
    ("files",),
    ("learnings",),
    ("agent",),
    ("tests", "prompt", "assessment", "context"),
)
NORMAL: Groups = (
    ("progress",),
    ("log",),
    ("iterations",),
    ("files", "tests", "learnings"),
    ("agent", "prompt", "assessment", "context"),
)
SHORT: Groups = (
    ("progress",),
    ("log",),
    ("agent", "iterations", "files", "learnings", "tests", "prompt", "assessment", "context"),
)
NARROW: Groups = (
    ("progress",),
    (
        "agent",
        "log",
        "iterations",
        "files",
        "learnings",
        "tests",
        "prompt",
        "assessment",
        "context",
    ),
)

SINGLE: Groups = (("agent", "progress", *NARROW[1][1:]),)


def groups(columns: int, rows: int) -> Groups:
    """The places of a screen of this size, each with the panes that take turns in it."""
    if columns < 100:
        return NARROW if rows >= 22 else SINGLE
    if rows < 28:
        return SHORT
    return WIDE if columns >= 140 else NORMAL


def shown(places: Groups, recent: Sequence[str], zoomed: str | None) -> set[str]:
    """The panes to be seen; of a group the one looked at last, as `recent` lists them."""
    if zoomed is not None:
        return {zoomed}
    return {next((pane for pane in recent if pane in place), place[0]) for place in places}


def group_of(places: Groups, pane: str) -> tuple[str, ...]:
    """The panes that share the place of this one, itself included."""
    return next(place for place in places if pane in place)
