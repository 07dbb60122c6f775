"""The control law: budget and patience, then metrics, gains, output and band of a reading.

The budget may change between iterations: a human adds iterations, the agent adds tests.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ralph_tui.events.control import Band, Profile
from ralph_tui.layers.control.history import TOLERANCE, History, above, below
from ralph_tui.layers.settings import ControlSettings
from ralph_tui.text.format import count

UNKNOWN_TESTS = 100
"""Taken when the number of tests is unknown or 0."""
KNOWN_RISES = 5
"""Rises after which the run itself tells how long one takes."""
LONGEST_STRIDE = 10
LAST_FROM = 80.0
"""Points: from here on the few tests or items left may be the slow ones."""
LAST_ITEMS = 3
LAST_SHARE = 0.05
"""Of all tests or items: as many as this are few, too."""


@dataclass(frozen=True)
class Budget:
    """The limits as they stand now."""

    max_iterations: int
    tests: int | None = None
    """Tests or plan items; None or 0 when unknown."""
    spent: float = 0.0
    """The larger of cost and tokens as a share of their own budgets; 0 without such budgets."""
    slow_last: bool = True
    """Wait longer for the last tests or items; False for readings of older journals."""

    @property
    def items(self) -> int:
        """T: tests or plan items, 100 when unknown."""
        return self.tests or UNKNOWN_TESTS

    @property
    def grain(self) -> float:
        """Points that two tests are worth: smaller moves may be one flaky test."""
        return 200 / self.items

    def few_left(self, best: float) -> bool:
        """Whether at most 3 tests or items, or 5 % of them, are open at this best in points."""
        few = max(float(LAST_ITEMS), LAST_SHARE * self.items)
        return not below(best, LAST_FROM) and not above(self.items * (100 - best) / 100, few)

    @property
    def stride(self) -> int:
        """s: iterations that are little of a budget of this size."""
        return min(LONGEST_STRIDE, -(-self.max_iterations // 30))

    def used(self, iteration: int) -> float:
        """The largest used share, a fraction; above 1 beyond the budget."""
        return max(iteration / self.max_iterations, self.spent)

    def used_words(self, iteration: int) -> str:
        """``9 of 10 iterations are used``; ``95 % of the budget is spent`` by cost or tokens."""
        if self.spent <= iteration / self.max_iterations:
            used = "is" if self.max_iterations == 1 else "are"
            return f"{iteration} of {count(self.max_iterations, 'iteration')} {used} used"
        return f"{self.spent:.0%} of the budget is spent".replace("%", " %", 1)

    def has_used(self, tenths: int, iteration: int) -> bool:
        """Whether that many tenths are used; iterations are compared in whole numbers."""
        return (
            10 * iteration >= tenths * self.max_iterations or 10 * self.spent >= tenths - TOLERANCE
        )


@dataclass(frozen=True)
class Patience:
    """Iterations that may pass before a loop counts as stuck."""

    short: int
    """n: without a rise of the best and without anything new."""
    long: int
    """N: twice this with hardly a rise, whatever the steps were."""

    @classmethod
    def of(cls, history: History, budget: Budget, settings: ControlSettings) -> "Patience":
        """3 and 3 for a loop that rises every time, at budgets up to 30.

        More where the budget is large, where this run has waited longer before and rose after all,
        where only the last tests are open, and, until it has shown how it rises, where each test
        is a large step.
        """
        short = max(3, budget.stride, 3 * history.longest_wait)
        if history.rises < KNOWN_RISES:
            short = max(short, -(-3 * budget.max_iterations // budget.items))
        if budget.slow_last and budget.few_left(history.best):
            short = max(short, -(-12 * budget.max_iterations // 100))
        cap = max(3, -(-budget.max_iterations // 4))
        short = min(cap, short)
        long = min(cap, max(short, -(-budget.max_iterations // 10)))
        return cls(_scaled(short, settings.patience), _scaled(long, settings.patience))


def _scaled(iterations: int, patience: float) -> int:
    return max(1, math.ceil(iterations * patience - TOLERANCE))


SLACK = 1e-6
"""Iterations a forecast may exceed what is left, for rounding."""


@dataclass(frozen=True)
class Metrics:
    """Fractions 0-1 unless said."""

    proportional: float
    """The error: what is missing."""
    integral: float
    """The decayed sum of errors; above 1 as a rule."""
    integral_mean: float
    """The same as a weighted mean, 0-1."""
    derivative: float
    """Change of the error, small ones taken as 0; negative is progress."""
    velocity: float
    """Mean step of the window per iteration; positive is progress."""
    volatility: float
    """Mean absolute change between neighbouring steps of the window."""
    issue_load: float
    """Decayed sum of new learnings and blockers; shown, not used."""
    forecast: float | None
    """Iterations to go at the velocity, or at the run's mean step where that is better; None when
    neither is positive."""
    fits: bool
    """Whether the forecast fits what is left of the iterations."""


def measure(
    history: History,
    budget: Budget,
    settings: ControlSettings,
    *,
    previous_integral: float = 0.0,
    previous_issue_load: float = 0.0,
    issues: int = 0,
) -> Metrics:
    """The metrics of the latest reading, carried on from the previous reading's sums."""
    error = 1 - history.reading / 100
    integral = settings.decay * previous_integral + error
    steps = history.steps(settings.window_size)
    velocity = history.mean_pace(settings.window_size) / 100
    turns = [abs(later - earlier) / 100 for earlier, later in pairwise(steps)]
    change = 0.0 - history.change / 100
    # Five steps alone make a slow week of a good month: the better of the two paces tells.
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
    """The integral of an error that was 1 throughout."""
    return float(count) if decay == 1 else (1 - decay**count) / (1 - decay)


