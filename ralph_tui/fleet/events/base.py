"""What every event of a fleet is."""

from ralph_tui.events.base import Event, Row
from ralph_tui.text.terms import RowLevel

__all__ = [
    "FleetEvent",
]
MARKS: dict[RowLevel, str] = {"warn": "warn    ", "critical": "failed  "}
"""In front of what matters more, by level."""


class FleetEvent(Event):
    """A fact of a fleet; see `Event` for what all of them have. Its row has no word."""

    def line(self) -> str | None:
        row = self.row()
        return row and f"{MARKS.get(row.level, '')}{row.text}"


def said(level: RowLevel, what: str, reason: str = "") -> Row:
    """A row, with the reason behind it where there is one."""
    return Row(level, "", f"{what}: {reason}" if reason else what)


def of_loop(level: RowLevel, loop: str, what: str, reason: str = "") -> Row:
    """The same of a loop; of a damaged record, which names none, only what."""
    return said(level, f"loop {loop} {what}" if loop else what, reason)
