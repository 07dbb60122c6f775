"""Describe the control signal in the next prompt: its urgency and advice.

The advice questions the strategy only if there is evidence against it; being far from done is not a
fault in itself.
"""

import math

from ralph_tui.events.control import Band, Profile, SignalComputed, Trend, Urgency
from ralph_tui.layers.control.alarms import PROGRESS_ALARMS, Alarm
from ralph_tui.layers.control.law import SLACK, Budget
from ralph_tui.text.format import count, points_gained
from ralph_tui.text.terms import remedy_words

_URGENCIES: dict[Band, Urgency] = {
    "near_completion": "low",
    "moderate": "normal",
    "significant": "high",
    "critical": "critical",
}


def urgency_of(band: Band, *, alarm_up: bool, fits: bool) -> Urgency:
    """Return the urgency: at least high during an alarm, at least normal for a late forecast."""
    urgency = _URGENCIES[band]
    if alarm_up and urgency in ("low", "normal"):
        return "high"
    return "normal" if urgency == "low" and not fits else urgency


def band_words(band: Band) -> str:
    """Return the band's display name: how strongly the loop is corrected."""
    return _BAND_WORDS[band]


_BAND_WORDS: dict[Band, str] = {
    "near_completion": "low",
    "moderate": "moderate",
    "significant": "high",
    "critical": "critical",
}


def profile_words(profile: Profile) -> str:
    """Return the display name of a gain profile: its phase, or its effect on the loop."""
    return _PROFILES[profile]


_PROFILES: dict[Profile, str] = {
    "exploration": "first iterations",
    "focused": "settled",
    "aggressive": "pushed harder",
    "damped": "calmed",
}


def advice(
    signal: SignalComputed,
    alarms: tuple[Alarm, ...],
    budget: Budget,
    *,
    episode: bool = False,
    redirected: bool = False,
    planned: bool = False,
    rose: bool = True,
    measured: bool = True,
    iteration: int | None = None,
) -> str:
    """Return two paragraphs about urgency and approach for the next prompt.

    An insufficient pace is never praised, nor is any pace while an `episode` is open. The strategy
    is called wrong only while a progress alarm is up or the forecast does not fit. If the agent was
    `redirected`, the text refers to the redirect; otherwise it refers to the strategy, if one was
    `planned`.

    `rose`: completion also rose in the last iteration. If it was not `measured`, the text omits
    trend and pace. `iteration` is the one the prompt is for; None means the one after the
    measurement.
    """
    remain = _remain(budget, iteration or signal.iteration + 1)
    progress = [alarm for alarm in alarms if alarm.alarm in PROGRESS_ALARMS]
    enough = measured and signal.fits and not progress and not episode
    words = (_PACE_IS_SUFFICIENT if enough else _PACE_IS_TOO_SLOW)[signal.urgency]
    explained = redirected or planned
    if explained:
        words = f"The {'redirect' if redirected else 'strategy'} above says how to continue."
    doubt = not (explained or (signal.fits and not progress))
    sentences = [_ADVICE[signal.band]] if doubt and signal.band in _ADVICE else []
    if not measured or (explained and progress):  # the reason is already given
        sentences.append(f"{remain}.")
    else:
        sentences += [alarm.work for alarm in progress] or [_pace(signal, remain)]
    sentences += [alarm.work for alarm in alarms if alarm not in progress]
    remedies = dict.fromkeys(name for alarm in progress for name in alarm.interventions)
    if remedies and not explained:
        sentences.append(f"Suggested: {remedy_words(remedies)}.")
    but = ", though not in the last one" if signal.trend == "improving" and not rose else ""
    trend = ""
    if signal.trend and measured:
        trend = f" Trend over the last iterations: {_TRENDS[signal.trend]}{but}."
        if not progress:  # an alarm says what happened instead
            trend += f" Pace: {points_gained(100 * signal.velocity)} per iteration."
    return f"Urgency: {signal.urgency}.{trend} {words}\n\n{' '.join(sentences)}"


_TRENDS: dict[Trend, str] = {
    "improving": "improving",
    "flat": "flat",
    "oscillating": "up and down",
    "regressing": "falling",
}
_ADVICE: dict[Band, str] = {
    "significant": "Consider adjusting the strategy.",
    "critical": "Try another approach, or say plainly that none is left.",
}
_PACE_IS_SUFFICIENT: dict[Urgency, str] = {
    "low": "The pace is sufficient: keep the approach, and do not change what works.",
    "normal": "The pace is sufficient: keep the approach, one open task at a time.",
    "high": "Much work remains, but the pace is sufficient: keep the approach.",
    "critical": "Most of the work remains, but the pace is sufficient: keep the approach.",
}
_PACE_IS_TOO_SLOW: dict[Urgency, str] = {
    "low": "Work on one open task at a time.",
    "normal": "Work on one open task at a time.",
    "high": "Progress is too slow for this run: take the step that gains the most.",
    "critical": "Most of the work remains, and the current approach is not working: step "
    "back, name the main obstacle, and tackle that first.",
}


def _pace(signal: SignalComputed, remain: str) -> str:
    if signal.forecast is None:
        return f"Completion is not rising; {remain}."
    more = count(iterations_needed(signal.forecast), "more iteration")
    return f"At this pace, about {more} to go; {remain}."


def _remain(budget: Budget, iteration: int) -> str:
    left = max(0, budget.max_iterations - iteration + 1)
    return "1 iteration is left" if left == 1 else f"{left} iterations are left"


def iterations_needed(forecast: float) -> int:
    """Return the whole iterations that a forecast requires, at least one."""
    return max(1, math.ceil(forecast - SLACK))
