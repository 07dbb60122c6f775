"""What the layers of another tool said of its run; ours stand beside it, recomputed."""

from typing import Literal

from ralph_tui.events.base import Event, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.terms import in_words

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

    @property
    def words(self) -> str:
        """``REDIRECT oscillating: 3 cycles``, ``strategy pivot: no progress``."""
        ours = self.layer == "oversight"
        act = self.act if ours else in_words(self.act)
        about = in_words(self.about) if ours and self.act else ""
        head = " ".join(part for part in ("" if ours else self.layer, act, about) if part)
        said = self.text.lstrip("; ")
        return f"{head}: {said}" if head else said

    def row(self) -> Row:
        """The log leaves out what asks for no attention, and what was said before."""
        numbers = " ".join(f"{name} {value:.3g}" for name, value in self.values.items())
        detail = "\n".join(part for part in (self.text, self.detail, numbers) if part)
        return Row(self.level, f"{self.tool}:", self.words, detail)
