"""What a fleet needs of its hosts: orders to them, and what is observed of them.

A host is a process (or a part of the fleet's own) that holds runs under keepers. Whatever carries
orders and observations between the two stands behind `Dispatcher`. Both are plain values that can
be sent as JSON. An observation comes from another machine: it is untrusted until it is validated,
which these types do.
"""

from collections.abc import Callable
from typing import Protocol

from ralph_tui.fleet.ports.observations import (
    Began,
    Gone,
    Held,
    Joined,
    Leaving,
    NeedsBase,
    NotCollected,
    Noted,
    Observation,
    Over,
    Recorded,
    Refused,
    Stage,
    StageName,
    Stands,
    Told,
)
from ralph_tui.fleet.ports.orders import (
    Adopt,
    Collect,
    End,
    Order,
    Remove,
    Tell,
)
from ralph_tui.ports.clones import Base, Collected, Place, Source

__all__ = [
    "Adopt",
    "Base",
    "Began",
    "Collect",
    "Collected",
    "Dispatcher",
    "End",
    "Gone",
    "Held",
    "Joined",
    "Leaving",
    "LoopHost",
    "NeedsBase",
    "NotCollected",
    "Noted",
    "Observation",
    "Observe",
    "Order",
    "Over",
    "Place",
    "Recorded",
    "Refused",
    "Remove",
    "Source",
    "Stage",
    "StageName",
    "Stands",
    "Tell",
    "Told",
]

Observe = Callable[[Observation], None]
"""Takes an observation; called from any thread, and does not block."""


class LoopHost(Protocol):
    """The loops of one host, whatever connects it to a fleet; made with an `Observe`.

    What it observes while nothing connects it is lost: once connected it says `Joined`, and the
    fleet asks for what it has missed with `Adopt`.
    """

    home: str
    """Names the folder of its trees, as no other one is named."""

    def holds(self) -> tuple[Held, ...]:
        """The fleet's loops, alive or over and not removed; does not block for over 100 ms."""
        ...

    def obey(self, order: Order) -> None:
        """Carry an order out. Called from any thread, in the order of arrival; does not block."""
        ...

    def fleet_lost(self) -> None:
        """The fleet is not heard any more: the lease of each loop begins to run out."""
        ...

    def fleet_found(self, fleet_id: str) -> None:
        """This fleet is there, or there again: no lease of its loops runs out.

        Loops of another fleet go on under their leases; what becomes of them is not observed.
        """
        ...

    def close(self) -> None:
        """Stop all loops in order; returns when nothing of them is alive."""
        ...


class Dispatcher(Protocol):
    """Carries orders to hosts. No call blocks for longer than 100 ms; answers are observations."""

    address: str
    """Where hosts join; empty: none can."""

    def start(self, observe: Observe) -> None:
        """Begin; raises ``RalphError`` where that cannot be."""
        ...

    def send(self, host: str, order: Order) -> None:
        """Hand an order over; to a host that is gone it is lost, as `Gone` says."""
        ...

    def dismiss(self, host: str, reason: str) -> None:
        """Let a host go that may not take part; it is told why, and no `Gone` follows."""
        ...

    def stop(self) -> None:
        """Let all hosts go; an embedded one stops its loops in order. Returns within 10 s."""
        ...
