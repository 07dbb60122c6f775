"""Forecast when a window fills, and recommend what to do about it. Pure.

Standard library only.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil
from typing import NamedTuple, Protocol

from ralph_tui.layers.context.levels import Level
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


RECENT = 5
"""Iterations that are looked back on."""
FILLED = 2
"""Windows of these that filled up: then it was no accident."""
FULL = 100.0
"""Points of a window; an item that may take all of them must be split."""


class Use(Protocol):
    """How the window was used in one iteration."""

    @property
    def peak_percent(self) -> float | None:
        """Of the window; None while nothing is known."""

    @property
    def filled(self) -> int:
        """Windows that were full: those handed over for it, and those the agent summed up."""


def windows_fill(history: Iterable[Use], checkpoint_percent: float = 85.0) -> bool:
    """Whether windows of this run fill up: then prompts advise how to load less.

    They do when two windows of the last five iterations of which anything is known did.
    """
    known = [use for use in history if use.filled or use.peak_percent is not None]
    return (
        sum(
            max(use.filled, (use.peak_percent or 0.0) >= checkpoint_percent)
            for use in known[-RECENT:]
        )
        >= FILLED
    )


class Order(NamedTuple):
    """In which order to take the plan's open items."""

    places: tuple[int, ...]
    """Of the items as the plan has them, the first to be taken first."""
    why: str
    """In a sentence without its end; empty where there is no choice."""


def order(highs: Sequence[float], left: float | None) -> Order:
    """What to take first by what each takes at most, with so many points of the window left.

    A window that has room for any of them takes the large ones first: later only the small ones
    still fit. One that has not takes the small ones that fit, and leaves the rest to a fresh one.
    `left` is None where that is not known: then the plan's order stands. Items of one size keep
    the plan's order, and those that no window holds come last: they are to be split.
    """
    plan = tuple(range(len(highs)))
    whole = [n for n in plan if highs[n] < FULL]
    if len(plan) < 2 or left is None or not whole:
        return Order(plan, "")
    split = [n for n in plan if highs[n] >= FULL]
    large = sorted(whole, key=lambda n: -highs[n])
    if highs[large[0]] <= left:
        why = "the window has room for any of them: the largest first"
        return Order((*large, *split), why)
    fitting: list[int] = []
    room = left
    for n in sorted(whole, key=lambda n: highs[n]):
        if highs[n] > room:
            break
        fitting.append(n)
        room -= highs[n]
    rest = [n for n in large if n not in fitting]
    fresh = "a fresh window takes the largest first"
    if not fitting:
        return Order((*rest, *split), f"none fits into the {left:.0f} % that are left: {fresh}")
    still = "1 still fits" if len(fitting) == 1 else f"{len(fitting)} still fit"
    why = f"{still} into the {left:.0f} % that are left, the smallest first; {fresh}"
    return Order((*fitting, *rest, *split), why)


def recommendation(level: Level, checkpoint_percent: float, *, rolls_over: bool) -> str:
    """What to do about a session that works, by how full its window is."""
    at = f"{checkpoint_percent:g} %"
    if not rolls_over:
        if level in ("L0", "L1"):
            return "Safe to continue. No checkpoint will trigger: context.rollover is off."
        return "Hand over with ralph-tui checkpoint --rollover: context.rollover is off."
    match level:
        case "L0":
            return f"Safe to continue. Checkpoint will trigger automatically at {at}."
        case "L1":
            return (
                "Finish what is begun, and begin nothing large. Checkpoint will trigger "
                f"automatically at {at}."
            )
        case "L2":
            return "The session hands over as soon as the running tool has ended."
    return "The session is ended at once, and hands over."


_LOAD_LESS = "load files when they are needed, leave research to subagents, and split large items."
FILLS = f"Windows of this run fill up: {_LOAD_LESS}"
"""What is recommended where `windows_fill`."""
FILLED_UP = f"Windows of this run filled up: in a next run {_LOAD_LESS}"
"""The same when the run is over."""
FILLED_ONCE = f"A window of this run filled up once: if it happens again, {_LOAD_LESS}"
"""The same where it was only one."""
HAD_ROOM = "Windows of this run had room: go on as before."
NOT_KNOWN = "How full the windows of this run were is not known."
