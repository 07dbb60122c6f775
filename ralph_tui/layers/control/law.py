"""The control law: budget and patience, then metrics, gains, output and band of a measurement.

The budget may change between iterations: the user adds iterations, the agent adds tests.
"""

import math
from collections.abc import Container, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from ralph_tui.events.control import AlarmName, Band, Profile
from ralph_tui.layers.control.history import TOLERANCE, History, above, below
from ralph_tui.text.format import count

if TYPE_CHECKING:
    from ralph_tui.layers.settings import ControlSettings

UNKNOWN_TESTS = 100
"""Number of tests to assume if the real number is unknown or 0."""
KNOWN_RISES = 5
"""Number of rises after which the run's own history determines how long a rise takes."""
LONGEST_STRIDE = 10
LAST_FROM = 80.0
"""Points of completion from which the few remaining tests or items may be the slow ones."""
LAST_ITEMS = 3
LAST_SHARE = 0.05
"""A remainder of up to this share of all tests or items also counts as few."""


class Budget(NamedTuple):
    """The current limits."""

    max_iterations: int
    tests: int | None = None
    """Tests or plan items; None or 0 if unknown."""
    spent: float = 0.0
    """Share of the cost or token budget spent, whichever is larger; 0 if neither is set."""
    slow_last: bool = True
    """True to wait longer for the last tests or items; False for measurements in older journals."""

    @property
    def items(self) -> int:
        """T: tests or plan items; 100 if unknown."""
        return self.tests or UNKNOWN_TESTS

    @property
    def grain(self) -> float:
        """The value of two tests in points; a smaller move may be one flaky test."""
        return 200 / self.items

    def few_left(self, best: float) -> bool:
        """True if at most 3 tests or items, or 5 % of them, are open at this best in points."""
        few = max(float(LAST_ITEMS), LAST_SHARE * self.items)
        return not below(best, LAST_FROM) and not above(self.items * (100 - best) / 100, few)

    @property
    def stride(self) -> int:
        """s: a thirtieth of the iteration limit, rounded up; at most `LONGEST_STRIDE`."""
        return min(LONGEST_STRIDE, -(-self.max_iterations // 30))

    def used(self, iteration: int) -> float:
        """Return the largest used share as a fraction; above 1 if it is exceeded."""
        return max(iteration / self.max_iterations, self.spent)

    def used_words(self, iteration: int) -> str:
        """Describe the use: ``9 of 10 iterations are used``, ``95 % of the budget is spent``."""
        if self.spent <= iteration / self.max_iterations:
            used = "is" if self.max_iterations == 1 else "are"
            return f"{iteration} of {count(self.max_iterations, 'iteration')} {used} used"
        return f"{self.spent:.0%} of the budget is spent".replace("%", " %", 1)

    def has_used(self, share: float, iteration: int) -> bool:
        """True if this share of the budget is used."""
        return not below(self.used(iteration), share)


class Patience(NamedTuple):
    """Iterations to wait before a loop counts as stuck."""

    short: int
    """n: iterations without a rise in the best and without anything new."""
    long: int
    """N: stuck after twice this many iterations with hardly any rise, regardless of the steps."""

    @classmethod
    def of(cls, history: History, budget: Budget, settings: "ControlSettings") -> "Patience":
        """Return the patience: 3 and 3 for a loop that rises every time, with a budget of up to 30.

        It is larger for a large budget, for a run that rose after longer waits, and when only the
        last tests are open. Before the run's first few rises, it is also larger if each test is a
        large step. If `stuck_after` is set, it replaces all of this.
        """
        short = max(3, budget.stride, 3 * history.longest_wait)
        if history.rises < KNOWN_RISES:
            short = max(short, -(-3 * budget.max_iterations // budget.items))
        if budget.slow_last and budget.few_left(history.best):
            short = max(short, -(-12 * budget.max_iterations // 100))
        cap = max(3, -(-budget.max_iterations // 4))
        tenth = min(cap, -(-budget.max_iterations // 10))
        if settings.stuck_after is not None:
            return cls(settings.stuck_after, max(settings.stuck_after, tenth))
        short = min(cap, short)
        long = max(short, tenth)
        return cls(_scaled(short, settings.patience), _scaled(long, settings.patience))


def _scaled(iterations: int, patience: float) -> int:
    return max(1, math.ceil(iterations * patience - TOLERANCE))


SLACK = 1e-6
"""Iterations by which a forecast may exceed the remaining ones, to allow for rounding."""


class Metrics(NamedTuple):
    """Metrics of a measurement; fractions 0-1 unless noted."""

    proportional: float
    """The error: the missing share."""
    integral: float
    """The decayed sum of errors; usually above 1."""
    integral_mean: float
    """The weighted mean of the errors."""
    derivative: float
    """Change in the error, 0 if it is small; negative is progress."""
    velocity: float
    """Mean step per iteration in the window; positive is progress."""
    volatility: float
    """Mean absolute change between neighbouring steps in the window."""
    issue_load: float
    """Decayed sum of new learnings and blockers; displayed, not used."""
    forecast: float | None
    """Iterations to go at the velocity or the run's mean step, whichever is better.

    None if neither is positive.
    """
    fits: bool
    """True if the forecast does not exceed the remaining iterations."""


def measure(
    history: History,
    budget: Budget,
    settings: "ControlSettings",
    *,
    previous_integral: float = 0.0,
    previous_issue_load: float = 0.0,
    issues: int = 0,
) -> Metrics:
    """Compute the metrics of the latest measurement, continuing the previous sums."""
    error = 1 - history.reading / 100
    integral = settings.decay * previous_integral + error
    steps = history.steps(settings.window_size)
    velocity = history.mean_pace(settings.window_size) / 100
    turns = [abs(later - earlier) / 100 for earlier, later in pairwise(steps)]
    change = 0.0 - history.change / 100
    # The window alone may be a slow phase of a good run, so the better pace counts.
    pace = max(velocity, history.mean_step / 100)
    forecast = error / pace if above(pace, 0) else None
    left = budget.max_iterations - history.iteration
    return Metrics(
        proportional=error,
        integral=integral,
        integral_mean=integral / _weight(settings.decay, history.count),
        derivative=0.0 if below(abs(change), settings.noise_threshold) else change,
        velocity=velocity,
        volatility=sum(turns) / len(turns) if turns else 0.0,
        issue_load=settings.decay * previous_issue_load + issues,
        forecast=forecast,
        fits=forecast is not None and forecast <= left + SLACK,
    )


def _weight(decay: float, count: int) -> float:
    """Return the integral of a constant error of 1."""
    return float(count) if decay == 1 else (1 - decay**count) / (1 - decay)


VOLATILE = 0.3
UNSTEADY = 0.1
"""Volatility above this is shown as medium; above `VOLATILE`, as high."""
FAR = 0.7
LATE_FROM = 0.8
"""Share of the iterations after which a run is in its late phase."""
Phase = Literal["early", "mid", "late"]
Volatility = Literal["low", "medium", "high"]


class Gains(NamedTuple):
    """Factors of the error, its integral and its change."""

    kp: float
    ki: float
    kd: float


PROFILES: dict[Profile, Gains] = {
    "exploration": Gains(0.3, 0.1, 0.2),
    "focused": Gains(0.5, 0.2, 0.3),
    "aggressive": Gains(0.7, 0.3, 0.4),
    "damped": Gains(0.3, 0.2, 0.5),
}


def is_early(iteration: int, budget: Budget) -> bool:
    """True for the first iterations of a run: a fifth of all, at least 2 and at most 5."""
    return iteration <= min(5, max(2, -(-budget.max_iterations // 5)))


def phase_of(iteration: int, budget: Budget, completion: float) -> Phase:
    """Return the run's phase in an iteration that begins at `completion`, in points."""
    if not below(completion, LAST_FROM):
        return "late"
    if is_early(iteration, budget):
        return "early"
    return "late" if above(iteration / budget.max_iterations, LATE_FROM) else "mid"


def volatility_class(volatility: float) -> Volatility:
    """Return the displayed class of a volatility."""
    if above(volatility, VOLATILE):
        return "high"
    return "medium" if above(volatility, UNSTEADY) else "low"


def schedule(
    metrics: Metrics,
    budget: Budget,
    settings: "ControlSettings",
    *,
    iteration: int,
    damped: bool,
    holding: Container[AlarmName] = (),
) -> Profile:
    """Choose the profile for a measurement; the first match wins.

    `damped`: an approved oscillation redirect from an earlier measurement is in effect. `holding`:
    the conditions that hold now. Strong correction would make an oscillation worse.
    """
    if damped:
        return "damped"
    steady = "OSCILLATING" not in holding
    if steady and "STUCK" in holding:
        return "aggressive"
    if is_early(iteration, budget):
        return settings.first_profile
    lost = above(metrics.proportional, FAR) and not metrics.fits
    if steady and (above(metrics.volatility, VOLATILE) or lost):
        return "aggressive"
    return "focused"


def follow(previous: Gains | None, target: Gains, settings: "ControlSettings") -> Gains:
    """Move the gains towards `target`; without previous gains, return `target`."""
    if previous is None:
        return target
    keep = settings.smoothing
    return Gains(
        *(keep * old + (1 - keep) * new for old, new in zip(previous, target, strict=True))
    )


BAND_BOUNDS: Mapping[Band, float] = {"moderate": 0.3, "significant": 0.5, "critical": 0.7}
"""Lower bound of each band in ascending order; lower outputs are `near_completion`."""
_DIGITS = 12
"""Decimal places of u, so that a plateau at a band's bound does not flicker between bands."""


def output(metrics: Metrics, gains: Gains, settings: "ControlSettings") -> float:
    """Return u, clamped to [0, 1]: how strongly to correct the loop."""
    accumulated = settings.integral_term == "accumulated"
    integral = metrics.integral if accumulated else metrics.integral_mean
    signal = gains.kp * metrics.proportional + gains.ki * integral + gains.kd * metrics.derivative
    return round(max(0.0, min(1.0, signal)), _DIGITS)


def band_of(signal: float) -> Band:
    """Return the band of an output; a band includes its lower bound."""
    reached: list[Band] = [band for band, bound in BAND_BOUNDS.items() if signal >= bound]
    return reached[-1] if reached else "near_completion"
