"""The control law: from metrics and gains to one number, and the band it falls into."""

from ralph_tui.events.control import Band
from ralph_tui.layers.control.gains import Gains
from ralph_tui.layers.control.metrics import Metrics
from ralph_tui.layers.control.settings import ControlSettings

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
    if signal < 0.3:
        return "near_completion"
    if signal < 0.5:
        return "moderate"
    if signal < 0.7:
        return "significant"
    return "critical"
