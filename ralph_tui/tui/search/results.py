"""Search hits, each in two rows, with one hit selected."""

from collections.abc import Sequence
from datetime import datetime

from ralph_tui.ports.search import Found
from ralph_tui.text.format import count, day_and_clock, place
from ralph_tui.tui.draw.spans import Line, flat
from ralph_tui.tui.lists.table import ListTable

KIND = 11
"""Width in cells of the column for a hit's kind, such as learning or action."""
LONGEST = 2000
"""Maximum number of characters shown of a hit's text."""


class Results(ListTable):
    """Hits, best first, or a sentence explaining an empty list."""

    ROWS = 2
    TITLES = 0
    WHEEL = 1
    SENTENCE = "dim"

    def __init__(self) -> None:
        self.found: Sequence[Found] = ()
        self.selected = 0
        self._now: datetime | None = None
        super().__init__("results", self)

    @property
    def count(self) -> int:
        return len(self.found)

    def show(self, found: Sequence[Found], now: datetime | None = None, why: str = "") -> None:
        """List these hits and select the first; `why` explains an empty list."""
        self.found, self._now = found, now
        self.selected = self.top = 0
        self.follow(why)

    @property
    def current(self) -> Found | None:
        """The selected hit; None if the list is empty."""
        return self.found[self.selected] if self.found else None

    def entry(self, index: int, width: int) -> Sequence[Line]:
        one = self.found[index]
        return [[(f"{flat(one.what, KIND):<{KIND}} ", "accent"), *_lit(one)], self._where(one)]

    def _where(self, one: Found) -> Line:
        when = "" if one.at is None or self._now is None else day_and_clock(one.at, self._now)
        run = one.run or "no longer in any run's record"
        at = place(one.iteration) if one.iteration else ""
        objective = "" if one.what == "objective" else flat(one.objective, 200)
        parts = [part for part in (run, at, when, objective) if part]
        return [(" " * (KIND + 1), ""), (" · ".join(parts), "dim")]


def _lit(one: Found) -> Line:
    """Return the hit's text with the words found in bold."""
    spans: Line = []
    at, text = 0, one.text[:LONGEST]
    for begin, end in one.marks:
        if at <= begin < end <= len(text):
            spans += [(flat(text[at:begin]), "text"), (flat(text[begin:end]), "strong")]
            at = end
    return [*spans, (flat(text[at:], LONGEST), "text")]


def total(found: Sequence[Found], limit: int) -> str:
    """Return ``12 places``, or ``the best 50 places`` if there may be more."""
    places = count(len(found), "place")
    return f"the best {places}" if len(found) >= limit else places
