"""The readings of a run as the control law sees them: appended to, never changed.

Every query takes the same time however long the history is. Comparisons forgive rounding only.

What a grown total or a rollback takes off a reading it takes off all earlier ones too, so that the
best, the marks and the pace go on speaking of the same work; and what mere growth adds to the best
it adds to all of them. Inside, readings are therefore kept with what was ever taken off added back
(*made good*); outside, they are as they count today.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

TOLERANCE = 1e-9
"""In the unit of what is compared: points for readings and steps, fractions for the rest."""


def below(value: float, limit: float) -> bool:
    """``value < limit``, and not merely by rounding."""
    return value < limit - TOLERANCE


def above(value: float, limit: float) -> bool:
    """``value > limit``, and not merely by rounding."""
    return value > limit + TOLERANCE


SMALL_STEP = 5.0
"""Points: a step under this is no movement."""
NOISE_FROM, NOISE_TO = 26, 6
"""The falls that tell a loop's noise lie this many steps back, and were over before the swings."""


@dataclass(frozen=True)
class Sample:
    """One reading of completion."""

    iteration: int
    """From 1."""
    completion: float
    """Points, 0-100."""
    grew: bool = False
    """The number of tests grew and passed did not fall: the step counts as 0 for the alarms."""
    rolled_back: bool = False
    """A rollback caused the step: it counts for nothing, in alarms and metrics; the pace has what
    was gained since."""
    undone: int = 0
    """Readings before this one whose work the rollback undid: their steps gained nothing, and those
    that had gained are no pace at all."""
    novel: bool = False
    """A test passes, or an item is ticked, that never was in this run: something new happened."""
    restarted: bool = False
    """The sensor's source changed: windows, best and baseline start anew with this reading."""
    regained: bool = False
    """Counts came again after a silence: windows start anew with this reading, at the old best."""
    broken: bool = False
    """A broken build: the wait that it prolongs teaches no patience."""
    hollow: bool = False
    """New tests pass, and every test that failed before fails still: the best gains nothing."""
    estimated: bool = False
    """An estimate of activity, not a measurement: no alarm above a warning."""


