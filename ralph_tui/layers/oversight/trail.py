"""What the iterations of a run leave behind for the overseer: as small after 1000 as after one."""

from dataclasses import dataclass, replace

from ralph_tui.layers.control import History, below
from ralph_tui.layers.oversight.behavior import Evidence
from ralph_tui.text.format import percent
from ralph_tui.text.words import without_particulars

MANY_ACTIONS = 5000
LOW = 30.0
"""Points: a mean completion below this is little for so many actions."""
IDLE_ACTIONS = 1000


@dataclass(frozen=True)
class Trail:
    """Sums and streaks, up to the latest reading."""

    actions: int = 0
    """Of the whole run."""
    idle_actions: int = 0
    """Actions since the best last rose by a gain."""
    best: float | None = None
    """The best those are counted from, points; None before the first reading."""
    completion: float = 0.0
    """Sum of all readings, points."""
    deviations: int = 0
    """Iterations in a row that left the objective."""
    error: str = ""
    """The failure of the latest session without what differs from one to the next."""
    errors: int = 0
    """Sessions in a row that failed so."""
    conflicted: bool = False
    """Git conflicts were unresolved."""

    def after(self, history: History, evidence: Evidence, *, strayed: bool) -> "Trail":
        """The trail with the iteration of the latest reading in it."""
        actions = max(0, evidence.actions)
        best = history.baseline if self.best is None or history.restarted else self.best
        best -= history.taken
        gained = history.gained_since(best)
        error = without_particulars(evidence.error)
        return replace(
            self,
            actions=self.actions + actions,
            idle_actions=0 if gained else self.idle_actions + actions,
            best=history.best if gained else best,
            completion=self.completion + history.reading,
            deviations=self.deviations + 1 if strayed else 0,
            error=error,
            errors=(self.errors + 1 if error == self.error else 1) if error else 0,
            conflicted=bool(evidence.conflicts),
        )

    def burn(self, history: History) -> str | None:
        """Why so many actions are too many, one sentence; None while they are not."""
        mean = self.completion / history.count
        if self.actions >= MANY_ACTIONS and below(mean, LOW):
            return f"{self.actions} actions brought completion to a mean of {percent(mean)}."
        if self.idle_actions >= IDLE_ACTIONS:
            return (
                f"{self.idle_actions} actions since the best, {percent(history.best)}, "
                "last rose enough to count."
            )
        return None
