"""What was found, two rows each; one is selected."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from textual import events
from textual.message import Message

from ralph_tui.ports.search import Found
from ralph_tui.text.format import count, day_and_clock, place
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clip_line, flat, wrap

ROWS = 2
"""Of each place."""
KIND = 11
"""Cells of what was found: a learning, an action."""
LONGEST = 2000
"""Characters of a text that are looked through."""


class Results(LineWidget):
    """Places, best first, or one sentence about why there are none."""

    @dataclass
    class Chosen(Message):
        """A place was clicked twice."""

    def __init__(self) -> None:
        super().__init__(id="results")
        self.found: Sequence[Found] = ()
        self.selected = 0
        self.top = 0
        self._sentence = ""
        self._now: datetime | None = None

    def show(self, found: Sequence[Found], now: datetime) -> None:
        """List these."""
        self.found, self.selected, self.top, self._sentence = found, 0, 0, ""
        self._now = now
        self.repaint()

    def say(self, sentence: str) -> None:
        """Why there is nothing to list."""
        self.found, self.selected, self.top, self._sentence = (), 0, 0, sentence
        self.repaint()

    @property
    def current(self) -> Found | None:
        """What is selected."""
        return self.found[self.selected] if self.found else None

    def move(self, by: int) -> bool:
        """Select another place; whether there is one."""
        before = self.selected
        self.selected = max(0, min(self.selected + by, len(self.found) - 1))
        room = max(1, self.size.height // ROWS)
        self.top = max(min(self.top, self.selected), self.selected - room + 1)
        self.repaint()
        return self.selected != before

    @property
    def page(self) -> int:
        """How many places are in view."""
        return max(1, self.size.height // ROWS)

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        if not self.found:
            rows = wrap(self._sentence, max(1, width - 4), max(1, self.size.height))
            return [("  ", ""), (rows[y], "dim")] if y < len(rows) else []
        index, inside = self.top + y // ROWS, y % ROWS
        if index >= len(self.found):
            return []
        one, here = self.found[index], index == self.selected
        spans = self._where(one) if inside else self._what(one, here=here)
        spans = clip_line(spans, width - 1)
        if here:
            spans = [(text, f"{style} cursor".strip()) for text, style in spans]
            spans.append((" " * max(0, width - cells(spans)), "cursor"))
        return spans

    def _what(self, one: Found, *, here: bool) -> Line:
        sign = "▸ " if here else "  "
        return [(f"{sign}{flat(one.what, KIND):<{KIND}} ", "accent"), *_lit(one)]

    def _where(self, one: Found) -> Line:
        when = "" if one.at is None or self._now is None else day_and_clock(one.at, self._now)
        run = one.run or "in no run's record any more"
        at = place(one.iteration) if one.iteration else ""
        objective = "" if one.what == "objective" else flat(one.objective, 200)
        parts = [part for part in (run, at, when, objective) if part]
        return [(" " * (KIND + 3), ""), (" · ".join(parts), "dim")]

    def on_click(self, event: events.Click) -> None:
        """Select what was clicked; a second click opens it."""
        index = self.top + event.y // ROWS
        if index < len(self.found):
            self.move(index - self.selected)
            if event.chain > 1:
                self.post_message(self.Chosen())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel selects, as the list is short."""
        event.stop()
        self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel selects, as the list is short."""
        event.stop()
        self.move(-1)


def _lit(one: Found) -> Line:
    """What stands there, the words that were found strong; it is on one line already."""
    spans: Line = []
    at, text = 0, one.text[:LONGEST]
    for begin, end in one.marks:
        if at <= begin < end <= len(text):
            spans += [(flat(text[at:begin]), "text"), (flat(text[begin:end]), "strong")]
            at = end
    return [*spans, (flat(text[at:], LONGEST), "text")]


def total(found: Sequence[Found], limit: int) -> str:
    """``12 places``; ``the best 50 places`` where there may be more."""
    places = count(len(found), "place")
    return f"the best {places}" if len(found) >= limit else places
