"""Moves in time: seeks in a recorded run, or shows an earlier iteration of a live one."""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ralph_tui.ports.player import Player
from ralph_tui.text.format import place
from ralph_tui.text.terms import LEVELS, SEVERITIES, alarm_words
from ralph_tui.tui.cockpit.body import Body
from ralph_tui.tui.cockpit.run_screen import RunScreen
from ralph_tui.tui.panes.pane import IterationPane

FIRST, LAST = "already at the first event", "already at the last event"


class Move(NamedTuple):
    """A way to move in a recorded run."""

    how: Callable[[Player], None]
    no_effect: str
    """The notice shown if nothing moves."""


MOVES: Mapping[str, Move] = {
    "play": Move(lambda player: player.toggle(), "nothing to play: there is only one event"),
    "back": Move(lambda player: player.seek(player.position - 1), FIRST),
    "forward": Move(lambda player: player.seek(player.position + 1), LAST),
    "start": Move(lambda player: player.seek(1), FIRST),
    "end": Move(lambda player: player.seek(player.length), LAST),
    "slower": Move(lambda player: player.change_speed(-1), "1x is the slowest speed"),
    "faster": Move(lambda player: player.change_speed(1), "instant is the fastest speed"),
    "back_iteration": Move(lambda player: player.step_iteration(-1), FIRST),
    "forward_iteration": Move(lambda player: player.step_iteration(1), LAST),
    "previous_mark": Move(lambda player: player.step_mark(-1), "no earlier alarm or question"),
    "next_mark": Move(lambda player: player.step_mark(1), "no later alarm or question"),
}
"""Moves by action name."""


class Navigator:
    """Carries out movement keys, and reports when one has no effect."""

    def __init__(self, host: RunScreen, body: Body, tick: Callable[[], None]) -> None:
        """`tick` brings the screen up to date."""
        self._host, self._tick = host, tick
        self._panes = [pane for pane in body.panes.values() if isinstance(pane, IterationPane)]
        self._chosen: int | None = None
        """The iteration shown by tests, prompt and details in a live run; None for the latest."""

    def move(self, name: str) -> None:
        """Move in a recorded run, and refresh at once so that the next key starts from there."""
        player = self._host.source.player
        if player is None:
            return
        move = MOVES[name]
        before, played = (player.position, player.speed), player.playing
        move.how(player)
        moved = before != (player.position, player.speed)
        if not moved and not (player.playing or played):
            self._host.report(move.no_effect)
        elif moved and name in ("next_mark", "previous_mark"):
            self._report_mark(player)
        self._tick()

    def _report_mark(self, player: Player) -> None:
        """Report which alarm or question the replay moved to."""
        number = bisect_left(player.marks, player.position, key=lambda mark: mark.position)
        mark, many = player.marks[number], len(player.marks)
        words = f"{LEVELS[SEVERITIES[mark.severity]].glyph} {alarm_words(mark.name)}"
        self._host.report(f"{words}, {place(mark.iteration)} · {number + 1} of {many}")

    def step_iteration(self, by: int) -> None:
        """View an earlier or later iteration; in a recorded run, seek to it."""
        if self._host.source.player is not None:
            self.move("forward_iteration" if by > 0 else "back_iteration")
        elif not self._step(by):
            self._host.report("no more iterations in that direction")

    def _step(self, by: int) -> bool:
        numbers = list(dict.fromkeys(s.number for s in self._host.state.timeline.spans))
        here = numbers.index(self._chosen) if self._chosen in numbers else len(numbers) - 1
        there = here + by
        if not 0 <= there < len(numbers):
            return False
        latest = there == len(numbers) - 1
        self._show(None if latest else numbers[there])
        where = f"iteration {numbers[there]}" if numbers[there] else "before iteration 1"
        more = ", the latest" if latest else "; esc: latest"
        self._host.report(f"{where}: tests, prompt, details{more}")
        return True

    def end(self) -> bool:
        """Return to the latest iteration; False if it was already shown."""
        was = self._chosen is not None
        self._show(None)
        return was

    def _show(self, iteration: int | None) -> None:
        self._chosen = iteration
        for pane in self._panes:
            pane.show_iteration(iteration)
