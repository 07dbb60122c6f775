"""The sensor: choice of source, measurement, completion of a run, and warnings."""

from dataclasses import replace

from ralph_tui.events.sensor import GateFinished, ReadingTaken
from ralph_tui.events.workspace import CategoryTotal, FileChange, FilesChanged
from ralph_tui.layers.sensor.agent_report import AgentReport
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.layers.sensor.reading import Reading
from ralph_tui.layers.sensor.sensor import UNPROVEN, Sensor
from ralph_tui.state.gate import GateFold
from tests.rows import each_row


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

    assert reading == Reading(0, 25.0, "tests", passed=3, total=12, expected=12)


def test_nothing_to_read_is_zero_and_says_so() -> None:
    reading = Sensor().baseline(red(), None)

    assert (reading.completion, reading.held, reading.total) == (0.0, True, None)
    assert reading.note == "nothing to read yet"


@each_row(
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


def test_a_measured_source_is_never_replaced_by_a_claim() -> None:
    sensor = started(red(5, 5))
    killed = GateResult(ok=False, exit_code=137, tail="collecting\nKilled\n")

    readings = [sensor.read(k, killed, None, AgentReport(80.0), 90.0) for k in range(1, 6)]

    assert {(one.completion, one.held, one.source) for one in readings} == {(50.0, True, "tests")}
    assert [one.warnings for one in readings] == [
        (
            "Not measured since the start: the completion command gives no counts: exit code 137, "
            "last line: Killed. Completion stays at 50 %.",
        ),
        *[()] * 4,
    ]
    assert all(one.expected == 10 for one in readings)


@each_row(("silent", "regained"), [(1, False), (2, False), (3, True), (7, True)])
def test_the_first_counts_that_come_again_are_taken_at_once(silent: int, *, regained: bool) -> None:
    sensor = started(red(5, 5))
    for k in range(1, silent + 1):
        sensor.read(k, red(), Progress(1, 4), AgentReport(80.0))

    again = sensor.read(silent + 1, red(4, 6))

    assert (again.completion, again.source, again.held) == (40.0, "tests", False)
    assert (again.regained, again.restarted) == (regained, False)


@each_row("claim", ["agent", "estimate"])
def test_what_is_measured_takes_over_from_a_claim_at_once(claim: str) -> None:
    sensor = started(red())
    said = AgentReport(90.0) if claim == "agent" else None
    assert sensor.read(1, red(), None, said, 30.0).source == claim

    measured = sensor.read(2, red(2, 8), None, AgentReport(95.0), 40.0)

    assert (measured.source, measured.completion, measured.restarted) == ("tests", 20.0, True)
    assert sensor.read(3, red(), None, AgentReport(95.0), 40.0).completion == 20.0


BROKEN = GateResult(
    ok=False, exit_code=2, counts=Counts("pytest", 0, 0, 1, 0, ("calc",), "SyntaxError: oops")
)


def named(passing: int, *failing: str, exit_code: int = 1) -> GateResult:
    counts = Counts("pytest", passing, len(failing), failing=failing)
    return GateResult(ok=exit_code == 0, exit_code=exit_code, counts=counts)


def test_a_broken_build_is_measured_against_what_is_expected() -> None:
    sensor = started(named(12, "a", "b", "c"))

    broken = [sensor.read(k, BROKEN) for k in (1, 2)]
    mended = sensor.read(3, named(12, "a", "b", "c"))

    assert [one.completion for one in broken] == [0.0, 0.0]
    assert {(one.expected, one.broken) for one in broken} == {(15, "SyntaxError: oops")}
    assert [one.warnings for one in broken] == [("build broken: SyntaxError: oops",), ()]
    assert (mended.completion, mended.broken, mended.novel, mended.grew) == (80.0, "", 0, False)
    assert mended.warnings == ()


def test_few_tests_and_a_failing_command_are_a_broken_build() -> None:
    sensor = started(named(12, "a", "b", "c"))

    assert sensor.read(1, named(7)).broken == "7 of 15 tests counted, exit code 1"
    assert sensor.read(2, named(8)).broken == ""
    assert sensor.read(3, named(7, exit_code=0)).broken == ""


def test_what_a_broken_build_counts_beside_its_errors_is_expected_from_then_on() -> None:
    """A workspace whose packages compile one after the other."""
    sensor = started(red(0, 0, 3))
    first = GateResult(False, 1, counts=Counts("go", 10, 10, 2, broken="undefined: f"))

    reading = sensor.read(1, first)

    assert (reading.expected, round(reading.completion, 1)) == (20, 45.5)
    assert sensor.read(2, red(20, 20)).grew


def test_tests_that_are_gone_count_until_that_is_accepted() -> None:
    sensor = started(named(12, *"abcdefgh"))

    gone = sensor.read(1, named(12, *"abc"))
    passed = sensor.read(2, named(15, exit_code=0), promise=True)

    assert (gone.completion, gone.missing, gone.gone) == (60.0, 5, tuple("defgh"))
    assert gone.warnings == (
        "12 pass; 20 are expected (5 are gone: d, e, f, g, h): check whether they were removed.",
    )
    assert (passed.completion, passed.missing, passed.gone) == (75.0, 5, tuple("defgh"))
    sensor.recall(replace(passed, completion=100.0, expected=15, gone=()).event())
    assert sensor.read(3, named(14, "a")).expected == 15


def test_names_that_do_not_add_up_are_not_called_gone() -> None:
    sensor = started(named(12, *"abcdefgh"))

    assert sensor.read(1, named(13, *"abc")).gone == ()  # one of d to h may pass now


def test_new_tests_that_pass_beside_the_same_failures_are_growth() -> None:
    sensor = started(named(29, "a", "b"))

    assert sensor.read(1, named(41, "a", "b")).added == 12
    assert sensor.read(2, named(44, "a", "b", "c")).added == 3  # a new one that fails, too
    assert sensor.read(3, named(50, "b", "c")).added == 0  # a passes: that is work
    assert sensor.read(4, named(50, "b")).added == 0


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
    claimed = started(red())
    assert claimed.read(1, red(), None, AgentReport(20.0)).source == "agent"

    for reading in (
        claimed.read(2, green(), None, AgentReport(20.0)),
        started(red()).read(2, green()),
        started(red(1, 4)).read(2, green()),
    ):
        assert (reading.completion, reading.source, reading.passed) == (100.0, "tests", None)
        assert reading.note == "the completion command passed"
        assert "(the completion command passed)" in reading.event().line()
        known = GateFold()
        known.on_reading_taken(reading.event())
        assert known.origin == "command passed"
    assert started(green()).read(1, green()).completion < 100, "it passed before any work"
    tampered = started(red(1, 4)).read(2, green(), changed=["pyproject.toml"])
    assert tampered.completion < 100, "it may hide tests"


@each_row(
    ("passed", "changed", "doubted"),
    [(50, (), True), (50, ("app.py",), True), (50, ("test_x.py",), False), (45, (), False)],
)
def test_ten_times_as_many_tests_without_a_changed_test_file_are_doubted(
    passed: int, changed: tuple[str, ...], *, doubted: bool
) -> None:
    reading = started(red(1, 4)).read(1, red(passed - 1, 1), changed=changed)

    said = f"{passed} tests are counted, 5 before, and no test file changed: "
    said += "check what prints them."
    assert (said in reading.warnings) is doubted


def test_the_first_counts_after_a_broken_build_are_not_doubted() -> None:
    sensor = started(BROKEN)

    assert sensor.read(1, red(10, 40)).warnings == ()


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


def test_a_changed_command_that_passes_without_counts_does_not_complete() -> None:
    for changed in ("pytest.ini", "check.sh"):
        sensor = Sensor(command="./check.sh")
        sensor.baseline(red(1, 3), None)
        first = sensor.read(1, green(), changed=[changed], promise=True)
        assert (first.completion, first.missing, first.event().missing) == (25.0, 4, 4)
        later = sensor.read(2, green(), changed=["a.py"], promise=True)
        assert (later.completion, later.missing) == (25.0, 4), "the change is still there"
        recalled = Sensor(command="./check.sh")
        recalled.recall(GateFinished(iteration=0, ok=False, passed=1, failed=3))
        recalled.recall(first_reading := Sensor().baseline(red(1, 3), None).event())
        assert first_reading.total == 4
        change = FileChange(path=changed, status="modified", category="config")
        total = CategoryTotal(category="config", files=1)
        recalled.recall(FilesChanged(iteration=1, live=False, changes=[change], totals=[total]))
        assert recalled.read(2, green(), promise=True).missing == 4
        # Counts decide again once they return; so does an unchanged command.
        assert sensor.read(3, red(3, 1)).completion == 75.0
        assert sensor.read(4, green(), changed=["a.py"]).completion == 100.0
    assert started(red(1, 3)).read(1, green(), changed=["a.py"]).completion == 100.0


def test_a_runner_that_counts_only_failures_hides_no_tests() -> None:
    failing = GateResult(ok=False, exit_code=1, counts=Counts("Gradle", 1, 3))
    sensor = started(failing)

    assert sensor.read(1, green(), changed=["build.gradle"]).completion == 100.0
    recalled = Sensor()
    recalled.recall(GateFinished(iteration=0, ok=False, runner="Gradle", passed=1, failed=3))
    recalled.recall(started(failing).read(1, failing).event())
    assert recalled.read(2, green(), changed=["build.gradle"]).completion == 100.0


def test_green_at_the_baseline_needs_promise_and_change() -> None:
    sensor = Sensor()
    baseline = sensor.baseline(green(4), None)

    assert (baseline.completion, baseline.source, baseline.held) == (0.0, "estimate", True)
    assert "already passes" in baseline.note
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
        "5 pass; 20 are expected (10 are gone): check whether they were removed.",
    )
    assert sensor.read(2, red(5, 5)).warnings == ()
    assert sensor.read(3, red(0, 1)).warnings == (
        "build broken: 1 of 20 tests counted, exit code 1",
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
    recalled.recall(GateFinished(iteration=0, ok=True, runner="pytest", passed=4))
    recalled.recall(live.baseline(green(4), None).event())
    recalled.recall(GateFinished(iteration=1, ok=False, runner="pytest", passed=5, failed=3))
    recalled.recall(live.read(1, red(5, 3), changed=["a.py"]).event())
    docs = [CategoryTotal(category="docs", files=1)]
    recalled.recall(FilesChanged(iteration=1, live=False, totals=docs))
    recalled.recall(live.read(2, red()).event())

    assert recalled.state == live.state
    assert recalled.read(3, green(8), promise=True).completion == 100.0
