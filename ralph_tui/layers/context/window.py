"""Forecast when a window will be full, and recommend what to do about it.

Standard library only.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil
from typing import NamedTuple, Protocol

from ralph_tui.layers.context.levels import Level
from ralph_tui.text.format import count

Reading = tuple[int, int]
"""Number of the session's tool calls so far, and of tokens in its window after them."""
STEPS = 3
"""Minimum number of steps between measurements that a forecast needs."""
FURTHEST = 500
"""Maximum number of tool calls that a forecast looks ahead."""


def growth_per_call(readings: Sequence[Reading]) -> float | None:
    """Return the tokens that a tool call adds; None if unknown.

    This is the mean of the latest calls without the step that added most. A session starts with a
    jump, and one large file says little about the next call. Measurements before the window shrank
    (a compaction) do not count.
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
    """Return the tool calls until this percentage of the window is used.

    None if that is unknown, reached already, or far away.
    """
    growth = growth_per_call(readings)
    if growth is None or not window:
        return None
    missing = window * percent / 100 - readings[-1][1]
    if missing <= 0 or missing > growth * FURTHEST:
        return None
    return ceil(missing / growth)


def forecast_words(percent: float, calls: int | None) -> str:
    """Format a forecast: ``85 % in about 12 tool calls``; empty without `calls`."""
    if calls is None:
        return ""
    about = calls if calls < 100 else round(calls, -1)
    return f"{percent:g} % in about {count(about, 'tool call')}"


RECENT = 5
"""Number of recent iterations to examine."""
FILLED = 2
"""Minimum number of full windows among these for prompts to advise loading less."""
HIGH = 60.0
"""Window usage, in points, above which prompts advise leaving room."""
FULL = 100.0
"""Number of points in a whole window; an item that may use them all must be split."""


class Use(Protocol):
    """Window usage of one iteration."""

    @property
    def peak_percent(self) -> float | None:
        """Highest used percentage of the window; None if unknown."""

    @property
    def filled(self) -> int:
        """Number of full windows: those that led to a handoff, and those compacted by the agent."""


def windows_fill(history: Iterable[Use], checkpoint_percent: float = 85.0) -> bool:
    """True if the windows of this run fill up, so that prompts should advise loading less.

    That requires two full windows within the last five iterations with known usage.
    """
    known = [use for use in history if use.filled or use.peak_percent is not None]
    return (
        sum(
            max(use.filled, (use.peak_percent or 0.0) >= checkpoint_percent)
            for use in known[-RECENT:]
        )
        >= FILLED
    )


def windows_high(history: Iterable[Use]) -> bool:
    """True if a window of the last five iterations with known usage was more than 60 % full."""
    known = [use.peak_percent for use in history if use.peak_percent is not None]
    return any(peak > HIGH for peak in known[-RECENT:])


class Order(NamedTuple):
    """An order in which to take the plan's open items."""

    places: tuple[int, ...]
    """Indices of items in the plan; the first is taken first."""
    why: str
    """A sentence without a full stop; empty if there is no choice."""


def order(highs: Sequence[float], left: float | None) -> Order:
    """Order items by the points each may take, with `left` points of the window left.

    If even the largest item fits, large items come first, because later only small ones still fit.
    Otherwise the small items that fit come first, and a fresh window takes the rest. If `left` is
    None (unknown), the plan's order is kept. Items of the same size keep the plan's order. Items
    too large for any window come last: they must be split.
    """
    plan = tuple(range(len(highs)))
    whole = [n for n in plan if highs[n] < FULL]
    if len(plan) < 2 or left is None or not whole:
        return Order(plan, "")
    split = [n for n in plan if highs[n] >= FULL]
    large = sorted(whole, key=lambda n: -highs[n])
    if highs[large[0]] <= left:
        why = "the window has room for any item: largest first"
        return Order((*large, *split), why)
    fitting: list[int] = []
    room = left
    for n in sorted(whole, key=lambda n: highs[n]):
        if highs[n] > room:
            break
        fitting.append(n)
        room -= highs[n]
    rest = [n for n in large if n not in fitting]
    fresh = "a fresh window starts with the largest"
    if not fitting:
        return Order((*rest, *split), f"none fits in the remaining {left:.0f} %: {fresh}")
    still = "1 still fits" if len(fitting) == 1 else f"{len(fitting)} still fit"
    why = f"{still} in the remaining {left:.0f} %, smallest first; {fresh}"
    return Order((*fitting, *rest, *split), why)


def recommendation(level: Level, checkpoint_percent: float, *, hands_off: bool) -> str:
    """Recommend what to do about a running session, by how full its window is."""
    at = f"{checkpoint_percent:g} %"
    if not hands_off:
        if level in ("L0", "L1"):
            return "Safe to continue. No checkpoint triggers: context.rollover is off."
        return "context.rollover is off; hand off with ralph-tui checkpoint --rollover."
    match level:
        case "L0":
            return f"Safe to continue. A checkpoint triggers automatically at {at}."
        case "L1":
            return (
                "Finish the current item and start nothing large. A checkpoint triggers "
                f"automatically at {at}."
            )
        case "L2":
            return "The session hands off as soon as the running tool ends."
    return "The session ends immediately and hands off."


_LOAD_LESS = "load files only when needed, leave research to subagents, and split large items."
FILLS = f"This run's context windows fill up: {_LOAD_LESS}"
"""Recommendation if `windows_fill`."""
FILLED_UP = f"This run's context windows filled up: in the next run, {_LOAD_LESS}"
"""The same after the run."""
FILLED_ONCE = f"One context window of this run filled up: if it happens again, {_LOAD_LESS}"
"""The same if only one window filled up."""
HAD_ROOM = "This run's context windows had room: no change needed."
NOT_KNOWN = "Context usage of this run is unknown."
