"""Which gains a reading calls for, and how gently they follow."""

from typing import NamedTuple

from ralph_tui.events.control import Profile
from ralph_tui.layers.control.budget import Budget
from ralph_tui.layers.control.metrics import Metrics
from ralph_tui.layers.control.settings import ControlSettings
from ralph_tui.layers.control.tolerance import above

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
