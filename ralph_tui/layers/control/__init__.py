"""Layer 1: compute a control signal and alarms from measurements of completion.

`History` holds the measurements, `evaluate` computes the signal, gains and alarms for each one, and
`advice` puts them into words.
"""

from ralph_tui.layers.control.advice import (
    advice,
    band_words,
    iterations_needed,
    profile_words,
    urgency_of,
)
from ralph_tui.layers.control.alarms import PROGRESS_ALARMS, Alarm, amount
from ralph_tui.layers.control.evaluation import (
    AlarmUpdate,
    Evaluation,
    check_signal,
    compute,
    default_signal,
    evaluate,
    evaluation_of,
    keep_alarms,
    watch,
)
from ralph_tui.layers.control.history import TOLERANCE, History, Sample, below
from ralph_tui.layers.control.law import (
    BAND_BOUNDS,
    PROFILES,
    Budget,
    Patience,
    Phase,
    phase_of,
    volatility_class,
)
from ralph_tui.layers.settings import ControlSettings

__all__ = [
    "BAND_BOUNDS",
    "PROFILES",
    "PROGRESS_ALARMS",
    "TOLERANCE",
    "Alarm",
    "AlarmUpdate",
    "Budget",
    "ControlSettings",
    "Evaluation",
    "History",
    "Patience",
    "Phase",
    "Sample",
    "advice",
    "amount",
    "band_words",
    "below",
    "check_signal",
    "compute",
    "default_signal",
    "evaluate",
    "evaluation_of",
    "iterations_needed",
    "keep_alarms",
    "phase_of",
    "profile_words",
    "urgency_of",
    "volatility_class",
    "watch",
]
