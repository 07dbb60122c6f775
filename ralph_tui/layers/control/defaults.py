"""What stands in for the control law where it fails: default gains on the error alone.

It calls nothing of what may have failed. The sums go on, so that the next signal is what it would
have been; only its gains come from the default ones, as gently as they follow any others.
"""

from ralph_tui.events.control import Band, SignalComputed
from ralph_tui.layers.control.evaluation import Evaluation, Watched
from ralph_tui.layers.control.gains import PROFILES
from ralph_tui.layers.control.history import Sample
from ralph_tui.layers.control.settings import ControlSettings

_BANDS: tuple[tuple[float, Band], ...] = (
    (0.3, "near_completion"),
    (0.5, "moderate"),
    (0.7, "significant"),
)


def unwatched(previous: Evaluation | None) -> Watched:
    """No condition is known to hold, and the alarms stay as they were."""
    return Watched((), previous.alarms if previous else (), (), ())


def sound_signal(signal: SignalComputed, sample: Sample) -> SignalComputed:
    """The same; raises ``TypeError`` or ``ValueError`` where it is no answer to this reading."""
    if not isinstance(signal, SignalComputed):
        raise TypeError(f"a signal is no {type(signal).__name__}")
    if signal.iteration != sample.iteration or not 0 <= signal.output <= 1:
        raise ValueError(f"a signal of {signal.output} at iteration {signal.iteration}")
    return signal


def default_signal(
    sample: Sample,
    settings: ControlSettings,
    before: SignalComputed | None,
    issues: int = 0,
) -> SignalComputed:
    """The signal of a reading by its error alone; `before`: the signal of the one before."""
    error = 1 - sample.completion / 100
    gains = PROFILES["focused"]
    signal = round(max(0.0, min(1.0, (gains.kp + gains.ki) * error)), 12)
    return SignalComputed(
        iteration=sample.iteration,
        completion=sample.completion / 100,
        proportional=error,
        integral=settings.decay * (before.integral if before else 0.0) + error,
        integral_mean=error,
        derivative=0.0,
        velocity=0.0,
        volatility=0.0,
        issue_load=settings.decay * (before.issue_load if before else 0.0) + issues,
        profile="focused",
        kp=gains.kp,
        ki=gains.ki,
        kd=gains.kd,
        output=signal,
        band=next((band for bound, band in _BANDS if signal < bound), "critical"),
    )