class History:
    """Readings, steps and bests since the baseline, or since the sensor's source changed.

    Points, 0-100. Samples come in ascending iterations.
    """

    def __init__(self, baseline: float = 0.0) -> None:
        self.iteration = 0
        """k, of the latest reading; 0 before the first."""
        self.count = 0
        """Readings after the baseline, over all sources."""
        self.estimated = False
        self.best_at = 0
        """The iteration of the latest new best; 0: the start."""
        self.ever_gained = False
        """Whether the best ever stood a whole gain above its baseline, whatever the source."""
        self._begin(baseline)

    def _begin(self, baseline: float) -> None:
        self.baseline = baseline
        self.restarted = False
        self.excused = True
        """Whether a rollback, a grown total or a switch of the sensor made the latest step."""
        self.change = 0.0
        """The latest step as measured; 0 when a rollback caused it."""
        self.taken = 0.0
        """Points that the latest reading took off all earlier ones; negative: gave to them."""
        self.calm = 0
        """Trailing steps that were each under 5 points."""
        self.falls = 0
        """Trailing steps that fell."""
        self.fallen = 0.0
        """Points that those lost together."""
        self.rises = 0
        self.since_rise = 0
        """t': readings since the last rise, since the start before the first."""
        self.since_new = 0
        """t: readings since the last rise or novelty."""
        self.longest_wait = 0
        """L: the most readings that a rise ever took, without those of a broken build."""
        self._broken_wait = 0
        self.since_rollback: int | None = None
        """Readings since the one that a rollback caused; None without one."""
        self._taken = 0.0
        self._made_good = [baseline]
        self._bests = [baseline]
        self._risen = baseline
        self._steps: list[float] = []
        self._alarm_steps: list[float] = []
        self._paces: list[float | None] = []
        self._gained, self._paced = 0.0, 0
        """The sum of the paces that are known, and their number."""

    def copy(self) -> "History":
        """The same history, which can be added to without this one."""
        other = copy(self)
        for name in ("_made_good", "_bests", "_steps", "_alarm_steps", "_paces"):
            setattr(other, name, list(getattr(self, name)))
        return other

    def add(self, sample: Sample) -> None:
        """Take one more reading."""
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
            self._undo(sample.undone)
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
        self._feel(0.0 if excused else step)
        self._wait(novel=sample.novel, hollow=sample.hollow)
        self.ever_gained = self.ever_gained or not below(
            self._bests[-1] - self.baseline, self.gain(self.baseline)
        )

    def _since_restored(self, sample: Sample) -> float | None:
        """Points gained on the restored reading, where that is known: the fall is no slowness."""
        if not 0 < sample.undone <= len(self._steps):
            return None
        gained = sample.completion - (self._made_good[-1 - sample.undone] - self._taken)
        return max(0.0, gained) if sample.grew or sample.hollow else gained

    def _undo(self, readings: int) -> None:
        for back in range(1, min(readings, len(self._steps)) + 1):
            self._steps[-back] = 0.0
            pace = self._paces[-back]
            self._paces[-back] = None if pace is None or above(pace, 0) else 0.0
        known = [pace for pace in self._paces if pace is not None]
        self._gained, self._paced = sum(known), len(known)

    def _feel(self, step: float) -> None:
        """What the alarms see of a step."""
        self._alarm_steps.append(step)
        self.calm = self.calm + 1 if below(abs(step), SMALL_STEP) else 0
        fell = below(step, 0)
        self.falls = self.falls + 1 if fell else 0
        self.fallen = self.fallen - step if fell else 0.0

    def _wait(self, *, novel: bool, hollow: bool) -> None:
        """Whether the best has risen enough to be a rise, and how long that took.

        Growth lowers what is enough, and makes no rise of a gain that was too small before.
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
        """The latest reading, the baseline before the first."""
        return self._made_good[-1] - self._taken

    @property
    def best(self) -> float:
        """The best reading so far as it counts today, baseline included."""
        return self._bests[-1] - self._taken

    @property
    def rise(self) -> float:
        """Points by which the latest reading has raised the best; 0 before the first."""
        return self._bests[-1] - self._bests[-2] if len(self._bests) > 1 else 0.0

    @property
    def complete(self) -> bool:
        """Whether the latest reading is 100: nothing is wrong any more."""
        return self.reading >= 100 - TOLERANCE

    @property
    def length(self) -> int:
        """Readings since the baseline, or since the source changed."""
        return len(self._steps)

    @property
    def pace(self) -> float:
        """m: points that the best has risen per iteration, grown totals made good."""
        return (self._bests[-1] - self.baseline) / len(self._steps) if self._steps else 0.0

    @property
    def mean_step(self) -> float:
        """The run's mean step in points, without gains that were rolled back; 0 without steps."""
        return self._gained / self._paced if self._paced else 0.0

    def mean_pace(self, window: int) -> float:
        """The same of the last `window` steps, in points."""
        steps = [step for step in self._paces[-window:] if step is not None] if window else []
        return sum(steps) / len(steps) if steps else 0.0

    @property
    def noise(self) -> float:
        """f: the median of the falls some iterations back, of two the larger; 0 without one."""
        falls = sorted(-step for step in self._alarm_steps[-NOISE_FROM:-NOISE_TO] if below(step, 0))
        return falls[len(falls) // 2] if falls else 0.0

    @property
    def risen(self) -> float:
        """The best at the last rise as it counts today; the start before the first."""
        return self._risen - self._taken

    def readings(self, window: int) -> Sequence[float]:
        """The last `window` readings as they count today, oldest first."""
        return [made_good - self._taken for made_good in self._made_good[-window:]]

    def steps(self, window: int) -> Sequence[float]:
        """The last `window` steps in points, fewer when there are fewer, oldest first."""
        return self._steps[-window:]

    def alarm_steps(self, window: int) -> Sequence[float]:
        """As `steps`, with 0 where a grown number of tests made the step."""
        return self._alarm_steps[-window:]

    def best_before(self, window: int) -> float | None:
        """The best as it was before the last `window` steps; None when there are fewer."""
        if window >= len(self._bests):
            return None
        return self._bests[-1 - window] - self._taken

    def below_best(self, back: int) -> float:
        """Points that the reading `back` iterations ago lies below the best."""
        return self._bests[-1] - self._made_good[max(-1 - back, -len(self._made_good))]

    def gain(self, best: float) -> float:
        """g: the rise in points above `best` that counts as progress."""
        return min(5 * (100 - self.baseline) / 100, (100 - best) / 4)

    def gained_since(self, best: float) -> bool:
        """Whether the best has risen by a whole gain above what it was."""
        return not below(self.best - best, self.gain(best))

    def rose_since(self, best: float) -> bool:
        """Whether the best has risen at all above what it was."""
        return above(self.best, best)
