"""What a fold is: the state of one subject, with a table from event types to its methods.

Rule: the reducer alone counts revisions; a method says only that nothing visible has changed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ralph_tui.events import Event

E = TypeVar("E", bound=Event)
T = TypeVar("T")

Handler = Callable[[Any], bool | None]
"""Takes an event of one type in; False says that nothing visible has changed."""
Handlers = Iterable[tuple[type[Event], Handler]]


class Fold(ABC):
    """State of one subject, shown by any number of panes."""

    revision = 0
    """Grows with each event that changed something visible: a pane that has drawn it can wait."""

    @abstractmethod
    def handlers(self) -> Handlers:
        """A row, made with `on`, for each type of event that concerns this fold."""


def on(event_type: type[E], handler: Callable[[E], T]) -> tuple[type[Event], Callable[[Any], T]]:
    """A row of a table by event type; the type checker holds `handler` against that type."""
    return event_type, handler
