"""Layer 1, pure: from readings of completion to a control signal and alarms.

`History` holds the readings, `evaluate` answers each of them, `advice` says it in words.
"""

from ralph_tui.layers.control.advice import advice, band_words, urgency_of
from ralph_tui.layers.control.alarms import PROGRESS_ALARMS, Alarm
from ralph_tui.layers.control.budget import Budget, Patience
from ralph_tui.layers.control.evaluation import Evaluation, evaluate
from ralph_tui.layers.control.history import History, Sample
from ralph_tui.layers.control.settings import ControlSettings

__all__ = [
    "PROGRESS_ALARMS",
    "Alarm",
    "Budget",
    "ControlSettings",
    "Evaluation",
    "History",
    "Patience",
    "Sample",
    "advice",
    "band_words",
    "evaluate",
    "urgency_of",
]
