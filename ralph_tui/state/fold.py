"""Base classes of the folds: each holds the state of one subject and handles its events.

Rule: only the reducer counts revisions; a method only reports that nothing visible changed.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar, get_args

from ralph_tui.events import Event

E = TypeVar("E", bound=Event)
T = TypeVar("T")

Handler = Callable[[Any], bool | None]
"""Handles an event of one type. Returns False if nothing visible changed."""
Handlers = Iterable[tuple[type[Event], Handler]]


class Part:
    """A part of a fold's state that handles events itself.

    Parts with equal contents are equal. A copy of a fold has its own parts with the same contents.
    """

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        return f"{type(self).__name__}({vars(self)!r})"


class Fold:
    """State of one subject, shown by any number of panes.

    A method whose name begins with ``on_`` handles the event type, or types, that annotate its
    argument.
    """

    parts: tuple[Part, ...] = ()
    """Objects that hold parts of the state."""

    revision = 0
    """Incremented by each event that changes something visible, so panes know when to redraw."""

    def handlers(self) -> Handlers:
        """Yield each event type this fold handles, with its handler."""
        return handlers_of(self)


def handlers_of(owner: object) -> Handlers:
    """Yield each event type that an ``on_`` method of `owner` handles, with that method."""
    for name, types in _find_handlers(type(owner)):  # type: ignore[arg-type]  # a class can be hashed
        handler = getattr(owner, name)
        yield from ((kind, handler) for kind in types)


@cache
def _find_handlers(owner: type) -> list[tuple[str, tuple[type[Event], ...]]]:
    names = dict.fromkeys(
        name for base in owner.__mro__ for name in vars(base) if name[:3] == "on_"
    )
    taken = []
    for name in names:
        kind = next(iter(getattr(owner, name).__annotations__.values()))
        taken.append((name, get_args(kind) or (kind,)))
    return taken


def on(event_type: type[E], handler: Callable[[E], T]) -> tuple[type[Event], Callable[[Any], T]]:
    """Return a row of a handler table; the type checker checks `handler` against the event type."""
    return event_type, handler
