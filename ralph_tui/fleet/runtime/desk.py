"""What the parts of a fleet's engine share: its state, the way into its journal, its orders."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from ralph_tui.fleet.events import AttemptKept, ConflictsFound, FleetEvent
from ralph_tui.fleet.ports import Collected, Order
from ralph_tui.fleet.records.mirror import Mirror
from ralph_tui.fleet.state import FleetState, LoopState
from ralph_tui.ports.clones import Earlier
from ralph_tui.ports.host import Clock

Work = Callable[[], Iterable[FleetEvent]]
"""Blocks, in a thread beside the engine's; gives back what is to be recorded."""


class Desk(Protocol):
    """The engine as its parts see it; only its own thread calls it."""

    clock: Clock
    state: FleetState

    def record(self, event: FleetEvent) -> int:
        """Journal and fold an event, then carry out what follows from it; gives back its number."""
        ...

    def order(self, host: str, order: Order) -> None:
        """Hand an order over to a host."""
        ...

    def work(self, name: str, work: Work, *, once: bool = False) -> None:
        """Do it behind what was begun before; the events it gives back are recorded.

        `once`: not where work of this name waits already.
        """
        ...


Mirrors = Callable[[str, int], Mirror]
"""The copy of a loop's record in the fleet's folder, of one attempt; the same one each time."""


class Results(Protocol):
    """What becomes of loops' work in the user's repository; all but `copied` and `cancel` blocks.

    None raises anything but ``RalphError`` and ``OSError``.
    """

    @property
    def copied(self) -> dict[str, str]:
        """The files that every tree gets: path and content, base64."""
        ...

    def receive(
        self, collected: Collected, run_id: str, earlier: Earlier | None
    ) -> Sequence[FleetEvent]:
        """Make a branch of a bundle: ``ResultCollected`` or ``CollectionFailed`` is the last event.

        `earlier` is what was collected of the loop before: its branch goes on.
        """
        ...

    def keep(self, collected: Collected, host: str, run_id: str) -> AttemptKept:
        """Make a branch of an attempt whose place another one has taken; raises ``RalphError``."""
        ...

    def conflicts(self, loops: Sequence[LoopState]) -> Sequence[ConflictsFound]:
        """Which of the branches of collected loops cannot be merged one after the other."""
        ...

    def verify(self, loop: LoopState) -> FleetEvent:
        """Run the completion command of a collected loop once more: ``WinnerVerified``."""
        ...

    def bundle_base(self, commit: str) -> bytes:
        """The commit that all loops begin with, for a host that cannot get it."""
        ...

    def cancel(self) -> None:
        """End what goes on soon; from any thread."""
        ...
