"""Events from another tool's layers in an imported run; ours are recomputed."""

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
    """A finding, decision or recommendation of the other tool."""

    kind: Literal["foreign_verdict"] = "foreign_verdict"
    iteration: int
    tool: Line
    """The tool's name, as in ``aiwg``."""
    layer: ForeignLayer
    level: ForeignLevel = "log"
    """The verdict's severity in our terms."""
    act: Line = ""
    """LOG, WARN, REDIRECT, PAUSE, ABORT, persist, pivot or escalate; empty for a mere finding."""
    about: Line = ""
    """A detection (by our own name for it if there is one), a phase or a rule."""
    text: Plain
    """One or more sentences from the other tool."""
    detail: Plain = ""
    """Recorded evidence, instructions and recommendations, shortened."""
    values: dict[Line, float] = {}
    """The tool's numbers, under its own names: ``proportional``, ``kp``, ``progress``."""

    @property
    def words(self) -> str:
        """A text like ``REDIRECT oscillating: 3 cycles`` or ``strategy pivot: no progress``."""
        ours = self.layer == "oversight"
        act = self.act if ours else in_words(self.act)
        about = in_words(self.about) if ours and self.act else ""
        head = " ".join(part for part in ("" if ours else self.layer, act, about) if part)
        said = self.text.lstrip("; ")
        return f"{head}: {said}" if head else said

    def row(self) -> Row:
        numbers = " ".join(f"{name} {value:.3g}" for name, value in self.values.items())
        detail = "\n".join(part for part in (self.text, self.detail, numbers) if part)
        return Row(self.level, f"{self.tool}:", self.words, detail)
