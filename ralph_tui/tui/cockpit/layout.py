"""Groups of panes that share a place, by screen size. Pure; the stylesheet lays out the places.

Rule: a group shows one of its panes and names the others as tabs, so that every pane is reachable
at every size.
"""

from collections.abc import Collection, Sequence

from ralph_tui.tui.panes.tabs import Tab

HORIZONTAL = [(0, "-scant"), (60, "-narrow"), (100, "-normal"), (140, "-wide")]
"""Breakpoints by columns."""
VERTICAL = [(0, "-flat"), (15, "-short"), (28, "-tall")]
"""Breakpoints by rows."""

NAMES = {
    "progress": ("progress", "chart"),
    "log": ("what happened", "log"),
    "iterations": ("iterations", "iter."),
    "files": ("files", ""),
    "learnings": ("learnings", "learned"),
    "agent": ("agent", ""),
    "tests": ("tests", ""),
    "prompt": ("prompt", ""),
    "details": ("details", ""),
}
"""All panes in the order of their digits, 1 to 9: title, and short title if it differs."""
ORDER = tuple(NAMES)

Groups = tuple[tuple[str, ...], ...]

WIDE: Groups = (
    ("progress",),
    ("log",),
    ("iterations",),
    ("files",),
    ("learnings",),
    ("agent",),
    ("tests", "prompt", "details"),
)
NORMAL: Groups = (
    ("progress",),
    ("log",),
    ("iterations",),
    ("files", "tests", "learnings"),
    ("agent", "prompt", "details"),
)
SHORT: Groups = (
    ("progress",),
    ("log",),
    ("agent", "iterations", "files", "learnings", "tests", "prompt", "details"),
)
NARROW: Groups = (
    ("progress",),
    ("agent", "log", "iterations", "files", "learnings", "tests", "prompt", "details"),
)

SINGLE: Groups = (("agent", "progress", *NARROW[1][1:]),)


HOSTS = {"log": "progress", "learnings": "files"}
"""By pane: the neighbour that uses its space, and shows it as a tab, until it has content."""


def groups(columns: int, rows: int, silent: Collection[str] = ()) -> Groups:
    """Return the places on a screen of this size, each with the panes that share it.

    A `silent` pane has no place of its own.
    """
    if columns < 100:
        return NARROW if rows >= 22 else SINGLE
    places = SHORT if rows < 28 else WIDE if columns >= 140 else NORMAL
    guests = {host: (guest,) for guest, host in HOSTS.items() if guest in silent}
    alone = [place for place in places if len(place) > 1 or place[0] not in silent]
    return tuple(
        (*place, *guests[place[0]]) if place[0] in guests and guests[place[0]] in places else place
        for place in alone
    )


def style_classes(
    columns: int, rows: int, silent: Collection[str], *, zoomed: bool = False
) -> dict[str, bool]:
    """Return the style classes for this size, breakpoints included, and whether each is set."""
    places = groups(columns, rows, silent)
    names = {"-zoomed": zoomed, "-single": len(places) == 1}
    names |= {f"-no-{name}": (name,) not in places for name in HOSTS}
    for size, breakpoints in ((columns, HORIZONTAL), (rows, VERTICAL)):
        reached = max(least for least, _ in breakpoints if least <= size)
        names |= {name: least == reached for least, name in breakpoints}
    return names


def shown(places: Groups, recent: Sequence[str], zoomed: str | None) -> set[str]:
    """Return the visible panes: the zoomed one, or each group's most recently viewed pane."""
    if zoomed is not None:
        return {zoomed}
    return {next((pane for pane in recent if pane in place), place[0]) for place in places}


def group_of(places: Groups, pane: str) -> tuple[str, ...]:
    """Return the panes that share this pane's place, including itself."""
    return next(place for place in places if pane in place)


def tab(key: str, *, shown: bool) -> Tab:
    """Return the tab with which titles name a pane."""
    heading, brief = NAMES[key]
    return Tab((ORDER.index(key) + 1) % 10, heading, shown, brief)
