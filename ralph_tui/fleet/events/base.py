"""What every event of a fleet is."""

from ralph_tui.events.base import Event

__all__ = [
    "FleetEvent",
]


class FleetEvent(Event):
    """A fact of a fleet; see `Event` for what all of them have."""
