"""A fleet as plain lines: one for each fact that a human without a screen would want."""

from ralph_tui.fleet.events import FleetEvent
from ralph_tui.text.format import clock
from ralph_tui.text.sanitize import clip, one_line

WIDTH = 600
"""A line is cut here; the journal has the rest."""


def fleet_line(event: FleetEvent, *, as_json: bool = False) -> str | None:
    """The line of an event, local time first; None for what only a screen shows."""
    if as_json:
        return event.model_dump_json()
    line = event.line()
    return line and f"{clock(event.at, seconds=True)} {clip(one_line(line), WIDTH)}"
