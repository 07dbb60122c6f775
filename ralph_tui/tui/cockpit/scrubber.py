"""Where a replay stands, and the way through it by mouse: a click or a drag goes there."""

from datetime import datetime

from textual import events

from ralph_tui.events.base import EPOCH
from ralph_tui.ports.player import Player
from ralph_tui.state import RunState
from ralph_tui.text.format import clock
from ralph_tui.text.terms import PHASES, SEVERITIES
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clickable
from ralph_tui.tui.draw.words import level_mark


class Scrubber(LineWidget, can_focus=True):
    """Where a replay stands; focused at the start, so that arrows move in time."""

    def __init__(self, player: Player) -> None:
        super().__init__(id="scrubber")
        self.lit = False
        self._player = player
        self._state = RunState()
        self._now = EPOCH
        self._begins, self._room = 0, 1
        """The first column of the bar, and how many it has; as it was drawn last."""
        self._stamp: object = None

    def on_focus(self) -> None:
        """Its colour tells it."""
        self.lit = True
        self.repaint()

    def on_blur(self) -> None:
        """Its colour tells it."""
        self.lit = False
        self.repaint()

    def sync(self, state: RunState, now: datetime) -> None:
        """Follow the player."""
        player = self._player
        stamp = (player.position, player.playing, player.speed, player.length, int(now.timestamp()))
        self._state, self._now = state, now
        if stamp != self._stamp:
            self._stamp = stamp
            self.repaint()

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        player = self._player
        speed = f"{player.speed}x" if player.speed else "instant"
        sign = "▶" if player.playing else PHASES["paused"].glyph
        style = "focus" if self.lit else "dim"
        left = clickable([(f" {sign} ", f"{style} strong"), (f"{speed:<7} ", "text")], "space")
        at_end = player.position == player.length
        right: Line = [(f"  {clock(self._now, seconds=True)} ", "text")]
        if width >= 70:
            place = str(player.position).rjust(len(str(player.length)))  # the bar stands still
            right.append((f" {place}/{player.length} ", "dim"))
        if at_end and self._state.run.live:
            right = [("  no end was recorded ", "warn"), *right]
        self._begins, self._room = cells(left), max(1, width - cells(left) - cells(right))
        return [*left, *self._bar(self._room, style), *right]

    # the mouse --------------------------------------------------------------------------------

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go there; the drag that may follow moves on."""
        if self._begins <= event.x < self._begins + self._room:
            self.capture_mouse()
            self._go(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """A drag, also one that has left the row."""
        if self.app.mouse_captured is self:
            self._go(event.x)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go."""
        self.release_mouse()

    def _go(self, x: int) -> None:
        """To the event that is drawn in this column."""
        last, length = max(1, self._room - 1), self._player.length
        column = min(max(0, x - self._begins), last)
        self._player.seek(max(1, round(column * length / last)))

    def _bar(self, room: int, style: str) -> Line:
        player = self._player
        length = max(1, player.length)
        here = min(room - 1, (player.position - 1) * (room - 1) // max(1, length - 1))
        track = [("━", style) if i < here else ("─", "faint") for i in range(room)]
        for position, severity in player.marks:
            column = min(room - 1, (position - 1) * (room - 1) // max(1, length - 1))
            track[column] = level_mark(SEVERITIES[severity])
        track[here] = ("●", "focus" if self.lit else "text")
        spans: Line = []
        for glyph, name in track:
            if spans and spans[-1][1] == name:
                spans[-1] = (spans[-1][0] + glyph, name)
            else:
                spans.append((glyph, name))
        return spans
