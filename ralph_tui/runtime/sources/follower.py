"""A journal written by another process, folded as it grows.

`Follower.look` runs on the UI thread and must be fast, however much there is to read.
"""

from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Generic, Protocol, TypeVar

from ralph_tui.adapters.records.folders import as_argument
from ralph_tui.adapters.records.journal import parse_line
from ralph_tui.adapters.records.refused import empty
from ralph_tui.adapters.records.tail import ReplacedError, Tail
from ralph_tui.base.errors import JournalError
from ralph_tui.events import Event
from ralph_tui.state import RunState

LOOK_S = 0.03
"""Maximum seconds that `look` folds events before the screen is redrawn."""
POLL_S = 0.2
"""Seconds between two checks while nothing is recorded."""


class Fold(Protocol):
    """The state that events are folded into."""

    @property
    def seq(self) -> int:
        """Number of the last event folded; 0 if none."""


F = TypeVar("F", bound=Fold)
E = TypeVar("E", bound=Event)


class Follower(Generic[F, E]):
    """Follows one journal; the caller keeps the state."""

    def __init__(
        self,
        journal: Path,
        fresh: Callable[[], F],
        parse: Callable[[bytes, F], E],
        apply: Callable[[F, E], object],
        advice: str = "",
    ) -> None:
        """`parse` raises ``ValueError`` for a line that is not a valid next event.

        `advice` is added to the message about a damaged journal.
        """
        self.problem = ""
        """One sentence about where the journal breaks off; empty if it does not."""
        self.whole = False
        """True once all events present at the start have been folded."""
        self.path = journal
        self._fresh, self._parse, self._apply = fresh, parse, apply
        self._advice = advice
        self._tail = Tail(journal)
        self._lines: deque[bytes] = deque()
        self._ahead: F | None = fresh()
        """The state while the record is first read; hidden, so that no settled question opens."""

    def look(self, state: F) -> F:
        """Return the state after any new events; a new object if the journal was reread in full."""
        deadline = monotonic() + LOOK_S
        try:
            done = self._fold(self._ahead or state, deadline)
        except ReplacedError:
            self._lines.clear()
            self.problem, self.whole = "", False
            self._ahead = self._fresh()
            return state
        if self._ahead is not None:
            if not done:
                return state
            state, self._ahead = self._ahead, None
            self.whole = True
        return state

    def _fold(self, state: F, deadline: float) -> bool:
        """Fold new events until the deadline; return True if that was all of them."""
        while monotonic() < deadline:
            if not self._lines:
                self._lines.extend(self._tail.lines())
                if not self._lines:
                    return True
            self._take(state, self._lines.popleft())
        return False

    def _take(self, state: F, line: bytes) -> None:
        if self.problem or not line.strip():
            return
        try:
            event = self._parse(line, state)
        except ValueError:
            self.problem = f"the journal breaks off after event {state.seq}{self._advice}"
            return
        if event.seq == state.seq + 1:
            self._apply(state, event)
        else:
            self.problem = (
                f"the journal has event {event.seq} where event {state.seq + 1} belongs; "
                "only earlier events are shown"
            )

    def close(self) -> None:
        """Stop watching the journal."""
        self._tail.close()


def followed_run(
    journal: Path, on_event: Callable[[Event], object] | None = None
) -> Follower[RunState, Event]:
    """Follow the journal of a run; `on_event` receives each event once."""

    def parse(line: bytes, state: RunState) -> Event:
        return parse_line(line, state.run.started)

    apply = with_listener(RunState.apply, on_event) if on_event is not None else RunState.apply
    return Follower(
        journal, RunState, parse, apply, f"; see ralph-tui replay {as_argument(journal.parent)}"
    )


def with_listener(
    apply: Callable[[F, E], object], on_event: Callable[[E], object]
) -> Callable[[F, E], object]:
    """Wrap `apply` so that `on_event` receives each event once, even if a journal is read again."""
    last = 0

    def both(state: F, event: E) -> None:
        nonlocal last
        apply(state, event)
        if event.seq > last:
            last = event.seq
            on_event(event)

    return both


def follow_to_end(journal: Follower[F, E], state: F, works: Callable[[F], bool]) -> F:
    """Follow a journal until no process writes it and no event is left; return the last state.

    Raises ``JournalError`` if the journal breaks off or is empty.
    """
    while True:
        over, before = not works(state), state.seq  # checked before the last look
        state = journal.look(state)
        if journal.problem:
            raise JournalError(journal.problem)
        if journal.whole and state.seq == before:
            if over and not state.seq:
                raise empty(journal.path)
            if over:
                return state
            sleep(POLL_S)
