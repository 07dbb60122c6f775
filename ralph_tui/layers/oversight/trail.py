"""Totals and streaks of a run for the overseer; their size does not grow with the run."""

from dataclasses import dataclass, replace

from ralph_tui.layers.control.history import History, above, below
from ralph_tui.layers.oversight.behavior import Evidence
from ralph_tui.text.format import percent
from ralph_tui.text.words import without_particulars

MANY_ACTIONS = 5000
LOW = 30.0
"""Mean completion, in points, below which `MANY_ACTIONS` actions are too many."""
IDLE_ACTIONS = 1000


@dataclass(frozen=True)
class Trail:
    """Totals and streaks up to the latest measurement."""

    actions: int = 0
    """Number of actions in the run so far."""
    idle_actions: int = 0
    """Number of actions since the best completion last rose by at least one full gain."""
    best: float | None = None
    """The best completion at the start of that count, in points; None before any measurement."""
    completion: float = 0.0
    """Sum of all measurements, in points."""
    deviations: int = 0
    """Number of consecutive iterations off the objective, including the latest."""
    error: str = ""
    """The latest session's failure, without details that vary between sessions."""
    errors: int = 0
    """Number of consecutive sessions with that failure, including the latest."""
    invalid: tuple[tuple[str, int], ...] = ()
    """Current validation errors, each with its consecutive iterations without a new best."""
    conflicted: bool = False
    """True if there were unresolved git conflicts."""

    def after(self, history: History, evidence: Evidence, *, deviated: bool) -> "Trail":
        """Return the trail including the latest measurement's iteration."""
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
            deviations=self.deviations + 1 if deviated else 0,
            error=error,
            errors=(self.errors + 1 if error == self.error else 1) if error else 0,
            invalid=self._invalid_after(history, evidence),
            conflicted=bool(evidence.conflicts),
        )

    def _invalid_after(self, history: History, evidence: Evidence) -> tuple[tuple[str, int], ...]:
        names = dict.fromkeys(name for name, _ in evidence.invalid)
        rose = above(history.rise, 0)
        return tuple((name, 0 if rose else self.recurred(name) + 1) for name in names)

    def recurred(self, name: str) -> int:
        """Return for how many iterations in a row a validation error has recurred."""
        return dict(self.invalid).get(name, 0)

    def burn(self, history: History) -> str | None:
        """Explain in one sentence why there are too many actions; None if there are not."""
        mean = self.completion / history.count
        if self.actions >= MANY_ACTIONS and below(mean, LOW):
            return f"In {self.actions} actions, completion averaged {percent(mean)}."
        if self.idle_actions >= IDLE_ACTIONS:
            return (
                f"{self.idle_actions} actions since completion last rose noticeably; the best is "
                f"{percent(history.best)}."
            )
        return None
