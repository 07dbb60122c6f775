"""Evaluate one measurement: metrics, gains, signal and alarms, based on the previous evaluation.

If the control law fails, `default_signal` applies default gains to the error alone and calls
nothing that may have failed. The sums continue, so the next signal is unaffected.
"""

from typing import NamedTuple

from ralph_tui.events.control import (
    AlarmCleared,
    AlarmName,
    AlarmRaised,
    Band,
    Profile,
    SignalComputed,
    Trend,
)
from ralph_tui.layers.control.advice import urgency_of
from ralph_tui.layers.control.alarms import Alarm, conditions
from ralph_tui.layers.control.history import History, Sample, above
from ralph_tui.layers.control.law import (
    PROFILES,
    Budget,
    Gains,
    Metrics,
    band_of,
    follow,
    measure,
    output,
    schedule,
)
from ralph_tui.layers.settings import ControlSettings


class Evaluation(NamedTuple):
    """Layer 1's result for one measurement; its events have no timestamps yet."""

    signal: SignalComputed
    conditions: tuple[Alarm, ...]
    """Conditions that hold now, even if control is disabled: evidence for the overseer."""
    alarms: tuple[Alarm, ...]
    """Alarms that are active."""
    raised: tuple[AlarmRaised, ...]
    """Alarms that were not active at the previous measurement, to be recorded."""
    cleared: tuple[AlarmCleared, ...]
    """Alarms that are no longer active, to be recorded."""


class AlarmUpdate(NamedTuple):
    """Changes of alarms at a measurement; its events have no timestamps yet."""

    conditions: tuple[Alarm, ...]
    alarms: tuple[Alarm, ...]
    raised: tuple[AlarmRaised, ...]
    cleared: tuple[AlarmCleared, ...]

    @property
    def holding(self) -> set[AlarmName]:
        """Names of the conditions that hold."""
        return {condition.alarm for condition in self.conditions}


def evaluate(
    history: History,
    budget: Budget,
    settings: ControlSettings | None = None,
    *,
    previous: Evaluation | None = None,
    damped: bool = False,
    issues: int = 0,
) -> Evaluation:
    """Evaluate the latest measurement in `history`, which must contain one after the baseline.

    `damped`: an approved oscillation redirect from an earlier measurement is in effect. `issues`
    counts new learnings and blockers.
    """
    settings = settings or ControlSettings()
    watched = watch(history, budget, settings, previous)
    before = previous.signal if previous else None
    signal = compute(history, budget, settings, watched, before, damped=damped, issues=issues)
    return evaluation_of(signal, watched)


def evaluation_of(signal: SignalComputed, watched: AlarmUpdate) -> Evaluation:
    """Combine a signal and the alarms into one evaluation."""
    return Evaluation(signal, watched.conditions, watched.alarms, watched.raised, watched.cleared)


def watch(
    history: History, budget: Budget, settings: ControlSettings, previous: Evaluation | None
) -> AlarmUpdate:
    """Return the conditions at the latest measurement, and the alarms they raise and clear."""
    found = conditions(history, budget, settings)
    holding = {condition.alarm for condition in found}
    alarms, are_up = (found, holding) if settings.enabled else ((), set[AlarmName]())
    were_up = {alarm.alarm for alarm in previous.alarms} if previous else set()
    return AlarmUpdate(
        conditions=found,
        alarms=alarms,
        raised=tuple(
            AlarmRaised(
                iteration=history.iteration,
                alarm=alarm.alarm,
                severity=alarm.severity,
                reason=alarm.reason,
                interventions=list(alarm.interventions),
            )
            for alarm in alarms
            if alarm.alarm not in were_up
        ),
        cleared=tuple(
            AlarmCleared(iteration=history.iteration, alarm=name)
            for name in sorted(were_up - are_up)
        ),
    )


def compute(
    history: History,
    budget: Budget,
    settings: ControlSettings,
    watched: AlarmUpdate,
    before: SignalComputed | None,
    *,
    damped: bool = False,
    issues: int = 0,
) -> SignalComputed:
    """Compute metrics, gains and signal for the latest measurement, after the signal `before`."""
    metrics = measure(
        history,
        budget,
        settings,
        previous_integral=before.integral if before else 0.0,
        previous_issue_load=before.issue_load if before else 0.0,
        issues=issues,
    )
    profile: Profile = "focused"
    gains = PROFILES[profile]
    if settings.enabled and settings.adaptive_gains:
        profile = schedule(
            metrics,
            budget,
            settings,
            iteration=history.iteration,
            damped=damped,
            holding=watched.holding,
        )
        held = Gains(before.kp, before.ki, before.kd) if before else None
        gains = follow(held, PROFILES[profile], settings)
    return _signal(
        history,
        metrics,
        profile,
        gains,
        settings,
        trend=trend_of(history, metrics, settings, watched.holding),
        alarm_up=bool(watched.alarms),
    )


def trend_of(
    history: History, metrics: Metrics, settings: ControlSettings, holding: set[AlarmName]
) -> Trend:
    """Return the direction of completion; `holding` names the conditions that hold."""
    if "REGRESSING" in holding:
        return "regressing"
    if "OSCILLATING" in holding:
        return "oscillating"
    if "STUCK" in holding:
        return "flat"  # the window may still contain an earlier rise
    start = history.best_before(min(settings.window_size, history.length))
    rose = start is not None and history.rose_since(start)
    return "improving" if above(metrics.velocity, 0) and (metrics.fits or rose) else "flat"


def _signal(
    history: History,
    metrics: Metrics,
    profile: Profile,
    gains: Gains,
    settings: ControlSettings,
    *,
    trend: Trend,
    alarm_up: bool,
) -> SignalComputed:
    signal = output(metrics, gains, settings)
    band = band_of(signal)
    return SignalComputed(
        iteration=history.iteration,
        completion=history.reading / 100,
        proportional=metrics.proportional,
        integral=metrics.integral,
        integral_mean=metrics.integral_mean,
        derivative=metrics.derivative,
        velocity=metrics.velocity,
        volatility=metrics.volatility,
        issue_load=metrics.issue_load,
        forecast=metrics.forecast,
        fits=metrics.fits,
        trend=trend,
        best_at=history.best_at,
        profile=profile,
        kp=gains.kp,
        ki=gains.ki,
        kd=gains.kd,
        output=signal,
        band=band,
        urgency=urgency_of(band, alarm_up=alarm_up, fits=metrics.fits)
        if settings.enabled
        else "normal",
    )


_BANDS: tuple[tuple[float, Band], ...] = (
    (0.3, "near_completion"),
    (0.5, "moderate"),
    (0.7, "significant"),
)


def keep_alarms(previous: Evaluation | None) -> AlarmUpdate:
    """Return the fallback: no known conditions, and unchanged alarms."""
    return AlarmUpdate((), previous.alarms if previous else (), (), ())


def check_signal(signal: SignalComputed, sample: Sample) -> SignalComputed:
    """Return `signal`; raise ``TypeError`` or ``ValueError`` if it does not fit the measurement."""
    if not isinstance(signal, SignalComputed):
        raise TypeError(f"expected a signal, not a {type(signal).__name__}")
    if signal.iteration != sample.iteration or not 0 <= signal.output <= 1:
        raise ValueError(f"a signal of {signal.output} at iteration {signal.iteration}")
    return signal


def default_signal(
    sample: Sample, settings: ControlSettings, before: SignalComputed | None, issues: int = 0
) -> SignalComputed:
    """Compute the signal from the measurement's error alone; `before` is the previous signal."""
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
