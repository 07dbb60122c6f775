"""The control law: from metrics and gains to one number, and the band it falls into."""

from collections.abc import Mapping

from ralph_tui.events.control import Band
from ralph_tui.layers.control.gains import Gains
from ralph_tui.layers.control.metrics import Metrics
from ralph_tui.layers.control.settings import ControlSettings

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
