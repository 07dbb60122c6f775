"""The agent's own words, and what they claim: the contract's report line and promise. Pure."""

from collections import deque
from collections.abc import Callable, Iterator

from ralph_tui.events import AgentSpoke, Event, PromiseMade
from ralph_tui.layers.sensor import find_report, promised
from ralph_tui.text.sanitize import shorten

SPOKEN = 2000
"""Characters of an `AgentSpoke`; the whole text is in the transcript."""
LONGEST = 20_000
"""Characters of lines that a claim may reach over; a line of its own may be longer."""
MOST_LINES = 400
_REPORT, _PROMISE = '"ralph"', "<promise>"


def claims(text: str, iteration: int) -> list[Event]:
    """The last report in the text, and the promise when it is made."""
    found = (_reported(text, iteration), _promised(text, iteration))
    return [claim for claim in found if claim is not None]


def spoken(text: str, iteration: int, offset: int, parent: str | None = None) -> list[Event]:
    """What an agent has said, as events, with its claims; a subagent, whose tool call is `parent`,
    claims nothing.
    """
    events: list[Event] = []
    if text.strip():
        said = shorten(text.strip("\n"), SPOKEN)
        events.append(AgentSpoke(iteration=iteration, text=said, parent=parent, offset=offset))
    return events if parent is not None else events + claims(text, iteration)


def _reported(text: str, iteration: int) -> Event | None:
    report = find_report(text) if _REPORT in text else None
    return None if report is None else report.event(iteration)


def _promised(text: str, iteration: int) -> Event | None:
    return PromiseMade(iteration=iteration) if _PROMISE in text and promised(text) else None


class ClaimReader:
    """The claims in lines that come one by one: each is heard once, with the line that ends it."""

    def __init__(self, iteration: int, orders: frozenset[str]) -> None:
        """`orders`: lines of the prompt; one that is echoed opens no claim."""
        self._orders = orders
        self._windows = (
            _Window(_REPORT, "}", lambda text: _reported(text, iteration)),
            _Window(_PROMISE, "</promise>", lambda text: _promised(text, iteration)),
        )

    @property
    def held(self) -> int:
        """Characters that are kept."""
        return sum(window.held for window in self._windows)

    def feed(self, line: str) -> Iterator[Event]:
        """What this line completes; what was told last is not told again."""
        if (_REPORT in line or _PROMISE in line) and line in self._orders:
            return
        for window in self._windows:
            claim = window.add(line)
            if claim is not None:
                yield claim


class _Window:
    """The lines in which one kind of claim may stand."""

    def __init__(self, opening: str, closing: str, find: Callable[[str], Event | None]) -> None:
        self._opening, self._closing, self._find = opening, closing, find
        self._lines: deque[str] = deque()
        self._left = 0
        """Lines in which what was opened may still end."""
        self._told: Event | None = None
        self.held = 0

    def add(self, line: str) -> Event | None:
        self._lines.append(line)
        self.held += len(line)
        lines = self._lines
        while len(lines) > 1 and (self.held > LONGEST or len(lines) > MOST_LINES):
            self.held -= len(self._lines.popleft())
        self._left = MOST_LINES if self._opening in line else self._left - 1
        if self._left <= 0 or self._closing not in line:
            return None
        claim = self._find("\n".join(self._lines))
        if claim is None:
            return None
        self._lines.clear()
        self._left = self.held = 0
        told, self._told = self._told, claim
        return None if claim == told else claim
