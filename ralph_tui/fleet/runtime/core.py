"""What the parts of a fleet's engine share: its journal, its state, and the ways out.

Only the engine's thread calls it. Journal first, as in a run: an event is on disk before it is
folded, shown or carried out.
"""

from collections.abc import Callable, Iterable, Sequence
from queue import SimpleQueue

from ralph_tui.adapters.records.journal import Journal
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.ports import Dispatcher, Order
from ralph_tui.fleet.state import FleetState
from ralph_tui.ports.host import Clock

LOOK_S = 1.0
"""The longest time between two rounds."""
RESTS = 20
"""So many times as long as it has taken to see that there is nothing to do."""
Follower = Callable[[FleetEvent], None]
Work = Callable[[], Iterable[FleetEvent]]
"""Blocks, in a thread beside the engine's; gives back what is to be recorded."""


class Rounds:
    """Decides when the engine asks what to do next; used by the engine's thread alone.

    It asks after each change, and once a second, because leases, holds and the turns of starts
    depend on time alone. A round takes longer the more loops there are, so the engine rests after
    it in proportion; all changes of that time are decided together.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """The first round is due at once."""
        self._monotonic = monotonic
        self._changed = True
        self._ended_at = self._rested_at = monotonic()

    def change(self) -> None:
        """Something has happened that may have to be decided about."""
        self._changed = True

    def due_in(self) -> float:
        """Seconds until the next round; 0: now."""
        due = self._rested_at if self._changed else self._ended_at + LOOK_S
        return max(0.0, due - self._monotonic())

    def end(self, took: float) -> None:
        """One is over; to see at its end that nothing is left to do took so many seconds of CPU."""
        self._changed = False
        self._ended_at = self._monotonic()
        self._rested_at = self._ended_at + min(LOOK_S, RESTS * took)


class Core:
    """Records events and passes them on; hands orders to hosts, and work to the other thread."""

    def __init__(
        self, journal: Journal, clock: Clock, dispatcher: Dispatcher, state: FleetState | None
    ) -> None:
        """`state` is the fold of what the journal holds already."""
        self.clock = clock
        self.journal = journal
        self.state = state or FleetState()
        self.rounds = Rounds(clock.monotonic)
        self.works: SimpleQueue[tuple[str, Work] | None] = SimpleQueue()
        self.working: list[str] = []
        """Names of work that has not ended."""
        self.followers: Sequence[Follower] = ()
        """Each carries out what follows from a recorded event."""
        self._dispatcher = dispatcher
        self._subscribers: list[Follower] = []

    def subscribe(self, receive: Follower) -> None:
        """`receive` is called in the engine's thread for each recorded event; it must be quick."""
        self._subscribers.append(receive)

    def record(self, event: FleetEvent) -> int:
        """Journal and fold an event, then carry out what follows from it; gives back its number."""
        stamped = self.put(event)
        self.rounds.change()
        for follow in self.followers:
            follow(stamped)
        return stamped.seq

    def put(self, event: FleetEvent) -> FleetEvent:
        """On disk, folded, told to who looks on; nothing follows from it."""
        stamped = self.journal.append(event)
        self.state.apply(stamped)
        for receive in self._subscribers:
            receive(stamped)
        return stamped

    def order(self, host: str, order: Order) -> None:
        """Hand an order over to a host."""
        self._dispatcher.send(host, order)

    def work(self, name: str, work: Work, *, once: bool = False) -> None:
        """Do it behind what was begun before; the events it gives back are recorded.

        `once`: not where work of this name waits already.
        """
        if once and name in self.working[1:]:  # the first one may have begun
            return
        self.working.append(name)
        self.works.put((name, work))
