"""A dispatcher whose hosts are played: it keeps every order, and a test says what is observed."""

from collections.abc import Callable
from typing import TypeVar

from ralph_tui import __version__
from ralph_tui.fleet.ports import Joined, LoopSummary, Observation, Observe, Order
from tests.waiting import until

T = TypeVar("T", bound=Order)


class PlayedHosts:
    """A `Dispatcher` for the rules of a fleet's engine."""

    address = ""

    def __init__(self, *playing: Callable[["PlayedHosts", str, Order], None]) -> None:
        """`playing` is called with each order, and may observe something."""
        self.orders: list[tuple[str, Order]] = []
        self.joined: list[str] = []
        self.stopped = False
        self._playing = playing
        self._observe: Observe | None = None

    def start(self, observe: Observe) -> None:
        self._observe = observe

    def send(self, host: str, order: Order) -> None:
        self.orders.append((host, order))
        for play in self._playing:
            play(self, host, order)

    def dismiss(self, host: str, reason: str) -> None:
        raise AssertionError(f"{host} is not to be dismissed: {reason}")

    def stop(self) -> None:
        self.stopped = True

    # -- what hosts say ------------------------------------------------------------------------

    def observe(self, what: Observation) -> None:
        until(lambda: self._observe is not None)
        assert self._observe is not None
        self._observe(what)

    def join(self, host: str, *holds: LoopSummary, slots: int = 2, home: str = "m") -> None:
        self.joined.append(host)
        known = {"machine": "m", "home": home, "version": __version__}
        self.observe(Joined(host=host, slots=slots, holds=holds, **known))

    def of(self, kind: type[T]) -> list[T]:
        """The orders of a kind, so far."""
        return [order for _, order in list(self.orders) if isinstance(order, kind)]

    def wait_for(self, kind: type[T], count: int = 1) -> list[T]:
        """The same, as soon as there are so many."""
        return until(lambda: found if len(found := self.of(kind)) >= count else None) or []
