"""What happened in a fleet, a row or more for each event."""

from collections.abc import Sequence

from ralph_tui.fleet.events import FleetEvent
from ralph_tui.text.format import clock
from ralph_tui.text.terms import LEVEL_TONES, LEVELS
from ralph_tui.tui.draw.spans import Line, flat, wrap
from ralph_tui.tui.modals.scroll_text import ScrollText

INDENT = 10
"""Cells of margin, time and sign."""
MOST_ROWS = 4
"""Of one event."""
LEAST = 30
"""Cells; in fewer there is no time."""


def log_rows(events: Sequence[FleetEvent], width: int) -> list[Line]:
    """What is told of these."""
    rows: list[Line] = []
    for event in events:
        said = event.row()
        if said is None:
            continue
        level, text = said.level, said.text
        tone, loud = LEVEL_TONES[level], level in ("warn", "critical")
        head: Line = [(f"  {clock(event.at)} ", "dim")] if width >= LEAST else [(" ", "")]
        head.append((f"{LEVELS[level].glyph} ", tone))
        indent = INDENT if width >= LEAST else 3
        for number, row in enumerate(wrap(flat(text, 2000), max(8, width - indent), MOST_ROWS)):
            words = (row, tone if loud else "text")
            rows.append([*head, words] if not number else [(" " * indent, ""), words])
    return rows


class FleetLog(ScrollText):
    """Stays at its end, unless somebody has scrolled away from there."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__("fleet-log")
        self._stamp: object = None

    def tell(self, events: Sequence[FleetEvent], width: int, height: int) -> None:
        """Show these in so many rows; none at all: no room is taken."""
        stamp = (events[-1].seq if events else 0, width, height)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        at_end = self.top >= len(self.rows) - self.size.height
        self.show(log_rows(events, width - self.EDGE), height)
        if at_end:
            self._roll_to(len(self.rows), height)
