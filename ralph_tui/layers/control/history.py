"""A run's measurements as the control law uses them; they are added, never changed.

Every query takes constant time however long the history is. Comparisons tolerate rounding errors
only.

A larger total or a rollback lowers a measurement. The same points are subtracted from all earlier
ones, so that the best, the marks and the pace still refer to the same work. Likewise, points that
growth alone adds to the best are added to all earlier ones. Internally, measurements are stored
with all subtracted points added back (*made good*); properties and methods return current values.
"""

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

TOLERANCE = 1e-9
"""In the unit of the values compared: points for measurements and steps, otherwise fractions."""


def below(value: float, limit: float) -> bool:
    """True if ``value < limit`` by more than rounding."""
    return value < limit - TOLERANCE


def above(value: float, limit: float) -> bool:
    """True if ``value > limit`` by more than rounding."""
    return value > limit + TOLERANCE


SMALL_STEP = 5.0
"""Points: a smaller step counts as no movement."""
NOISE_FROM, NOISE_TO = 26, 6
"""The noise is estimated from falls between these steps, counted back from the latest one."""


class Sample(NamedTuple):
    """One measurement of completion."""

    iteration: int
    """From 1."""
    completion: float
    """Points, 0-100."""
    grew: bool = False
    """There are more tests, and no fewer pass: the alarms count the step as 0."""
    rolled_back: bool = False
    """A rollback caused the step, so alarms and metrics ignore it; the pace counts later gains."""
    known: bool = True
    """False if the rollback restored files that were never measured: the gain is unknown."""
    undone: int = 0
    """Number of earlier measurements whose work the rollback undid.

    Their steps count as no gain, and those that gained are omitted from the pace.
    """
    novel: bool = False
    """A test passed or an item was ticked for the first time in this run."""
    restarted: bool = False
    """The sensor's source changed: windows, best and baseline restart at this measurement."""
    regained: bool = False
    """Counts are available again: windows restart at this measurement with the old best."""
    broken: bool = False
    """The build is broken: waiting for its repair does not increase patience."""
    hollow: bool = False
    """New tests pass, but every test that failed before still fails: the best does not rise."""
    estimated: bool = False
    """Activity was estimated, not measured: alarms are at most warnings."""


