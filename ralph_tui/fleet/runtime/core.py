"""Share the journal, the state and the outputs among the parts of a fleet's engine.

Only the engine's thread calls it. As in a run, the journal is written first: an event is on disk
before the state includes it, a screen shows it, or anything acts on it.
"""

from collections.abc import Callable, Iterable, Sequence
from queue import SimpleQueue

from ralph_tui.adapters.records.journal import Journal
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.ports import Dispatcher, Order
from ralph_tui.fleet.state import FleetState
from ralph_tui.ports.host import Clock

LOOK_S = 1.0
"""Maximum number of seconds between two rounds."""
REST_FACTOR = 20
"""A rest lasts this many times as long as a round that found nothing to do."""
OnEvent = Callable[[FleetEvent], None]
Work = Callable[[], Iterable[FleetEvent]]
"""Blocking work, which runs outside the engine's thread and returns the events to record."""


class Rounds:
    """Schedules the engine's decision rounds; used only by the engine's thread.

    A round runs after each change, and once a second, because leases, holds and the spacing of
    starts depend only on time. The more loops there are, the longer a round takes. So the engine
    rests after it in proportion, and the next round covers all changes since.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """Make the first round due at once."""
        self._monotonic = monotonic
        self._changed = True
        self._ended_at = self._rested_at = monotonic()

    def change(self) -> None:
        """Request a round, because something has changed."""
        self._changed = True

    def due_in(self) -> float:
        """Return the seconds until the next round; 0 for now."""
        due = self._rested_at if self._changed else self._ended_at + LOOK_S
        return max(0.0, due - self._monotonic())

    def end(self, took: float) -> None:
        """End a round; `took` is the CPU time, in seconds, of a check that found nothing to do."""
        self._changed = False
        self._ended_at = self._monotonic()
        self._rested_at = self._ended_at + min(LOOK_S, REST_FACTOR * took)


class Core:
    """Records and publishes events, sends orders to hosts, and queues work for the other thread."""

    def __init__(
        self, journal: Journal, clock: Clock, dispatcher: Dispatcher, state: FleetState | None
    ) -> None:
        """`state` is folded from the existing journal."""
        self.clock = clock
        self.journal = journal
        self.state = state or FleetState()
        self.rounds = Rounds(clock.monotonic)
        self.works: SimpleQueue[tuple[str, Work] | None] = SimpleQueue()
        self.working: list[str] = []
        """Names of unfinished work."""
        self.followers: Sequence[OnEvent] = ()
        """Called with each recorded event, to carry out its consequences."""
        self._dispatcher = dispatcher
        self._subscribers: list[OnEvent] = []

    def subscribe(self, receive: OnEvent) -> None:
        """Call `receive` in the engine's thread for each recorded event; it must be quick."""
        self._subscribers.append(receive)

    def record(self, event: FleetEvent) -> int:
        """Journal and fold an event, carry out its consequences, and return its number."""
        stamped = self.put(event)
        self.rounds.change()
        for follow in self.followers:
            follow(stamped)
        return stamped.seq

    def put(self, event: FleetEvent) -> FleetEvent:
        """Journal, fold and publish an event without carrying out its consequences."""
        stamped = self.journal.append(event)
        self.state.apply(stamped)
        for receive in self._subscribers:
            receive(stamped)
        return stamped

    def order(self, host: str, order: Order) -> None:
        self._dispatcher.send(host, order)

    def work(self, name: str, work: Work, *, once: bool = False) -> None:
        """Queue work after earlier work; the events it returns are recorded.

        With `once`, skip it if work of this name is already waiting.
        """
        if once and name in self.working[1:]:  # the first item may be in progress
            return
        self.working.append(name)
        self.works.put((name, work))
