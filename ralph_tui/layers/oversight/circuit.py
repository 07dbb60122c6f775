"""The circuit breaker: detect iterations in which nothing happens at all.

If in doubt, the circuit closes. An iteration closes it if it changed a file or if its changes are
unknown. So does a step caused by a rollback, a larger total or a change of source.
"""

from dataclasses import dataclass

from ralph_tui.layers.control.history import History, above
from ralph_tui.layers.oversight.behavior import Evidence

TRIPS = 3
"""Number of iterations in a row that trips the circuit breaker."""


@dataclass(frozen=True)
class Circuit:
    """Streaks of iterations without a changed file, up to the latest measurement."""

    idle: int = 0
    """Length of the streak."""
    barren: int = 0
    """How many of its latest iterations set no new best."""
    output: str = ""
    """A fingerprint of the completion command's last result."""
    same: int = 0
    """How many of its latest iterations had that same result."""
    cut: str = ""
    """Why the latest session was stopped; empty unless every session reached a session limit."""

    def after(self, history: History, evidence: Evidence) -> "Circuit":
        """Return the streaks including the latest measurement's iteration."""
        output = evidence.output
        if not evidence.unchanged or history.excused:
            return Circuit(output=output)
        continues = self.idle > 0 and output == self.output
        return Circuit(
            self.idle + 1,
            0 if above(history.rise, 0) else self.barren + 1,
            output,
            (self.same + 1 if continues else 1) if output else 0,
            evidence.cut if self.cut or not self.idle else "",
        )

    @property
    def tripped(self) -> str:
        """Why the loop should not continue as it is; empty if it may."""
        idle = "iterations in a row changed no files"
        cut = f" Each session was cut off; the last one: {self.cut}" if self.cut else ""
        if self.barren >= TRIPS:
            return f"{self.barren} {idle} and brought no new best.{cut}"
        if self.same >= TRIPS:
            return (
                f"{self.same} {idle}, and the completion command's output was the same after "
                f"each.{cut}"
            )
        return ""
