"""Episodes: one pathology, from the REDIRECT that met it to the new best that ends it.

One is open at a time. While it is open its own clock decides when a human is asked; whatever else
shows is evidence in it, so that one trouble never asks twice.
"""

from dataclasses import dataclass, replace

from ralph_tui.events.control import AlarmName
from ralph_tui.events.oversight import Subject
from ralph_tui.layers.control import TOLERANCE, History, Patience, below, points


@dataclass(frozen=True)
class Mark:
    """The moment an episode is measured from."""

    iteration: int
    reading: float
    """Points."""
    best: float
    """Points."""
    conditions: frozenset[AlarmName]
    """The progress conditions that held then."""

    @classmethod
    def at(cls, history: History, conditions: frozenset[AlarmName]) -> "Mark":
        """The latest reading."""
        return cls(history.iteration, history.reading, history.best, conditions)


@dataclass(frozen=True)
class Episode:
    """Opened by a REDIRECT; approved, declined, or not yet answered."""

    about: Subject
    opening: Mark
    paused: Mark | None = None
    """Its latest PAUSE."""
    approved: bool | None = None
    """None until the REDIRECT is answered."""

    @property
    def mark(self) -> Mark:
        """Its latest PAUSE, its opening before the first."""
        return self.paused or self.opening

    def has_ended(self, history: History) -> bool:
        """Whether the best stands a whole gain above the one at the opening, or at 100."""
        return history.complete or history.gained_since(self.opening.best)

    def damps(self, history: History) -> bool:
        """Whether its redirect damps the gains of the latest reading."""
        return (
            self.about == "oscillating"
            and self.approved is True
            and self.opening.iteration < history.iteration
            and not self.has_ended(history)
        )

    def rebased(self, history: History) -> "Episode":
        """The same episode on another sensor's scale: bests of the old one mean nothing on it."""

        def moved(mark: Mark) -> Mark:
            return replace(mark, reading=history.reading, best=history.best)

        return replace(
            self,
            opening=moved(self.opening),
            paused=moved(self.paused) if self.paused else None,
        )

    def pause_reason(
        self, history: History, conditions: frozenset[AlarmName], patience: Patience
    ) -> str | None:
        """Why this reading asks for a PAUSE, one sentence; None when it does not."""
        now, mark = history.iteration, self.mark
        if self.paused and now < self.paused.iteration + max(5, patience.short):
            return None
        age = now - self.opening.iteration
        standing = self.about in ("stuck", "objective_deviation")
        wait = max(2, patience.short - 1) if standing else 2
        level = abs(history.best - mark.best) <= TOLERANCE
        escape = mark.reading + history.gain(mark.reading)
        if age >= wait and level and below(history.reading, escape):
            return (
                f"Completion is {points(history.reading)} and the best still {points(mark.best)}, "
                f"as it was at iteration {mark.iteration}."
            )
        if now >= mark.iteration + 2 * patience.long and not history.gained_since(mark.best):
            return (
                f"In the {now - mark.iteration} iterations since iteration {mark.iteration} "
                f"the best rose by only {history.best - mark.best:.3g} points."
            )
        new = sorted(conditions - mark.conditions)
        if age >= 2 and new:
            return f"Now it is also {' and '.join(new)}, two or more iterations into the redirect."
        return None
