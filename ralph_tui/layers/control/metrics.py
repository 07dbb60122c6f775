"""P, I and D of a reading, and what people read beside them: velocity, volatility, forecast."""

from dataclasses import dataclass
from itertools import pairwise

from ralph_tui.layers.control.budget import Budget
from ralph_tui.layers.control.history import History
from ralph_tui.layers.control.settings import ControlSettings
from ralph_tui.layers.control.tolerance import above, below

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
    velocity = sum(steps) / len(steps) / 100 if steps else 0.0
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
