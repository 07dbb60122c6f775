"""The agent's text as events, and the claims in it: report line and promise. Pure."""

from collections import deque
from collections.abc import Callable, Iterator

from ralph_tui.events import AgentSpoke, Event, PromiseMade
from ralph_tui.layers.sensor.agent_report import find_report, promised
from ralph_tui.text.sanitize import shorten

SPOKEN = 2000
"""Maximum length of an `AgentSpoke` in characters; the transcript has the whole text."""
LONGEST = 20_000
"""Maximum length of a multi-line claim in characters; a single line may be longer."""
MAX_LINES = 400
_REPORT, _PROMISE = '"ralph"', "<promise>"


def claims(text: str, iteration: int) -> list[Event]:
    """Return the last report in the text, and the promise if the text contains it."""
    found = (_parse_report(text, iteration), _parse_promise(text, iteration))
    return [claim for claim in found if claim is not None]


def speech_events(text: str, iteration: int, offset: int, parent: str | None = None) -> list[Event]:
    """Return what an agent said as events, including its claims.

    A subagent, identified by its tool call `parent`, makes no claims.
    """
    events: list[Event] = []
    if text.strip():
        said = shorten(text.strip("\n"), SPOKEN)
        events.append(AgentSpoke(iteration=iteration, text=said, parent=parent, offset=offset))
    return events if parent is not None else events + claims(text, iteration)


def _parse_report(text: str, iteration: int) -> Event | None:
    report = find_report(text) if _REPORT in text else None
    return None if report is None else report.event(iteration)


def _parse_promise(text: str, iteration: int) -> Event | None:
    return PromiseMade(iteration=iteration) if _PROMISE in text and promised(text) else None


class ClaimReader:
    """Claims in lines that arrive one by one; each is reported once, when its last line arrives."""

    def __init__(self, iteration: int, orders: frozenset[str]) -> None:
        """`orders` are the prompt's lines; echoing one of them is not a claim."""
        self._orders = orders
        self._windows = (
            _Window(_REPORT, "}", lambda text: _parse_report(text, iteration)),
            _Window(_PROMISE, "</promise>", lambda text: _parse_promise(text, iteration)),
        )

    @property
    def held(self) -> int:
        """Number of characters buffered."""
        return sum(window.held for window in self._windows)

    def feed(self, line: str) -> Iterator[Event]:
        """Yield the claims that this line completes, except repetitions."""
        if (_REPORT in line or _PROMISE in line) and line in self._orders:
            return
        for window in self._windows:
            claim = window.add(line)
            if claim is not None:
                yield claim


class _Window:
    """Recent lines, which may contain one kind of claim."""

    def __init__(self, opening: str, closing: str, find: Callable[[str], Event | None]) -> None:
        self._opening, self._closing, self._find = opening, closing, find
        self._lines: deque[str] = deque()
        self._left = 0
        """How many more lines to search for the end of an unfinished claim."""
        self._last_claim: Event | None = None
        self.held = 0

    def add(self, line: str) -> Event | None:
        self._lines.append(line)
        self.held += len(line)
        lines = self._lines
        while len(lines) > 1 and (self.held > LONGEST or len(lines) > MAX_LINES):
            self.held -= len(self._lines.popleft())
        self._left = MAX_LINES if self._opening in line else self._left - 1
        if self._left <= 0 or self._closing not in line:
            return None
        claim = self._find("\n".join(self._lines))
        if claim is None:
            return None
        self._lines.clear()
        self._left = self.held = 0
        last, self._last_claim = self._last_claim, claim
        return None if claim == last else claim
