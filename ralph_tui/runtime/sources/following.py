"""A journal that another process writes, folded as it grows.

Rule: a look is called on the UI thread and stays short, however much there is to read.
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
"""Seconds a look may fold before the screen is drawn again."""
POLL_S = 0.2
"""Seconds between two looks while nothing is recorded."""


class Fold(Protocol):
    """What events become."""

    @property
    def seq(self) -> int:
        """Of the last event that was taken in; 0: of none."""


F = TypeVar("F", bound=Fold)
E = TypeVar("E", bound=Event)


class Following(Generic[F, E]):
    """Follows one journal; whoever looks keeps the state."""

    def __init__(
        self,
        journal: Path,
        fresh: Callable[[], F],
        parse: Callable[[bytes, F], E],
        apply: Callable[[F, E], object],
        advice: str = "",
    ) -> None:
        """`parse` raises ``ValueError`` for a line that is no event behind a state.

        `advice`: what else to do where the journal breaks off.
        """
        self.problem = ""
        """One sentence about where the journal breaks off; empty: it does not."""
        self.whole = False
        """Whether all that stood there at first was taken in."""
        self.path = journal
        self._fresh, self._parse, self._apply = fresh, parse, apply
        self._advice = advice
        self._tail = Tail(journal)
        self._lines: deque[bytes] = deque()
        self._ahead: F | None = fresh()
        """While the record is read from its start: not shown, lest settled questions open."""

    def look(self, state: F) -> F:
        """The state with what has come; another one where the journal was read from its start."""
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
        """Take in what has come, until the deadline; whether that was all."""
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
            self.problem = f"the journal breaks off behind event {state.seq}{self._advice}"
            return
        if event.seq == state.seq + 1:
            self._apply(state, event)
        else:
            self.problem = (
                f"the journal has event {event.seq} where {state.seq + 1} belongs; "
                "what comes before it is shown"
            )

    def close(self) -> None:
        """It is looked at no more."""
        self._tail.close()


def followed_run(
    journal: Path, heard: Callable[[Event], object] | None = None
) -> Following[RunState, Event]:
    """The journal of a run; `heard` gets each event once."""

    def parse(line: bytes, state: RunState) -> Event:
        return parse_line(line, state.run.started)

    apply = telling(RunState.apply, heard) if heard is not None else RunState.apply
    return Following(
        journal, RunState, parse, apply, f"; see ralph-tui replay {as_argument(journal.parent)}"
    )


def telling(
    apply: Callable[[F, E], object], heard: Callable[[E], object]
) -> Callable[[F, E], object]:
    """As `apply`, and `heard` gets each event once, also where a journal is read again."""
    last = 0

    def both(state: F, event: E) -> None:
        nonlocal last
        apply(state, event)
        if event.seq > last:
            last = event.seq
            heard(event)

    return both


def until_over(journal: Following[F, E], state: F, works: Callable[[F], bool]) -> F:
    """Follow it until nothing comes any more and nobody works on it; the last state.

    Raises ``JournalError`` where the journal breaks off, or is empty.
    """
    while True:
        over, before = not works(state), state.seq  # asked before the last look
        state = journal.look(state)
        if journal.problem:
            raise JournalError(journal.problem)
        if journal.whole and state.seq == before:
            if over and not state.seq:
                raise empty(journal.path)
            if over:
                return state
            sleep(POLL_S)
