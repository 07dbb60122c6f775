"""Run the controller and overseer over measurements, with the same fold as a live run."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from ralph_tui import events as ev
from ralph_tui.events.control import AlarmName, Band, Profile
from ralph_tui.events.oversight import DetectionName, Level
from ralph_tui.layers.control.history import Sample
from ralph_tui.layers.control.law import Budget
from ralph_tui.layers.governor import Evaluated, Governor
from ralph_tui.layers.oversight import Evidence, OversightSettings
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.sensor import Sensor
from ralph_tui.layers.settings import ControlSettings, IntelligenceSettings
from ralph_tui.state import RunState


@dataclass(frozen=True)
class LabRow:
    """One iteration; completion and the values derived from it are fractions, 0-1."""

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


@dataclass(frozen=True)
class Compared:
    """An iteration of a recorded run, recomputed and as recorded."""

    row: LabRow
    """Computed with the given settings."""
    recorded: LabRow | None
    """As recorded; None if the record is incomplete."""


def simulate(
    progress: Sequence[float],
    *,
    baseline: float = 0.0,
    max_iterations: int = 10,
    tests: int | None = None,
    control: ControlSettings | None = None,
    oversight: OversightSettings | None = None,
) -> list[LabRow]:
    """Return a row per measurement of `progress` (points, 0-100).

    Rows continue after 100 and beyond the budget. Redirects count as approved, pauses as continued.
    """
    samples = (Sample(k, completion) for k, completion in enumerate(progress, start=1))
    return follow(samples, Budget(max_iterations, tests), baseline, control, oversight)


@dataclass(frozen=True)
class Verified:
    """The test counts of one run of a completion command."""

    passed: int
    total: int
    failing: tuple[str, ...] = ()
    """Names of failing tests; incomplete if not every name is known."""

    def gate(self) -> GateResult:
        """Return the counts as a verification result; it passes if every test does."""
        ok = self.total > 0 and self.passed == self.total
        counts = Counts("lab", self.passed, self.total - self.passed, failing=self.failing)
        return GateResult(ok=ok, exit_code=0 if ok else 1, counts=counts)


SILENT = GateResult(ok=False, exit_code=1)
"""Result of a failed completion command that reports no test counts."""


def measure(
    verified: Sequence[Verified | None],
    baseline: Verified,
    max_iterations: int = 10,
    control: ControlSettings | None = None,
    oversight: OversightSettings | None = None,
) -> list[LabRow]:
    """Like `simulate`, but from test counts read by the sensor; None: there were no counts."""
    sensor = Sensor("tests")
    begun = sensor.baseline(baseline.gate(), None)
    governor = Governor(begun.completion, control, oversight)
    rows: list[LabRow] = []
    silent = 0
    for k, counted in enumerate(verified, start=1):
        reading = sensor.read(k, counted.gate() if counted else SILENT)
        silent = silent + 1 if reading.held else 0
        sample = Sample(
            k,
            reading.completion,
            grew=reading.grew,
            novel=reading.novel > 0,
            regained=reading.regained,
            broken=bool(reading.broken),
            hollow=reading.added > 0,
        )
        evidence = Evidence(unmeasured=silent, silence=reading.note)
        evaluated = governor.take(sample, Budget(max_iterations, reading.expected), evidence)
        if evaluated.finding and evaluated.finding.opened:
            governor.answered(approved=True)
        rows.append(_row_of(evaluated))
    return rows


def follow(
    samples: Iterable[Sample],
    budget: Budget,
    baseline: float = 0.0,
    control: ControlSettings | None = None,
    oversight: OversightSettings | None = None,
) -> list[LabRow]:
    """Like `simulate`, but from samples that contain more than their completion."""
    governor = Governor(baseline, control, oversight)
    rows: list[LabRow] = []
    for sample in samples:
        evaluated = governor.take(sample, budget)
        if evaluated.finding and evaluated.finding.opened:
            governor.answered(approved=True)
        rows.append(_row_of(evaluated))
    return rows


def recompute(
    events: Sequence[ev.Event],
    control: ControlSettings | None = None,
    oversight: OversightSettings | None = None,
    intelligence: IntelligenceSettings | None = None,
) -> list[Compared]:
    """Return a row per measurement that a run has evaluated, beside its record in the journal.

    Answers, rollbacks and limits come from the journal. A redirect about which the user was not
    asked at the time counts as approved. A last measurement that the run did not evaluate also gets
    a row.
    """
    decided = {event.iteration for event in events if isinstance(event, ev.RedirectDecided)}
    state, governor = RunState(), Governor(0.0, control, oversight, intelligence)
    rows: list[LabRow] = []

    def take(found: Evaluated) -> None:
        rows.append(_row_of(found))
        opened = found.finding.opened if found.finding else None
        if opened and opened.opening.iteration not in decided:
            governor.answered(approved=True)

    waiting = False
    for event in events:
        evaluated = governor.recall(event, state)
        state.apply(event)
        if evaluated is not None:
            take(evaluated)
        if isinstance(event, ev.ReadingTaken | ev.SignalComputed):
            waiting = isinstance(event, ev.ReadingTaken) and event.iteration > 0
    if waiting:
        take(governor.read(state))
    then = [*_recorded(events), *[None] * waiting]
    return [Compared(row, recorded) for row, recorded in zip(rows, then, strict=True)]


@dataclass
class _Record:
    """The journal's record of one measurement."""

    signal: ev.SignalComputed
    alarms: tuple[AlarmName, ...] = ()
    check: ev.HealthChecked | None = None


def _recorded(events: Iterable[ev.Event]) -> Iterator[LabRow | None]:
    """Yield a row per signal of a journal; None if its health check is missing."""
    measured, watched, up = False, True, set[AlarmName]()
    records: list[_Record] = []
    for event in events:
        match event:
            case ev.RunStarted():
                watched = event.config.get("oversight.enabled") is not False
            case ev.ReadingTaken():
                measured = True
            case ev.SignalComputed() if measured:
                records.append(_Record(event))
            case ev.AlarmRaised():
                up.add(event.alarm)
            case ev.AlarmCleared():
                up.discard(event.alarm)
            case ev.HealthChecked() if records:
                records[-1].check = event
        if records:
            records[-1].alarms = _in_order(up)
    for record in records:
        check = record.check
        detections = tuple(found.name for found in check.detections) if check else ()
        level = check.level if check else None
        known = check is not None or not watched
        yield _row(record.signal, record.alarms, detections, level) if known else None


def _in_order(up: set[AlarmName]) -> tuple[AlarmName, ...]:
    return tuple(name for name in get_args(AlarmName) if name in up)


def _row_of(evaluated: Evaluated) -> LabRow:
    evaluation, finding = evaluated.evaluation, evaluated.finding
    return _row(
        evaluation.signal,
        tuple(alarm.alarm for alarm in evaluation.alarms),
        tuple(found.name for found in finding.detections) if finding else (),
        finding.level if finding else None,
    )


def _row(
    signal: ev.SignalComputed,
    alarms: tuple[AlarmName, ...],
    detections: tuple[DetectionName, ...],
    level: Level | None,
) -> LabRow:
    return LabRow(
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
        alarms=alarms,
        detections=detections,
        intervention=level,
    )
