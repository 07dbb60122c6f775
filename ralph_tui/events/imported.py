"""What the layers of another tool said of its run; ours stand beside it, recomputed."""

from typing import Literal

from ralph_tui.events.base import Event
from ralph_tui.events.text import Line, Plain

__all__ = ["ForeignVerdict"]

ForeignLayer = Literal[
    "control", "oversight", "strategy", "assessment", "validation", "memory", "selection"
]


ForeignLevel = Literal["log", "warn", "critical"]


class ForeignVerdict(Event):
    """One thing that the other tool found, decided or recommended."""

    kind: Literal["foreign_verdict"] = "foreign_verdict"
    iteration: int
    tool: Line
    """``aiwg``."""
    layer: ForeignLayer
    level: ForeignLevel = "log"
    """How loud it was, in our words."""
    act: Line = ""
    """What it did: LOG, WARN, REDIRECT, PAUSE, ABORT; persist, pivot, escalate; empty: it found."""
    about: Line = ""
    """A detection by our name where we have one, else by its own; a phase; a rule."""
    text: Plain
    """One sentence or a few, in its own words."""
    detail: Plain = ""
    """Evidence, instructions, recommendations: as much as was recorded, shortened."""
    values: dict[Line, float] = {}
    """Its numbers by their own names: ``proportional``, ``kp``, ``progress``."""
