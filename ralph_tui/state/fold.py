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


class Part:
    """What a fold keeps in an object of its own, whose methods take events in.

    Two are equal that hold the same. A copy of a fold has parts of its own, filled with the same.
    """

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same."""
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        """What it holds."""
        return f"{type(self).__name__}({vars(self)!r})"


class Fold(ABC):
    """State of one subject, shown by any number of panes."""

    parts: tuple[Part, ...] = ()
    """All that it keeps in objects of their own."""

    revision = 0
    """Grows with each event that changed something visible: a pane that has drawn it can wait."""

    @abstractmethod
    def handlers(self) -> Handlers:
        """A row, made with `on`, for each type of event that concerns this fold."""


def on(event_type: type[E], handler: Callable[[E], T]) -> tuple[type[Event], Callable[[Any], T]]:
    """A row of a table by event type; the type checker holds `handler` against that type."""
    return event_type, handler
