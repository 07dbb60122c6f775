"""The circuit breaker: iterations in which nothing happens at all.

Only what is known counts: an iteration whose changes cannot be told, or whose step a rollback, a
grown total or another sensor made, closes the circuit like one that changed a file.
"""

from dataclasses import dataclass

from ralph_tui.layers.control import History
from ralph_tui.layers.control.history import above
from ralph_tui.layers.oversight.behavior import Evidence

TRIPS = 3
"""Iterations in a row."""


@dataclass(frozen=True)
class Circuit:
    """Streaks of iterations without a changed file, up to the latest reading."""

    idle: int = 0
    """That many iterations."""
    barren: int = 0
    """The latest of them without a new best."""
    output: str = ""
    """What the completion command said last, as a fingerprint."""
    same: int = 0
    """The latest of them in which it said the same."""
    cut: str = ""
    """Why the latest session was stopped, where each of them reached a limit of its own."""

    def after(self, history: History, evidence: Evidence) -> "Circuit":
        """The streaks with the iteration of the latest reading in them."""
        output = evidence.output
        if not evidence.unchanged or history.excused:
            return Circuit(output=output)
        goes_on = self.idle > 0 and output == self.output
        return Circuit(
            self.idle + 1,
            0 if above(history.rise, 0) else self.barren + 1,
            output,
            (self.same + 1 if goes_on else 1) if output else 0,
            evidence.cut if self.cut or not self.idle else "",
        )

    @property
    def tripped(self) -> str:
        """Why the loop is not to go on as it does; empty while it may."""
        idle = "iterations in a row changed no file"
        cut = f" Each session was cut off; the last one: {self.cut}" if self.cut else ""
        if self.barren >= TRIPS:
            return f"{self.barren} {idle} and brought no new best.{cut}"
        if self.same >= TRIPS:
            return f"{self.same} {idle}, and the completion command said the same after each.{cut}"
        return ""
