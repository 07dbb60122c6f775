"""The readings of a run as the control law sees them: appended to, never changed.

Everything asked of a history takes the same time however long it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ralph_tui.layers.control.tolerance import TOLERANCE, above, below

SMALL_STEP = 5.0
"""Points: a step under this is no movement."""


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
    """A rollback caused the step: it counts for nothing, in alarms and metrics."""
    restarted: bool = False
    """The sensor's source changed: windows, best and baseline start anew with this reading."""
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
        self.ever_gained = False
        """Whether the best ever stood a whole gain above its baseline, whatever the source."""
        self._begin(baseline)

    def _begin(self, baseline: float) -> None:
        self.baseline = baseline
        self.restarted = False
        self.calm = 0
        """Trailing steps that were each under 5 points."""
        self.loss = 0.0
        """Points lost since the best, those that grown totals and rollbacks took left out."""
        self.previous_loss = 0.0
        self._forgiven = 0.0
        self._readings = [baseline]
        self._bests = [baseline]
        self._steps: list[float] = []
        self._alarm_steps: list[float] = []
        self._total = 0.0

    def add(self, sample: Sample) -> None:
        """Take one more reading."""
        self.iteration = sample.iteration
        self.count += 1
        self.estimated = sample.estimated
        if sample.restarted:
            self._begin(sample.completion)
            self.restarted = True
            return
        self.restarted = False
        step = sample.completion - self.reading
        counted = 0.0 if sample.rolled_back else step
        felt = 0.0 if sample.grew else counted
        self._readings.append(sample.completion)
        self._bests.append(max(self.best, sample.completion))
        self._steps.append(counted)
        self._alarm_steps.append(felt)
        self._total += counted
        self.calm = self.calm + 1 if below(abs(felt), SMALL_STEP) else 0
        # What grew is not lost: a total that takes 30 points off a best of 60 leaves no gap to it.
        gap = self.best - self.reading
        if sample.grew or sample.rolled_back:
            self._forgiven += max(0.0, -step)
        self._forgiven = min(self._forgiven, gap)
        self.previous_loss, self.loss = self.loss, gap - self._forgiven
        self.ever_gained = self.ever_gained or not below(
            self.best - self.baseline, self.gain(self.baseline)
        )

    @property
    def reading(self) -> float:
        """The latest reading, the baseline before the first."""
        return self._readings[-1]

    @property
    def best(self) -> float:
        """The best reading so far, baseline included."""
        return self._bests[-1]

    @property
    def complete(self) -> bool:
        """Whether the latest reading is 100: nothing is wrong any more."""
        return self.reading >= 100 - TOLERANCE

    @property
    def mean_step(self) -> float:
        """The run's mean step in points; 0 without steps."""
        return self._total / len(self._steps) if self._steps else 0.0

    def steps(self, window: int) -> Sequence[float]:
        """The last `window` steps in points, fewer when there are fewer, oldest first."""
        return self._steps[-window:]

    def alarm_steps(self, window: int) -> Sequence[float]:
        """As `steps`, with 0 where a grown number of tests made the step."""
        return self._alarm_steps[-window:]

    def best_before(self, window: int) -> float | None:
        """The best as it was before the last `window` steps; None when there are fewer."""
        return self._bests[-1 - window] if window < len(self._bests) else None

    def gain(self, best: float) -> float:
        """g: the rise in points above `best` that counts as progress."""
        return min(5 * (100 - self.baseline) / 100, (100 - best) / 4)

    def gained_since(self, best: float) -> bool:
        """Whether the best has risen by a whole gain above what it was."""
        return not below(self.best - best, self.gain(best))

    def rose_since(self, best: float) -> bool:
        """Whether the best has risen at all above what it was."""
        return above(self.best, best)
