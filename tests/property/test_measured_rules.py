"""Rules for every series of counts: T, broken builds, silence, growth, patience at the end."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.events.sensor import GateFinished
from ralph_tui.layers.control.history import History, Sample
from ralph_tui.layers.control.law import Budget, Patience
from ralph_tui.layers.sensor.agent_report import AgentReport
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.layers.sensor.sensor import UNPROVEN, Sensor
from ralph_tui.layers.settings import ControlSettings
from tests.rows import each_row

NAMES = "abcdefgh"


@st.composite
def gates(draw: st.DrawFn) -> GateResult:
    """Verifications of all kinds: counted, silent, broken, cut off."""
    kind = draw(st.sampled_from(["counts", "counts", "counts", "silent", "broken", "late"]))
    if kind == "silent":
        return GateResult(ok=False, exit_code=137, tail="Killed")
    failing = tuple(sorted(draw(st.sets(st.sampled_from(NAMES)))))
    passed = draw(st.integers(0, 30))
    if kind == "broken":
        counts = Counts("go", passed, len(failing), 2, failing=failing, broken="undefined: f")
        return GateResult(ok=False, exit_code=2, counts=counts)
    counts = Counts("pytest", passed, len(failing), failing=failing)
    ok = not failing and draw(st.booleans())
    return GateResult(ok=ok, exit_code=int(not ok), counts=counts, timed_out=kind == "late")


SERIES = st.lists(gates(), min_size=1, max_size=12)


def finished(k: int, gate: GateResult) -> GateFinished:
    counts = gate.counts
    return GateFinished(
        iteration=k,
        ok=gate.ok,
        exit_code=gate.exit_code,
        timed_out=gate.timed_out,
        runner=counts.runner if counts else None,
        passed=counts.passed if counts else None,
        failed=counts.failed if counts else 0,
        errors=counts.errors if counts else 0,
        failing=list(counts.failing) if counts else [],
        broken=counts.broken if counts else "",
        duration_s=1,
    )


def recalled(sensor: Sensor, series: Sequence[GateResult]) -> Sensor:
    """Another sensor that reads a journal of the same readings."""
    other = Sensor()
    for k, gate in enumerate(series):
        reading = sensor.read(k, gate) if k else sensor.baseline(gate, None)
        other.recall(finished(k, gate))
        other.recall(reading.event())
    return other


@given(SERIES)
def test_what_is_expected_never_falls_and_bounds_every_reading(series: list[GateResult]) -> None:
    sensor, expected = Sensor(), 0
    for k, gate in enumerate(series):
        reading = sensor.read(k, gate) if k else sensor.baseline(gate, None)
        assert sensor.state.most >= expected
        expected = sensor.state.most
        if reading.source == "tests" and reading.passed is not None and reading.completion < 100:
            assert reading.expected == expected
            assert reading.completion <= 100 * reading.passed / max(expected, 1) + 1e-9


@given(SERIES)
def test_once_counted_no_claim_and_no_estimate_is_read(series: list[GateResult]) -> None:
    sensor = Sensor()
    sensor.baseline(GateResult(ok=False, exit_code=1, counts=Counts("pytest", 3, 5)), None)
    value = sensor.state.value
    for k, gate in enumerate(series, 1):
        reading = sensor.read(k, gate, Progress(1, 2), AgentReport(95.0), 90.0)
        assert reading.source == "tests"
        if gate.counts is None or gate.timed_out:
            assert reading.held or gate.ok
            assert reading.completion == min(UNPROVEN, value) or gate.ok
        else:
            assert not reading.held
        value = reading.completion


@given(SERIES)
def test_a_broken_build_feeds_no_novelty_no_growth_and_one_warning(
    series: list[GateResult],
) -> None:
    sensor, broken = Sensor(), False
    for k, gate in enumerate(series):
        reading = sensor.read(k, gate) if k else sensor.baseline(gate, None)
        if reading.broken and not reading.held:
            assert (reading.novel, reading.added, reading.missing) == (0, 0, 0)
            said = [one for one in reading.warnings if one.startswith("build broken: ")]
            assert len(said) == (not broken)
        if not reading.held:
            broken = bool(reading.broken)


@given(SERIES)
def test_growth_is_only_where_every_failure_stays(series: list[GateResult]) -> None:
    sensor = Sensor()
    for k, gate in enumerate(series):
        before = sensor.state
        reading = sensor.read(k, gate) if k else sensor.baseline(gate, None)
        if reading.added:
            assert gate.counts
            assert before.names.failing
            assert before.names.failing <= set(gate.counts.failing)
            assert reading.grew
            assert reading.novel == 0


@given(SERIES)
def test_a_journal_tells_what_is_expected(series: list[GateResult]) -> None:
    live = Sensor()
    other = recalled(live, series)
    for name in ("most", "silent", "value", "broken", "passed", "total", "source"):
        assert getattr(other.state, name) == getattr(live.state, name), name


READINGS = st.lists(st.integers(0, 999).map(lambda tenths: tenths / 10), min_size=1, max_size=25)


@given(READINGS, st.floats(0, 100), st.data())
def test_growth_leaves_the_best_as_old_as_it_was(
    readings: list[float], baseline: float, data: st.DataObject
) -> None:
    history = History(baseline)
    for k, reading in enumerate(readings, 1):
        best_at, rises, waited, pace = (
            history.best_at,
            history.rises,
            history.since_rise,
            history.pace * history.length,
        )
        hollow = data.draw(st.booleans())
        history.add(Sample(k, reading, grew=hollow, hollow=hollow))
        assert history.best >= reading - 1e-9
        if hollow:
            assert (history.best_at, history.rises, history.since_rise) == (
                best_at,
                rises,
                waited + 1,
            )
            assert abs(history.pace * history.length - pace) < 1e-6


@each_row("grown", [[95.0], [42.0] * 20])
def test_growth_makes_no_rise_of_a_gain_that_was_too_small(grown: list[float]) -> None:
    history = History(0.0)
    for k, reading in enumerate([40.0, 42.0, *grown], 1):
        history.add(Sample(k, reading, grew=k > 2, hollow=k > 2))
    assert (history.rises, history.since_rise) == (1, 1 + len(grown))


@given(READINGS, st.floats(0, 100), st.data())
def test_a_broken_build_teaches_no_patience(
    readings: list[float], baseline: float, data: st.DataObject
) -> None:
    history, plain = History(baseline), History(baseline)
    for k, reading in enumerate(readings, 1):
        broken = data.draw(st.booleans())
        history.add(Sample(k, reading, broken=broken))
        plain.add(Sample(k, reading))
        assert history.longest_wait <= plain.longest_wait
        assert (history.since_rise, history.best) == (plain.since_rise, plain.best)


@given(READINGS, st.floats(0, 100), st.floats(0, 100))
def test_counts_that_come_again_start_the_windows_at_the_old_best(
    readings: list[float], baseline: float, again: float
) -> None:
    history = History(baseline)
    for k, reading in enumerate(readings, 1):
        history.add(Sample(k, reading))
    best = history.best
    history.add(Sample(len(readings) + 1, again, regained=True))

    assert (history.best, history.reading) == (max(best, again), again)
    assert (history.length, history.since_rise, history.calm) == (0, 0, 0)


@given(READINGS, st.floats(0, 100), st.integers(1, 300), st.integers(0, 400))
def test_patience_by_what_is_left_only_lengthens_the_end(
    readings: list[float], baseline: float, most: int, tests: int
) -> None:
    history, settings = History(baseline), ControlSettings()
    for k, reading in enumerate(readings, 1):
        history.add(Sample(k, reading))
    now = Patience.of(history, Budget(most, tests), settings)
    older = Patience.of(history, Budget(most, tests, slow_last=False), settings)

    assert older.short <= now.short <= max(3, older.short, -(-12 * most // 100))
    items = tests or 100
    few = items * (100 - history.best) / 100 <= max(3, items / 20) + 1e-9
    if history.best < 79.999 or not few:
        assert now == older
