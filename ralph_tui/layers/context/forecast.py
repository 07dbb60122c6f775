"""How many tool calls a window still takes, by what the last ones have added. Pure.

Standard library only.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import ceil

from ralph_tui.text.format import count

Reading = tuple[int, int]
"""Tool calls of the session so far, and tokens in its window after them."""
STEPS = 3
"""Steps from one reading to the next, below which nothing is said."""
FURTHEST = 500
"""Tool calls, beyond which nothing is said."""


def growth_per_call(readings: Sequence[Reading]) -> float | None:
    """Tokens that a tool call adds; None where that cannot be said.

    It is the mean of the last calls, the step that added most left out: a session begins with a
    leap, and one large file read tells little of the next call. What was there before the window
    shrank (a compaction) does not count.
    """
    steps: list[tuple[int, int]] = []
    for (calls, tokens), (later, more) in pairwise(readings):
        if more < tokens or later < calls:
            steps.clear()
        elif later > calls:
            steps.append((later - calls, more - tokens))
    if len(steps) < STEPS:
        return None
    steps.remove(max(steps, key=lambda step: step[1] / step[0]))
    growth = sum(added for _, added in steps) / sum(calls for calls, _ in steps)
    return growth or None


def calls_until(percent: float, readings: Sequence[Reading], window: int | None) -> int | None:
    """Tool calls until so much of the window is used.

    None where that cannot be said, where it is used already, and where it is far away.
    """
    growth = growth_per_call(readings)
    if growth is None or not window:
        return None
    missing = window * percent / 100 - readings[-1][1]
    if missing <= 0 or missing > growth * FURTHEST:
        return None
    return ceil(missing / growth)


def forecast_words(percent: float, calls: int | None) -> str:
    """``85 % in about 12 tool calls``; empty where nothing can be said."""
    if calls is None:
        return ""
    about = calls if calls < 100 else round(calls, -1)
    return f"{percent:g} % in about {count(about, 'tool call')}"
