"""Episodes: each spans a pathology from the first response to the new best that ends it.

A REDIRECT opens an episode, as does a PAUSE by the circuit breaker or for a critical detection. At
most one is open. An open episode asks the user on its own schedule, at growing intervals, and only
while a progress condition holds or nothing happens at all. Other findings are only evidence in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ralph_tui.events.oversight import Subject
from ralph_tui.layers.control.alarms import Alarm
from ralph_tui.layers.control.history import History, below
from ralph_tui.layers.control.law import Budget, Patience
from ralph_tui.layers.oversight.behavior import name_of
from ralph_tui.layers.oversight.circuit import TRIPS
from ralph_tui.text.format import count


@dataclass(frozen=True)
class Mark:
    """The state of a run when an episode opened or paused."""

    iteration: int
    reading: float
    """Points."""
    best: float
    """Points."""

    @classmethod
    def at(cls, history: History) -> "Mark":
        """Return the mark of the latest measurement."""
        return cls(history.iteration, history.reading, history.best)


@dataclass(frozen=True)
class Pause:
    """The reason for asking the user."""

    about: Subject
    reason: str
    """One sentence that states the evidence."""
    continues: bool = False
    """True if the run continues without an answer, because new tests still pass."""


_OPENINGS: dict[bool | None, str] = {True: "redirect", False: "intervention", None: "first warning"}
"""What opened an episode, in words, by the user's answer; None: the overseer only warned."""


@dataclass(frozen=True)
class Episode:
    """An episode opened by a REDIRECT, or by a PAUSE in its place."""

    about: Subject
    opening: Mark
    paused: Mark | None = None
    """The latest PAUSE."""
    pauses: int = 0
    """Number of PAUSEs so far."""
    approved: bool | None = None
    """None until the REDIRECT is answered."""
    reported: frozenset[Subject] = frozenset()
    """Critical conditions that held at a PAUSE."""

    @classmethod
    def of_pause(cls, about: Subject, history: History) -> "Episode":
        """Open an episode with its first PAUSE, which has no instructions to approve."""
        now = Mark.at(history)
        return cls(about, now, paused=now, pauses=1, approved=False)

    @property
    def mark(self) -> Mark:
        """The latest PAUSE, or the opening if there was none."""
        return self.paused or self.opening

    def has_ended(self, history: History) -> bool:
        """True if the best is a whole gain above the best at the opening, or 100 is reached."""
        return history.complete or history.gained_since(self.opening.best)

    def damps(self, history: History) -> bool:
        """True if this episode's redirect damps the gains of the latest measurement."""
        return (
            self.about == "oscillating"
            and self.approved is True
            and self.opening.iteration < history.iteration
            and not self.has_ended(history)
        )

    def rebased(self, history: History) -> "Episode":
        """Return the episode on a new source's scale, where the old source's bests mean nothing."""
        return self._with_marks(lambda mark: (history.reading, history.best))

    def lowered(self, points: float) -> "Episode":
        """Return the episode after a larger total or a rollback subtracted points."""
        return self._with_marks(lambda mark: (mark.reading - points, mark.best - points))

    def _with_marks(self, move: Callable[[Mark], tuple[float, float]]) -> "Episode":
        def moved(mark: Mark) -> Mark:
            reading, best = move(mark)
            return replace(mark, reading=reading, best=best)

        return replace(
            self, opening=moved(self.opening), paused=moved(self.paused) if self.paused else None
        )

    def asked(self, history: History, conditions: Sequence[Alarm]) -> "Episode":
        """Return the episode after a PAUSE at the latest measurement."""
        reported = self.reported | {name_of(one.alarm) for one in _critical(conditions)}
        return replace(self, paused=Mark.at(history), pauses=self.pauses + 1, reported=reported)

    def pause_at_once(self, conditions: Sequence[Alarm]) -> Pause | None:
        """Return a PAUSE about a critical condition that the user does not know of, if any."""
        for one in _critical(conditions):
            if (about := name_of(one.alarm)) not in (self.about, *self.reported):
                return Pause(about, one.reason)
        return None

    def is_due(self, history: History, budget: Budget, patience: Patience) -> bool:
        """True if enough iterations have passed since the opening or the latest PAUSE."""
        return history.iteration >= self._due(budget, patience, swinging=False)

    def _due(self, budget: Budget, patience: Patience, *, swinging: bool) -> int:
        """Return the iteration of the next PAUSE; if `swinging`, the first comes sooner."""
        if self.paused:
            wait: int = max(5, patience.short) * 2 ** (self.pauses - 1)
            return self.paused.iteration + wait
        first = max(2, budget.stride) if swinging else _grace(budget, patience)
        return self.opening.iteration + first

    def pause(
        self,
        history: History,
        conditions: Sequence[Alarm],
        budget: Budget,
        patience: Patience,
        circuit: str = "",
    ) -> Pause | None:
        """Return the PAUSE due at this measurement, if any.

        `conditions` are those about progress; `circuit` says why the circuit has tripped.
        """
        up = {condition.alarm: condition.reason for condition in conditions}
        now, mark = history.iteration, self.mark
        since = now - self.opening.iteration
        grace = _grace(budget, patience)
        swinging = [name for name in ("REGRESSING", "OSCILLATING") if name in up]
        due = self._due(budget, patience, swinging=bool(swinging))
        if circuit and since >= TRIPS and not self.paused:  # the redirect has had no effect at all
            due = now
        if not (up or circuit) or now < due:
            return None
        age = f"{count(since, 'iteration')} after the {_OPENINGS[self.approved]}"
        if circuit:
            return Pause("circuit", f"{circuit} That is {age}.")
        escape = mark.reading + history.gain(mark.reading)
        if "OSCILLATING" not in up and not below(history.reading, escape):
            return None
        about = name_of(conditions[0].alarm) if self.about == "circuit" else self.about
        if swinging:
            return Pause(about, f"{up[swinging[0]]} That is {age}.")
        if history.since_new >= patience.short + grace:
            return Pause(about, f"Still nothing new {age}.")
        if 2 * history.since_rise >= budget.max_iterations:
            return Pause(about, _NEW_THINGS, continues=True)
        return None


def _critical(conditions: Sequence[Alarm]) -> list[Alarm]:
    return [one for one in conditions if one.severity == "critical"]


def _grace(budget: Budget, patience: Patience) -> int:
    """Return how many iterations a REDIRECT gets to take effect."""
    return max(2, 2 * budget.stride, patience.short - 1)


_NEW_THINGS = (
    "New tests pass, but completion has not risen for half of the budget. The run "
    "continues if you do not answer."
)
