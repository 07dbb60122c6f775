"""The signal in words: how urgent the next prompt is, and what it advises.

A change of strategy is said only while something shows that the present one does not do: far from
done is no fault in itself.
"""

from ralph_tui.events.control import Band, SignalComputed, Urgency
from ralph_tui.layers.control.alarms import PROGRESS_ALARMS, Alarm
from ralph_tui.layers.control.budget import Budget
from ralph_tui.layers.control.tolerance import below
from ralph_tui.text.terms import in_words

_URGENCIES: dict[Band, Urgency] = {
    "near_completion": "low",
    "moderate": "normal",
    "significant": "high",
    "critical": "critical",
}


def urgency_of(band: Band, *, alarm_up: bool) -> Urgency:
    """By band, and at least high while an alarm is up."""
    if alarm_up and band in ("near_completion", "moderate"):
        return "high"
    return _URGENCIES[band]


def band_words(band: Band, completion: float) -> str:
    """The band's name for people; a small signal far from the end means a good pace.

    `completion` is a fraction, 0-1.
    """
    if band == "near_completion" and below(completion, 0.8):
        return "on course"
    return in_words(band)


def advice(signal: SignalComputed, alarms: tuple[Alarm, ...], budget: Budget) -> str:
    """What the next prompt says about the approach, a few sentences."""
    if signal.fits and not alarms:
        return f"{_PACE_IS_ENOUGH[signal.band]} {_pace(signal, budget)}"
    progress = [alarm for alarm in alarms if alarm.alarm in PROGRESS_ALARMS]
    wide = signal.band in ("significant", "critical")
    # To continue as before is no advice beside an alarm that says it does not work.
    said = [_ADVICE[signal.band]] if wide or not progress else []
    said += [alarm.reason for alarm in alarms] or [_pace(signal, budget)]
    remedies = dict.fromkeys(name for alarm in progress for name in alarm.interventions)
    if remedies:
        said.append(f"Suggested: {in_words(', '.join(remedies))}.")
    return " ".join(said)


_ADVICE: dict[Band, str] = {
    "near_completion": "Continue the current approach.",
    "moderate": "Maintain focus and monitor progress.",
    "significant": "Consider adjusting the strategy.",
    "critical": "Pivot to a different approach, or escalate if none is left.",
}
_PACE_IS_ENOUGH: dict[Band, str] = {
    "near_completion": _ADVICE["near_completion"],
    "moderate": _ADVICE["moderate"],
    "significant": "The gap is significant, but the pace is enough: keep the approach.",
    "critical": "The gap is wide, but the pace is enough: keep the approach.",
}


def _pace(signal: SignalComputed, budget: Budget) -> str:
    left = max(0, budget.max_iterations - signal.iteration)
    if signal.forecast is None:
        return f"Completion is not rising at present; {left} iterations are left."
    return f"At this pace about {signal.forecast:.0f} more iterations are needed; {left} are left."
