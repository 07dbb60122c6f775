"""The plain line of one event, without context from earlier ones."""

from ralph_tui.cli.fronts.run_lines import stamped
from ralph_tui.events import Event


def plain_line(event: Event) -> str | None:
    """Local time first; None for an event that only a screen shows."""
    return stamped(event, event.line())
