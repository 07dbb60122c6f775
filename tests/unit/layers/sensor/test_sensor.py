"""The sensor: which source speaks, what it reads, when a run is completed, what is worth a WARN."""

import pytest

from ralph_tui.events.sensor import GateFinished, ReadingTaken
from ralph_tui.events.workspace import CategoryTotal, FilesChanged
from ralph_tui.layers.sensor.agent_report import AgentReport
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.layers.sensor.sensor import UNPROVEN, Reading, Sensor


def red(passed: int | None = None, failed: int = 0, errors: int = 0) -> GateResult:
    counts = None if passed is None else Counts("pytest", passed, failed, errors)
    return GateResult(ok=False, exit_code=1, counts=counts)


def green(passed: int | None = None, failed: int = 0) -> GateResult:
    counts = None if passed is None else Counts("pytest", passed, failed)
    return GateResult(ok=True, exit_code=0, counts=counts)


def started(
    gate: GateResult | None, plan: Progress | None = None, progress: str = "auto"
) -> Sensor:
    sensor = Sensor(progress)
    sensor.baseline(gate, plan)
    return sensor


def test_the_baseline_counts_tests() -> None:
    reading = Sensor().baseline(red(3, 9), Progress(1, 2))

    assert reading == Reading(0, 25.0, "tests", passed=3, total=12)


def test_nothing_to_read_is_zero_and_says_so() -> None:
    reading = Sensor().baseline(red(), None)

    assert (reading.completion, reading.held, reading.total) == (0.0, True, None)
    assert reading.note == "nothing to read yet"


@pytest.mark.parametrize(
    ("gate", "plan", "claim", "estimate", "source", "completion"),
    [
        (red(1, 1), Progress(1, 4), 90.0, 10.0, "tests", 50.0),
        (red(), Progress(1, 4), 90.0, 10.0, "plan", 25.0),
        (red(), None, 90.0, 10.0, "agent", 90.0),
        (red(), None, None, 10.0, "estimate", 10.0),
        (None, None, None, 10.0, "estimate", 10.0),
    ],
)
def test_the_first_source_that_can_speak_is_taken(
    gate: GateResult | None,
    plan: Progress | None,
    claim: float | None,
    estimate: float,
    source: str,
    completion: float,
) -> None:
    reading = started(red()).read(1, gate, plan, AgentReport(claim), estimate)

    assert (reading.source, reading.completion, reading.restarted) == (source, completion, False)


def test_it_stays_with_its_source() -> None:
    sensor = started(red(), Progress(1, 4))

    assert sensor.read(1, red(9, 1), Progress(2, 4)).source == "plan"


def test_silence_is_held_and_the_third_in_a_row_is_a_switch() -> None:
    sensor = started(red(5, 5))

    readings = [sensor.read(k, red(), None, AgentReport(80.0)) for k in range(1, 5)]

    assert [reading.completion for reading in readings] == [50.0, 50.0, 80.0, 80.0]
    assert [reading.held for reading in readings] == [True, True, False, False]
    assert [reading.restarted for reading in readings] == [False, False, True, False]
    assert [reading.source for reading in readings] == ["tests", "tests", "agent", "agent"]


def test_a_word_in_between_ends_the_silence() -> None:
    sensor = started(red(5, 5))
    gates = [red(), red(), red(6, 4), red(), red()]

    sources = [
        sensor.read(k, gate, None, AgentReport(80.0)).source for k, gate in enumerate(gates, 1)
    ]

    assert set(sources) == {"tests"}


def test_without_another_voice_the_last_value_stays() -> None:
    sensor = started(red(5, 5))

    readings = [sensor.read(k, red()) for k in range(1, 6)]

    assert all(reading.held and reading.completion == 50.0 for reading in readings)


def test_a_fixed_source_never_gives_way() -> None:
    sensor = started(red(5, 5), progress="agent")

    readings = [sensor.read(k, red(6, 4)) for k in range(1, 6)]

    assert {(reading.source, reading.completion) for reading in readings} == {("agent", 0.0)}
    assert sensor.read(6, red(6, 4), None, AgentReport(30.0)).completion == 30.0


def test_counts_of_a_gate_that_was_cut_off_are_not_all() -> None:
    sensor = started(red(5, 5))
    cut = GateResult(ok=False, exit_code=None, timed_out=True, counts=Counts("tap", 1))

    reading = sensor.read(1, cut)

    assert (reading.completion, reading.held) == (50.0, True)


def test_only_a_passed_gate_reads_100() -> None:
    sensor = started(red(0, 5), Progress(0, 1))

    assert sensor.read(1, red(5), Progress(1, 1), AgentReport(100.0)).completion == UNPROVEN
    passed = sensor.read(2, green(5))
    assert passed.completion == 100.0


def test_a_gate_that_passes_without_counts_completes() -> None:
    reading = started(red()).read(1, green(), None, AgentReport(20.0))

    assert reading.completion == 100.0


def test_progress_is_measured_against_the_baseline_total() -> None:
    sensor = started(red(5, 15))

    assert sensor.read(1, red(8, 2)).completion == 40.0
    assert sensor.read(2, red(10, 30)).completion == 25.0


