"""Which panes share a place at which size. Pure; the stylesheet says where the places are.

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
"""All panes in the order of their digits, 1 to 9: what each is called, and where room is
short; empty: the same."""
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
"""Who gets the room of a pane that has had nothing to say so far."""


def groups(columns: int, rows: int, silent: Collection[str] = ()) -> Groups:
    """The places of a screen of this size, each with the panes that take turns in it; a pane that
    is `silent` has none of its own.
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


def looks(
    columns: int, rows: int, silent: Collection[str], *, zoomed: bool = False
) -> dict[str, bool]:
    """Classes of a screen of this size, those of the breakpoints included: whether it has each."""
    places = groups(columns, rows, silent)
    names = {"-zoomed": zoomed, "-single": len(places) == 1}
    names |= {f"-no-{name}": (name,) not in places for name in HOSTS}
    for size, breakpoints in ((columns, HORIZONTAL), (rows, VERTICAL)):
        reached = max(least for least, _ in breakpoints if least <= size)
        names |= {name: least == reached for least, name in breakpoints}
    return names


def shown(places: Groups, recent: Sequence[str], zoomed: str | None) -> set[str]:
    """The panes to be seen; of a group the one looked at last, as `recent` lists them."""
    if zoomed is not None:
        return {zoomed}
    return {next((pane for pane in recent if pane in place), place[0]) for place in places}


def group_of(places: Groups, pane: str) -> tuple[str, ...]:
    """The panes that share the place of this one, itself included."""
    return next(place for place in places if pane in place)


def tab(key: str, *, shown: bool) -> Tab:
    """The pane of this key, as a title names it."""
    heading, brief = NAMES[key]
    return Tab((ORDER.index(key) + 1) % 10, heading, shown, brief)
