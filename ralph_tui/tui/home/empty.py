"""The page shown while there are no runs: first steps, and what is missing.

Home shows it, and handles its keys.
"""

from collections.abc import Iterator
from textwrap import shorten
from typing import TYPE_CHECKING

from textual import events

from ralph_tui.text.keys import DEFAULTS, Keys
from ralph_tui.text.terms import LEVEL_TONES, LEVELS
from ralph_tui.tui.draw.spans import Line, clickable, flat, wrap
from ralph_tui.tui.modals.scroll_text import ScrollText

if TYPE_CHECKING:
    from ralph_tui.ports.new_runs import Finding, Surroundings

LABEL = 17
"""Width in cells of a finding's label."""
MARGIN = 2
KEYS = (
    ("home_new", "start your first run: set an objective and a completion command"),
    ("home_demo", "try it on a sample project: one minute, no account needed"),
)
BESIDE_A_FLEET = (
    ("home_fleet", "open the fleet: each loop has its own cockpit"),
    ("home_new", "start a run in this worktree: set an objective and a completion command"),
)
"""Shown if a fleet ran here: its loops have their own worktrees, so no run is listed."""
TYPED = 'ralph-tui run "Fix the failing tests" -c "pytest -q"'


class EmptyState(ScrollText):
    """A page of rows that scrolls if it does not fit."""

    can_focus = False

    def __init__(self, keys: Keys = DEFAULTS, name: str = "empty") -> None:
        super().__init__(name)
        self._keys = keys
        self._place: Surroundings | None = None
        self._fleet = False

    def update(self, place: "Surroundings | None") -> None:
        """Show the findings; None while they are being collected."""
        self._place = place
        self._lay()

    def follow(self, *, fleet: bool) -> None:
        """Set whether a fleet's row is shown above the page."""
        if fleet != self._fleet:
            self._fleet = fleet
            self._lay()

    def on_resize(self, event: events.Resize) -> None:
        self._lay()

    def _lay(self) -> None:
        width = self.size.width - self.EDGE - 2 * MARGIN
        if width > 0:
            page = rows(self._place, width, self._keys, fleet=self._fleet)
            self.rows = [[(" " * MARGIN, ""), *row] for row in page]
            self.roll(0)


def rows(
    place: "Surroundings | None", width: int, keys: Keys = DEFAULTS, *, fleet: bool = False
) -> list[Line]:
    """Return the page's rows; `fleet` if a fleet ran here, but no single run."""
    where = f" in {flat(place.folder)}" if place is not None and place.folder else " here"
    but = " outside the fleet" if fleet else ""
    page: list[Line] = [[], *_plain(f"No run{but} is recorded{where} yet.", "strong", width), []]
    for action, what in BESIDE_A_FLEET if fleet else KEYS:
        first, *more = wrap(what, max(8, width - 4), 3)
        head: Line = [(f"{keys.shown(action):<3} ", "key"), (first, "text")]
        page.append(clickable(head, keys.of(action)[0]))
        page += [[("    ", ""), (row, "text")] for row in more]
    page += [[], *_typed(width), []]
    if place is None:
        return [*page, [("checking your set-up…", "dim")]]
    for finding in place.findings:
        page += _finding(finding, width)
    return page


def _typed(width: int) -> list[Line]:
    """Return the sample command, beside its label if there is room."""
    label = "or type: "
    if len(label) + len(TYPED) <= width:
        return [[(label, "dim"), (TYPED, "accent")]]
    return [*_plain(label, "dim", width), *_plain(TYPED, "accent", width)]


def _finding(finding: "Finding", width: int) -> Iterator[Line]:
    room = max(8, width - LABEL - 2)
    glyph, tone = LEVELS[finding.level].glyph, LEVEL_TONES[finding.level]
    first, *more = wrap(finding.says, room, 4) or [""]
    label = shorten(finding.what, LABEL - 1)
    yield [(f"{glyph} ", tone), (f"{label:<{LABEL}}", "text"), (first, "text")]
    for row in more:
        yield [(" " * (LABEL + 2), ""), (row, "text")]
    for way in finding.ways:
        for row in wrap(way, room, 3):
            yield [(" " * (LABEL + 2), ""), (row, "dim")]


def _plain(text: str, style: str, width: int) -> list[Line]:
    return [[(row, style)] for row in wrap(text, width, 4)]
