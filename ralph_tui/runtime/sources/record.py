"""What a replay is made of: a run's events in their order, and where to look for what.

Rule: a position is counted from 1, an index from 0. A record may grow while it is looked at.
"""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from ralph_tui.events import Event
from ralph_tui.state.outline import Outline


class Record(Protocol):
    """The events of a run, made where they are asked for."""

    @property
    def outline(self) -> Outline:
        """Of the whole record, as far as it is read."""

    @property
    def problem(self) -> str:
        """One sentence about why this is not all of it; empty when it is."""

    @property
    def remark(self) -> str:
        """One sentence about what is not told of it; empty when all is."""

    def __len__(self) -> int:
        """How many events there are; fewer, once a line turned out to be bad."""

    def events(self, start: int, stop: int) -> Sequence[Event]:
        """Those from index `start` to before `stop`; from any thread."""

    def look(self) -> bool:
        """Take in some of what has come since; whether there was any."""

    def close(self) -> None:
        """It is looked at no more."""


class ListedRecord:
    """Events that are at hand."""

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
        """See `Record`; nothing comes any more."""
        return False

    def close(self) -> None:
        pass


def _same(event: Event) -> Event:
    return event
