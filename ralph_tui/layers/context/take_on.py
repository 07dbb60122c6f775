"""How many of the plan's open items one session can take on, and in which order. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from ralph_tui.layers.context.sizes import Estimate
from ralph_tui.layers.context.window import FULL, order

Open = tuple[str, Estimate]
"""An open item and its expected share of a window."""


class TakeOn(NamedTuple):
    """Advice on what to take on in a session that starts with an empty window."""

    fitting: tuple[Open, ...]
    """Items that fit into the session, in order; at least one if any item need not be split. A
    single item may need more room than the session has: another session then continues it.
    """
    later: tuple[Open, ...] = ()
    """Items for later sessions."""
    split: tuple[Open, ...] = ()
    """Items that are too large for any window."""


def take_on(items: Sequence[Open], room: float) -> TakeOn:
    """Choose from the plan's open items; `room` is in points of the window."""
    whole = [one for one in items if one[1].high < FULL]
    split = tuple(one for one in items if one[1].high >= FULL)
    ordered = [whole[n] for n in order([size.high for _, size in whole], room).places]
    fit, left = 0, room
    for _, size in ordered:
        left -= size.high
        if left < 0 and fit:
            break
        fit += 1
    return TakeOn(tuple(ordered[:fit]), tuple(ordered[fit:]), split)
