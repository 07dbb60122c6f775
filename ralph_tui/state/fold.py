"""What a fold is: the state of one subject, with a table from event types to its methods.

Rule: the reducer alone counts revisions; a method says only that nothing visible has changed.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar, get_args

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


class Fold:
    """State of one subject, shown by any number of panes.

    A method whose name begins with ``on_`` takes the events of its argument's type, or types.
    """

    parts: tuple[Part, ...] = ()
    """All that it keeps in objects of their own."""

    revision = 0
    """Grows with each event that changed something visible: a pane that has drawn it can wait."""

    def handlers(self) -> Handlers:
        """A row for each type of event that concerns this fold."""
        return handlers_of(self)


def handlers_of(taker: object) -> Handlers:
    """A row for each type of event that an ``on_`` method of `taker` takes."""
    for name, types in _taken(type(taker)):  # type: ignore[arg-type]  # a class can be hashed
        handler = getattr(taker, name)
        yield from ((kind, handler) for kind in types)


@cache
def _taken(taker: type) -> list[tuple[str, tuple[type[Event], ...]]]:
    names = dict.fromkeys(
        name for base in taker.__mro__ for name in vars(base) if name[:3] == "on_"
    )
    taken = []
    for name in names:
        kind = next(iter(getattr(taker, name).__annotations__.values()))
        taken.append((name, get_args(kind) or (kind,)))
    return taken


def on(event_type: type[E], handler: Callable[[E], T]) -> tuple[type[Event], Callable[[Any], T]]:
    """A row of a table by event type; the type checker holds `handler` against that type."""
    return event_type, handler
