"""A fleet as plain lines: one for each fact that a human without a screen would want."""

from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.log_wording import event_words
from ralph_tui.text.format import clock
from ralph_tui.text.sanitize import clip, one_line

WIDTH = 600
"""A line is cut here; the journal has the rest."""
MARKS = {"warn": "warn    ", "critical": "failed  "}
"""In front of what matters more, by level."""


def fleet_line(event: FleetEvent, *, as_json: bool = False) -> str | None:
    """The line of an event, local time first; None for what only a screen shows."""
    if as_json:
        return event.model_dump_json()
    said = event_words(event)
    if said is None:
        return None
    level, text = said
    return f"{clock(event.at, seconds=True)} {MARKS.get(level, '')}{clip(one_line(text), WIDTH)}"
