"""The record that a replay reads: a run's events in order, with an index.

Positions start at 1, indexes at 0. A record may grow while it is shown.
"""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from ralph_tui.events import Event
from ralph_tui.state.outline import Outline


class Record(Protocol):
    """The events of a run, created on request."""

    @property
    def outline(self) -> Outline:
        """Outline of the record, as far as it has been read."""

    @property
    def problem(self) -> str:
        """One sentence about why events are missing; empty if none are."""

    @property
    def remark(self) -> str:
        """One sentence about what the record omits; empty if nothing is missing."""

    def __len__(self) -> int:
        """Return the number of events; it shrinks if a line turns out to be bad."""

    def events(self, start: int, stop: int) -> Sequence[Event]:
        """Return the events from index `start` to just before `stop`; callable from any thread."""

    def look(self) -> bool:
        """Read some of the new events; return True if there were any."""

    def close(self) -> None:
        """Stop watching the record."""


class ListedRecord:
    """A record of events in memory."""

    problem = remark = ""

    def __init__(self, events: Sequence[Event]) -> None:
        self.outline = Outline()
        self._events = events
        for event in events:
            self.outline.add(event.kind, event.at.timestamp(), partial(_same, event))

    def __len__(self) -> int:
        return len(self._events)

    def events(self, start: int, stop: int) -> Sequence[Event]:
        return self._events[start:stop]

    def look(self) -> bool:
        """Return False: no event is ever added."""
        return False

    def close(self) -> None:
        pass


def _same(event: Event) -> Event:
    return event
