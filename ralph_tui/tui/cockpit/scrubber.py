"""Shows the position of a replay, and seeks by mouse: a click or a drag goes there.

The bar measures playback time, so its head moves evenly and waits are as short as in playback.
Details of the point under the pointer are shown beside it.
"""

from datetime import datetime

from textual import events

from ralph_tui.events.base import EPOCH
from ralph_tui.ports.player import Player
from ralph_tui.state import RunState
from ralph_tui.state.outline import Mark
from ralph_tui.text import terms
from ralph_tui.text.format import clock, place
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clickable
from ralph_tui.tui.draw.words import level_mark, short_duration

PLACE = 11
"""Minimum width in cells of the position text, so that a shorter text never moves the bar."""
PLACED = 70
"""Minimum width in columns to show the position text."""
ROOM_FOR_TICKS = 4
"""Minimum number of cells per iteration for drawing where iterations start."""
_WEIGHT = {level: weight for weight, level in enumerate(terms.LEVELS)}


class Scrubber(LineWidget, can_focus=True):
    """The position of a replay; focused at the start, so that arrow keys move in time."""

    def __init__(self, player: Player) -> None:
        super().__init__(id="scrubber")
        self.lit = False
        self._player = player
        self._state = RunState()
        self._now = EPOCH
        self._begins, self._room = 0, 1
        """First column and width of the bar, as last drawn."""
        self._pointed: int | None = None
        """Column of the bar under the pointer; None if the pointer is elsewhere."""
        self._stamp: object = None
        self._marked: tuple[object, dict[int, Mark], set[int]] = (None, {}, set())
        """Cache key, each column's most serious mark, and the columns where iterations start."""

    def on_focus(self) -> None:
        self.lit = True
        self.repaint()

    def on_blur(self) -> None:
        self.lit = False
        self.repaint()

    def sync(self, state: RunState, now: datetime) -> None:
        player = self._player
        here = (player.position, round(player.here * 1000), player.playing, player.speed)
        stamp = (here, player.length, player.new, int(now.timestamp()), state.run.live)
        self._state, self._now = state, now
        if stamp != self._stamp:
            self._stamp = stamp
            self.repaint()

    def line(self, y: int, width: int) -> Line:
        player = self._player
        speed = f"{player.speed}x" if player.speed else "instant"
        sign = "▶" if player.playing else terms.PHASES["paused"].glyph
        style = "focus" if self.lit else "dim"
        wait = player.wait
        fast = terms.SHORTENED.glyph if wait and player.speed else ""
        left = clickable(
            [(f" {sign} ", f"{style} strong"), (f"{speed:<5}{fast:<2} ", "text")], "space"
        )
        right = self._right(width, wait)
        self._begins, self._room = cells(left), max(1, width - cells(left) - cells(right))
        return [*left, *self._bar(style), *right]

    def _right(self, width: int, wait: float) -> Line:
        """Show the run's time and the event number, or the point under the pointer."""
        player = self._player
        pointed = self._pointed_at()
        if pointed is not None:
            at, iteration = player.moment(pointed)
            words, style = place(iteration) if iteration else "the start", "text"
            if mark := self._marks()[0].get(self._pointed or 0):
                glyph, style = level_mark(terms.SEVERITIES[mark.severity])
                words = f"{glyph} {terms.alarm_words(mark.name)}"
            right: Line = [(f"  {clock(at, seconds=True)} ", "accent")]
        else:
            number = str(player.position).rjust(len(str(player.length)))
            words, style = f"{number}/{player.length}", "dim"
            if wait:
                words, style = f"{terms.SHORTENED.glyph} {short_duration(wait)} wait", "text"
            right = [(f"  {clock(self._now, seconds=True)} ", "text")]
        if width >= PLACED:
            room = max(PLACE, 2 * len(str(player.length)) + 1)
            right.append((f" {words[:room]:<{room}} ", style))
        if player.new:
            right = [(f"  +{player.new} new", "accent"), *right]
        elif player.position == player.length and self._state.run.live:
            right = [("  no end was recorded ", "warn"), *right]
        return right

    # the mouse --------------------------------------------------------------------------------

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Seek to the clicked column; a drag may follow."""
        if self._begins <= event.x < self._begins + self._room:
            self.capture_mouse()
            self._go(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Seek while dragging, even outside the row; otherwise show what is under the pointer."""
        if self.app.mouse_captured is self:
            self._go(event.x)
        column = event.x - self._begins
        self._point(column if 0 <= column < self._room else None)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()

    def on_leave(self, event: events.Leave) -> None:
        self.end_pointing()

    def end_pointing(self) -> None:
        """Show the replay's position again, until the pointer moves."""
        self._point(None)

    def _point(self, column: int | None) -> None:
        if column != self._pointed:
            self._pointed = column
            self.repaint()

    def _go(self, x: int) -> None:
        """Seek to this column's mark if it has one, otherwise to its time."""
        column = min(max(0, x - self._begins), max(1, self._room - 1))
        self._player.seek(self._at(column))

    def _at(self, column: int) -> int:
        mark = self._marks()[0].get(column)
        last = max(1, self._room - 1)
        return mark.position if mark else self._player.position_at(column / last)

    def _pointed_at(self) -> int | None:
        """The event position under the pointer."""
        if self._pointed is None or self._pointed >= self._room or not self._player.length:
            return None
        return self._at(self._pointed)

    # the bar ----------------------------------------------------------------------------------

    def _marks(self) -> tuple[dict[int, Mark], set[int]]:
        """Return each column's most serious mark, and the columns where iterations start."""
        player, room = self._player, self._room
        key = (player.length, room)
        if self._marked[0] != key:
            last, marks = room - 1, dict[int, Mark]()
            for mark in player.marks:
                column = round(player.share(mark.position) * last)
                if column not in marks or _weight(mark) > _weight(marks[column]):
                    marks[column] = mark
            begins = player.iterations
            few = len(begins) * ROOM_FOR_TICKS <= room
            ticks = {round(player.share(at) * last) for at, _ in begins} if few else set[int]()
            self._marked = (key, marks, ticks)
        return self._marked[1:]

    def _bar(self, style: str) -> Line:
        room = self._room
        here = round(self._player.here * (room - 1))
        marks, ticks = self._marks()
        track = [("━", style) if i < here else ("─", "faint") for i in range(room)]
        for column in ticks:
            track[column] = ("┿", style) if column < here else ("┼", "faint")
        for column, mark in marks.items():
            track[column] = level_mark(terms.SEVERITIES[mark.severity])
        track[here] = ("●", "focus" if self.lit else "text")
        spans: Line = []
        for glyph, name in track:
            if spans and spans[-1][1] == name:
                spans[-1] = (spans[-1][0] + glyph, name)
            else:
                spans.append((glyph, name))
        return spans


def _weight(mark: Mark) -> int:
    return _WEIGHT[terms.SEVERITIES[mark.severity]]
