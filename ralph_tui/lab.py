"""What controller and overseer do with a series of readings: the same fold a live run makes."""

from collections.abc import Sequence
from dataclasses import dataclass

from ralph_tui.control import Budget, ControlSettings, Evaluation, History, Sample, evaluate
from ralph_tui.events.control import AlarmName, Band, Profile
from ralph_tui.oversight import Level, Oversight, OversightSettings, detect, judge
from ralph_tui.oversight.behavior import DetectionName


@dataclass(frozen=True)
class Row:
    """One iteration; completion and what derives from it are fractions, 0-1."""

    iteration: int
    completion: float
    proportional: float
    integral: float
    integral_mean: float
    derivative: float
    velocity: float
    volatility: float
    profile: Profile
    kp: float
    ki: float
    kd: float
    output: float
    band: Band
    alarms: tuple[AlarmName, ...]
    detections: tuple[DetectionName, ...]
    intervention: Level | None


def simulate(
    progress: Sequence[float],
    *,
    baseline: float = 0.0,
    max_iterations: int = 10,
    tests: int | None = None,
    control: ControlSettings | None = None,
    oversight: OversightSettings | None = None,
) -> list[Row]:
    """One row per reading of `progress` (points, 0-100), also after 100 or beyond the budget.

    Redirects are taken as approved, pauses as continued.
    """
    settings = control or ControlSettings()
    watched = (oversight or OversightSettings()).enabled
    budget = Budget(max_iterations, tests)
    history = History(baseline)
    state = Oversight()
    evaluation: Evaluation | None = None
    rows: list[Row] = []
    for iteration, completion in enumerate(progress, start=1):
        history.add(Sample(iteration, completion))
        evaluation = evaluate(
            history, budget, settings, previous=evaluation, damped=state.damps(history)
        )
        level: Level | None = None
        if watched:
            verdict = judge(state, history, evaluation, budget, settings)
            level = verdict.level
            state = verdict.state.answered(approved=True) if verdict.opened else verdict.state
        rows.append(_row(evaluation, level, watched=watched))
    return rows


def _row(evaluation: Evaluation, level: Level | None, *, watched: bool) -> Row:
    signal = evaluation.signal
    return Row(
        iteration=signal.iteration,
        completion=signal.completion,
        proportional=signal.proportional,
        integral=signal.integral,
        integral_mean=signal.integral_mean,
        derivative=signal.derivative,
        velocity=signal.velocity,
        volatility=signal.volatility,
        profile=signal.profile,
        kp=signal.kp,
        ki=signal.ki,
        kd=signal.kd,
        output=signal.output,
        band=signal.band,
        alarms=tuple(alarm.alarm for alarm in evaluation.alarms),
        detections=tuple(found.name for found in detect(evaluation.conditions)) if watched else (),
        intervention=level,
    )
