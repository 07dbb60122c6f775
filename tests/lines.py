"""The plain line of one event, without context from earlier ones."""

from ralph_tui.cli.fronts.run_lines import stamp_lines
from ralph_tui.events import Event


def plain_line(event: Event) -> str | None:
    """Local time first; None for an event that only a screen shows."""
    return stamp_lines(event, event.line())
