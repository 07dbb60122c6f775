"""How keys move a recorded run in its time, and what is said where that leads nowhere."""

from collections.abc import Callable
from typing import NamedTuple

from ralph_tui.ports.player import Player

FIRST, LAST = "this is the beginning: no earlier event", "this is the end: no further event"


class Move(NamedTuple):
    """One way to move."""

    how: Callable[[Player], None]
    still: str
    """Said where nothing moves."""


PLAY = Move(lambda player: player.toggle(), "there is nothing to play: it has one event")
BACK = Move(lambda player: player.seek(player.position - 1), FIRST)
FORWARD = Move(lambda player: player.seek(player.position + 1), LAST)
START = Move(lambda player: player.seek(1), FIRST)
END = Move(lambda player: player.seek(player.length), LAST)
SLOWER = Move(lambda player: player.change_speed(-1), "1x is the slowest")
FASTER = Move(lambda player: player.change_speed(1), "instant is the fastest")
BACK_ITERATION = Move(lambda player: player.step_iteration(-1), FIRST)
FORWARD_ITERATION = Move(lambda player: player.step_iteration(1), LAST)
LAST_MARK = Move(lambda player: player.step_mark(-1), "no earlier alarm or question")
NEXT_MARK = Move(lambda player: player.step_mark(1), "no further alarm or question")