class History:
    """Measurements, steps and bests since the baseline or the sensor's last change of source.

    All values are points, 0-100. Samples must have ascending iterations.
    """

    def __init__(self, baseline: float = 0.0) -> None:
        self.iteration = 0
        """k: the iteration of the latest measurement; 0 before the first."""
        self.count = 0
        """Number of measurements after the baseline, across all sources."""
        self.estimated = False
        self.best_at = 0
        """The iteration that last set a new best; 0 means the start."""
        self.ever_gained = False
        """True if the best was ever at least one full gain above its baseline, with any source."""
        self._begin(baseline)

    def _begin(self, baseline: float) -> None:
        self.baseline = baseline
        self.restarted = False
        self.excused = True
        """True if a rollback, a larger total or a change of source caused the latest step."""
        self.change = 0.0
        """The latest step as measured; 0 if a rollback caused it."""
        self.taken = 0.0
        """Points that the latest measurement subtracted from earlier ones; negative if added."""
        self.calm = 0
        """Number of latest consecutive steps under 5 points."""
        self.falls = 0
        """Number of latest consecutive falls."""
        self.fallen = 0.0
        """Total number of points lost in those falls."""
        self.rises = 0
        self.since_rise = 0
        """t': measurements since the last rise, or since the start before the first rise."""
        self.since_new = 0
        """t: measurements since the last rise or the last `novel` sample."""
        self.longest_wait = 0
        """L: the longest wait for a rise so far, in measurements, not counting broken builds."""
        self._broken_wait = 0
        self.since_rollback: int | None = None
        """Measurements since the last rollback; None if there was none."""
        self._taken = 0.0
        self._made_good = [baseline]
        self._bests = [baseline]
        self._risen = baseline
        self._steps: list[float] = []
        self._alarm_steps: list[float] = []
        self._paces: list[float | None] = []
        self._gained, self._paced = 0.0, 0
        """The sum of the known paces, and their number."""

    def copy(self) -> "History":
        """Return an independent copy."""
        other = copy(self)
        for name in ("_made_good", "_bests", "_steps", "_alarm_steps", "_paces"):
            setattr(other, name, list(getattr(self, name)))
        return other

    def add(self, sample: Sample) -> None:
        """Add one measurement."""
        self.iteration = sample.iteration
        self.count += 1
        self.estimated = sample.estimated
        if sample.restarted or sample.regained:
            best = self.best
            self._begin(sample.completion)
            self.restarted = True
            if sample.restarted or above(sample.completion, best):
                self.best_at = sample.iteration
            if sample.regained:
                self.baseline = self._risen = self._bests[0] = max(best, sample.completion)
            return
        self.restarted = False
        step = sample.completion - self.reading
        pace = self._since_restored(sample) if sample.rolled_back else None
        self.excused = excused = sample.grew or sample.hollow or sample.rolled_back
        self.change = 0.0 if sample.rolled_back else step
        self.taken = max(0.0, -step) if excused else 0.0
        if sample.hollow and not sample.rolled_back:
            self.taken = min(self.taken, self.best - sample.completion)
        self._taken += self.taken
        if sample.rolled_back:
            self._drop_undone(sample.undone)
            self.since_rollback = 0
        elif self.since_rollback is not None:
            self.since_rollback += 1
        self._made_good.append(sample.completion + self._taken)
        self._bests.append(max(self._bests[-1], self._made_good[-1]))
        counted = 0.0 if sample.rolled_back else step + self.taken
        self._broken_wait += sample.broken
        if above(self.rise, 0):
            self.best_at = sample.iteration
        self._steps.append(counted)
        pace = counted if pace is None else pace
        self._paces.append(pace)
        self._gained, self._paced = self._gained + pace, self._paced + 1
        self._add_step(0.0 if excused else step)
        self._add_wait(novel=sample.novel, hollow=sample.hollow)
        self.ever_gained = self.ever_gained or not below(
            self._bests[-1] - self.baseline, self.gain(self.baseline)
        )

    def _since_restored(self, sample: Sample) -> float | None:
        """Return the points gained since the restored measurement, ignoring the rollback's fall.

        None if that measurement is unknown.
        """
        if not (sample.known and 0 < sample.undone <= len(self._steps)):
            return None
        gained = sample.completion - (self._made_good[-1 - sample.undone] - self._taken)
        return max(0.0, gained) if sample.grew or sample.hollow else gained

    def _drop_undone(self, readings: int) -> None:
        for back in range(1, min(readings, len(self._steps)) + 1):
            self._steps[-back] = 0.0
            pace = self._paces[-back]
            self._paces[-back] = None if pace is None or above(pace, 0) else 0.0
        known = [pace for pace in self._paces if pace is not None]
        self._gained, self._paced = sum(known), len(known)

    def _add_step(self, step: float) -> None:
        """Record a step for the alarms."""
        self._alarm_steps.append(step)
        self.calm = self.calm + 1 if below(abs(step), SMALL_STEP) else 0
        fell = below(step, 0)
        self.falls = self.falls + 1 if fell else 0
        self.fallen = self.fallen - step if fell else 0.0

    def _add_wait(self, *, novel: bool, hollow: bool) -> None:
        """Record whether the best rose enough to count as a rise, and how long that took.

        Growth lowers the required rise, but does not turn an earlier, smaller gain into a rise.
        """
        self.since_rise += 1
        self.since_new += 1
        rise = self._bests[-1] - self._risen
        enough = min(self.gain(self.risen), self.pace / 4)
        if above(rise, 0) and not below(rise, enough) and not hollow:
            self.longest_wait = max(self.longest_wait, self.since_rise - self._broken_wait)
            self.rises += 1
            self._broken_wait = 0
            self.since_rise = self.since_new = 0
            self._risen = self._bests[-1]
        elif novel:
            self.since_new = 0

    @property
    def reading(self) -> float:
        """The latest measurement, or the baseline before the first."""
        return self._made_good[-1] - self._taken

    @property
    def best(self) -> float:
        """The best current value so far, including the baseline."""
        return self._bests[-1] - self._taken

    @property
    def gained(self) -> float:
        """Points that the latest iteration gained over the files it began with, if known; else 0.

        After a rollback, it began with the restored files.
        """
        return (self._paces[-1] or 0.0) if self._paces else 0.0

    @property
    def rise(self) -> float:
        """Points by which the latest measurement raised the best; 0 before the first."""
        return self._bests[-1] - self._bests[-2] if len(self._bests) > 1 else 0.0

    @property
    def complete(self) -> bool:
        """True if the latest measurement is 100."""
        return self.reading >= 100 - TOLERANCE

    @property
    def length(self) -> int:
        """Measurements since the baseline or the last change of source."""
        return len(self._steps)

    @property
    def pace(self) -> float:
        """m: mean rise of the best per iteration in points, with subtracted points added back."""
        return (self._bests[-1] - self.baseline) / len(self._steps) if self._steps else 0.0

    @property
    def mean_step(self) -> float:
        """The run's mean step in points, without gains that were rolled back; 0 without steps."""
        return self._gained / self._paced if self._paced else 0.0

    def mean_pace(self, window: int) -> float:
        """Return the mean of the last `window` steps in points, omitting gains rolled back."""
        steps = [step for step in self._paces[-window:] if step is not None] if window else []
        return sum(steps) / len(steps) if steps else 0.0

    @property
    def noise(self) -> float:
        """f: the upper median of the falls in an earlier window, in points; 0 without a fall."""
        falls = sorted(-step for step in self._alarm_steps[-NOISE_FROM:-NOISE_TO] if below(step, 0))
        return falls[len(falls) // 2] if falls else 0.0

    @property
    def risen(self) -> float:
        """The current value of the best at the last rise, or at the start before the first rise."""
        return self._risen - self._taken

    def readings(self, window: int) -> Sequence[float]:
        """Return current values of the last `window` measurements, oldest first."""
        return [made_good - self._taken for made_good in self._made_good[-window:]]

    def steps(self, window: int) -> Sequence[float]:
        """Return at most the last `window` steps in points, oldest first."""
        return self._steps[-window:]

    def alarm_steps(self, window: int) -> Sequence[float]:
        """Return the same as `steps`, but with 0 for a step caused by a larger number of tests."""
        return self._alarm_steps[-window:]

    def best_before(self, window: int) -> float | None:
        """Return the best before the last `window` steps; None if there are fewer."""
        if window >= len(self._bests):
            return None
        return self._bests[-1 - window] - self._taken

    def below_best(self, back: int) -> float:
        """Return how many points the measurement `back` iterations ago lies below the best."""
        return self._bests[-1] - self._made_good[max(-1 - back, -len(self._made_good))]

    def gain(self, best: float) -> float:
        """g: return the rise in points above `best` that counts as progress."""
        return min(5 * (100 - self.baseline) / 100, (100 - best) / 4)

    def gained_since(self, best: float) -> bool:
        """True if the current best is at least a whole gain above `best`."""
        return not below(self.best - best, self.gain(best))

    def rose_since(self, best: float) -> bool:
        """True if the current best is above `best` at all."""
        return above(self.best, best)