VOLATILE = 0.3
FAR = 0.7


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


def schedule(
    metrics: Metrics, budget: Budget, *, iteration: int, damped: bool, oscillating: bool
) -> Profile:
    """The profile of a reading, first match wins.

    `damped` says that an approved oscillation redirect of an earlier reading still stands;
    `oscillating`, that the condition holds now: strong correction would feed it.
    """
    if damped:
        return "damped"
    if iteration <= min(5, max(2, -(-budget.max_iterations // 5))):
        return "exploration"
    lost = above(metrics.proportional, FAR) and not metrics.fits
    if not oscillating and (above(metrics.volatility, VOLATILE) or lost):
        return "aggressive"
    return "focused"


def follow(previous: Gains | None, target: Gains, settings: ControlSettings) -> Gains:
    """The gains on their way to `target`; there at once when there were none before."""
    if previous is None:
        return target
    keep = settings.smoothing
    return Gains(
        *(keep * old + (1 - keep) * new for old, new in zip(previous, target, strict=True))
    )


BAND_BOUNDS: Mapping[Band, float] = {"moderate": 0.3, "significant": 0.5, "critical": 0.7}
"""Where each band begins, in rising order; below them is `near_completion`."""
_DIGITS = 12
"""Decimals kept of u: a plateau that stands on a band's bound must not flicker about it."""


def output(metrics: Metrics, gains: Gains, settings: ControlSettings) -> float:
    """u, kept within [0, 1]: how strongly the loop should be corrected."""
    accumulated = settings.integral_term == "accumulated"
    integral = metrics.integral if accumulated else metrics.integral_mean
    signal = gains.kp * metrics.proportional + gains.ki * integral + gains.kd * metrics.derivative
    return round(max(0.0, min(1.0, signal)), _DIGITS)


def band_of(signal: float) -> Band:
    """The band of an output; each begins at its lower bound."""
    reached: list[Band] = [band for band, bound in BAND_BOUNDS.items() if signal >= bound]
    return reached[-1] if reached else "near_completion"