def test_tests_added_first_are_no_regression() -> None:
    sensor = started(red(5, 5))

    more = sensor.read(1, red(5, 15))
    fewer_pass = sensor.read(2, red(4, 26))

    assert (more.completion, more.grew) == (25.0, True)
    assert fewer_pass.grew is False
    assert sensor.read(3, red(6, 24)).grew is False


def test_coming_back_from_a_collection_error_is_progress_not_growth() -> None:
    sensor = started(red(5, 15))

    assert sensor.read(1, red(0, 0, 1)).completion == 0.0
    assert sensor.read(2, red(9, 11)).grew is False


def test_nothing_collected_is_zero() -> None:
    sensor = started(red(5, 5))

    reading = sensor.read(1, red(0))

    assert (reading.completion, reading.held, reading.total) == (0.0, False, 0)


def test_a_gate_that_passes_because_the_tests_are_gone_does_not_complete() -> None:
    sensor = started(red(5, 5))

    for iteration in (1, 2):
        reading = sensor.read(iteration, green(0), changed=["test_a.py"], promise=True)
        assert reading.completion == 0.0
    assert sensor.read(3, green(10)).completion == 100.0


def test_green_at_the_baseline_needs_promise_and_change() -> None:
    sensor = Sensor()
    baseline = sensor.baseline(green(4), None)

    assert (baseline.completion, baseline.source, baseline.held) == (0.0, "estimate", True)
    assert "passes already" in baseline.note
    assert sensor.read(1, green(4), promise=True).completion < 100
    assert sensor.read(2, green(4), changed=["a.py"]).completion < 100
    assert sensor.read(3, red(3, 1), promise=True).completion < 100
    last = sensor.read(4, green(4), promise=True)
    assert last.completion == 100.0


def test_a_command_that_was_green_at_the_baseline_measures_no_progress() -> None:
    sensor = Sensor()
    sensor.baseline(green(4), None)

    agent = sensor.read(1, green(4), None, AgentReport(30.0), changed=["a.py"])
    assert (agent.completion, agent.source) == (30.0, "agent")
    assert sensor.read(2, green(0), promise=True).completion == 30.0, "its tests vanished"


def test_a_run_recorded_with_tests_at_a_green_baseline_keeps_them() -> None:
    sensor = Sensor()
    sensor.recall(GateFinished(iteration=0, ok=True, passed=4))
    sensor.recall(ReadingTaken(iteration=0, completion=UNPROVEN, source="tests", passed=4, total=4))

    reading = sensor.read(1, green(4), None, AgentReport(30.0))
    assert (reading.completion, reading.source) == (UNPROVEN, "tests")


def test_with_a_criterion_no_pass_completes_and_a_promise_can_be_asked_for() -> None:
    assert started(red(3, 1)).read(1, green(4), by="judge").completion == UNPROVEN
    sensor = started(red(3, 1))
    assert sensor.read(1, green(4), changed=["a.py"], by="promise").completion == UNPROVEN
    assert sensor.read(2, green(4), promise=True, by="promise").completion == 100.0


def test_without_a_gate_nothing_completes() -> None:
    reading = started(None).read(1, None, Progress(2, 2), promise=True, changed=["a.py"])

    assert (reading.completion, reading.source) == (UNPROVEN, "plan")


def test_a_total_that_shrank_is_a_warning_once() -> None:
    sensor = started(red(5, 15))

    assert sensor.read(1, red(5, 5)).warnings == (
        "10 tests were counted, 20 before: see whether any were removed.",
    )
    assert sensor.read(2, red(5, 5)).warnings == ()
    assert sensor.read(3, red(0, 1)).warnings == (
        "1 test was counted, 10 before: see whether any were removed.",
    )


def test_changed_files_that_decide_are_named_as_what_they_are() -> None:
    sensor = Sensor(command="cd sub && ./tools/check.sh --all")
    sensor.baseline(red(5, 5), None)
    changed = ["src/a.py", "pyproject.toml", "tools/check.sh", "data.json", "sub/conftest.py"]
    changed += [f"tests/test_{n}.py" for n in range(7)]

    assert sensor.read(1, red(5, 5), changed=changed).warnings == (
        "Test files changed: tests/test_0.py, tests/test_1.py, tests/test_2.py, "
        "tests/test_3.py, tests/test_4.py and 2 more.",
        "Configuration of the completion command changed: pyproject.toml, sub/conftest.py.",
        "Files that the completion command names changed: tools/check.sh.",
    )


def test_it_goes_on_from_a_journal_where_it_stood() -> None:
    live, recalled = Sensor(), Sensor()
    recalled.recall(GateFinished(iteration=0, ok=True, passed=4))
    recalled.recall(live.baseline(green(4), None).event())
    recalled.recall(GateFinished(iteration=1, ok=False, passed=5, failed=3))
    recalled.recall(live.read(1, red(5, 3), changed=["a.py"]).event())
    docs = [CategoryTotal(category="docs", files=1)]
    recalled.recall(FilesChanged(iteration=1, live=False, totals=docs))
    recalled.recall(live.read(2, red()).event())

    assert recalled.state == live.state
    assert recalled.read(3, green(8), promise=True).completion == 100.0
