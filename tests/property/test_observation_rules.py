"""Rules of the sensor and its readers that hold for any input."""

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_tui.events.sensor import GateFinished
from ralph_tui.events.workspace import Category, CategoryTotal, FileChange, FilesChanged
from ralph_tui.layers.sensor.agent_report import AgentReport, find_report, promised
from ralph_tui.layers.sensor.categories import categorize
from ralph_tui.layers.sensor.counts import count_tests
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.plan import Progress, read_plan
from ralph_tui.layers.sensor.sensor import SOURCES, UNPROVEN, Sensor
from tests.property.test_measured_rules import finished

few = st.integers(0, 30)
counts = st.builds(Counts, st.just("pytest"), few, few, few, few)
gates = st.none() | st.builds(
    GateResult,
    ok=st.booleans(),
    exit_code=st.just(0),
    timed_out=st.booleans(),
    counts=st.none() | counts,
).map(lambda gate: gate if not gate.timed_out else GateResult(False, None, timed_out=True))
plans = st.none() | st.tuples(few, few).map(lambda n: Progress(min(n), max(*n, 1)))
reports = st.none() | st.builds(AgentReport, completion=st.none() | st.floats(0, 100))
estimates = st.none() | st.floats()
paths = st.lists(st.sampled_from(["a.py", "tests/test_a.py", "pyproject.toml"]), max_size=2)
steps = st.lists(st.tuples(gates, plans, reports, estimates, st.booleans(), paths), max_size=12)
settings_of_progress = st.sampled_from(["auto", *SOURCES])


@given(settings_of_progress, gates, plans, steps)
def test_readings_are_points_and_100_is_a_passed_gate(
    progress: str,
    gate: GateResult | None,
    plan: Progress | None,
    loop: list[
        tuple[GateResult | None, Progress | None, AgentReport | None, float | None, bool, list[str]]
    ],
) -> None:
    live, recalled = Sensor(progress), Sensor(progress)
    baseline = live.baseline(gate, plan)
    recalled.recall(finished(0, gate) if gate else GateFinished(iteration=0, ok=False))
    recalled.recall(baseline.event())

    assert 0 <= baseline.completion <= UNPROVEN
    for k, (now, plan_now, report, estimate, promise, changed) in enumerate(loop, 1):
        before = live.state
        reading = live.read(k, now, plan_now, report, estimate, promise=promise, changed=changed)
        ok = now is not None and now.ok
        assert 0 <= reading.completion <= 100
        assert reading.completion == 100 or reading.completion <= UNPROVEN
        assert ok or reading.completion <= UNPROVEN
        assert not reading.held or reading.completion == min(UNPROVEN, before.value)
        assert progress in ("auto", reading.source) or reading.source == "tests"
        totals = [CategoryTotal(category="source", files=len(changed))] if changed else []
        changes = [FileChange(path=p, status="modified", category="source") for p in changed]
        recalled.recall(FilesChanged(iteration=k, live=False, totals=totals, changes=changes))
        if now is not None:
            recalled.recall(finished(k, now))
        recalled.recall(reading.event())
        assert recalled.state == live.state


line = st.text(st.characters(codec="utf-8"), max_size=60)
marks = st.sampled_from(
    [
        "=== test session starts ===",
        "=== FAILURES ===",
        "=== short test summary info ===",
        "FAILED a::b - c",
        "..F [100%]",
        "..F",
        "=== 1 failed in 0.10s ===",
        "2 passed in 0.10s",
        "!!! Interrupted: 1 error during collection !!!",
        "=" * 70,
        "-" * 70,
        "FAIL: test_a (b.C)",
        "Stdout:",
        "Ran 3 tests in 0.1s",
        "",
        "OK",
        "FAILED (failures=1)",
        "TAP version 13",
        "1..3",
        "1..0 # SKIP",
        "ok 1",
        "not ok 2 - x # TODO",
        "    not ok 1",
        "  ---",
        "  ...",
        "Bail out!",
        "# tests 3",
        "# pass 3",
        "Files=1, Tests=3, 0 wallclock",
        "<?xml version='1.0'?>",
        "<testsuite tests='3'>",
        "<testcase name='a'>",
        "<failure",
        "/>",
        "</testcase>",
        "</testsuite>",
        "<![CDATA[",
        "]]>",
        "FAIL a.test.js",
        "  \u25cf Test suite failed to run",
        "  \u25cf a \u203a b",
        "Test Suites: 1 failed, 1 total",
        "Tests:       1 failed, 1 total",
        "Snapshots:   0 total",
        "Time:        1 s",
        " RUN  v4.0.0 /srv",
        "\u23af\u23af Failed Suites 1 \u23af\u23af",
        " FAIL  a.test.js > b",
        " Test Files  1 failed (1)",
        "      Tests  1 failed | 9 passed (2)",
        "   Start at  10:00:00",
        "   Duration  1s",
        "  3 passing (5ms)",
        "  1 failing",
        "  1) a:",
        "       b",
        "\u2139 tests 3",
        "\u2139 suites 0",
        "\u2139 pass 2",
        "\u2139 fail 1",
        "\u2139 cancelled 0",
        "\u2139 skipped 0",
        "\u2139 todo 0",
        "test at a.js:1:2",
        "\u2716 a (1ms)",
        "=== RUN   TestA",
        "=== RUN   TestA/b",
        "=== PAUSE TestA",
        "--- FAIL: TestA (0.00s)",
        "    --- PASS: TestA/b (0.00s)",
        "PASS",
        "FAIL",
        "ok  \ta\t0.01s",
        "FAIL\ta\t0.01s",
        "FAIL\ta [build failed]",
        "?   \ta\t[no test files]",
        '{"Action":"run","Package":"a","Test":"TestA"}',
        '{"Action":"fail","Package":"a","Test":"TestA"}',
        '{"Action":"fail","Package":"a"}',
        '{"Action":"pass","Package":[]}',
        "running 2 tests",
        "test a ... FAILED",
        "failures:",
        "    a",
        "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
        "Caused by:",
        "  process didn't exit successfully: `x`",
        "error: could not compile `a` (lib) due to 1 previous error",
        "    Starting 2 tests across 1 binary",
        "     Summary [   0.01s] 1/2 tests run: 1 failed, 0 skipped",
        "     Summary [   0.01s] 2 tests run: 1 passed, 1 failed, 0 skipped",
        "        FAIL [   0.01s] (1/2) a b",
        "ok 1 - a # time=1ms {",
        "not ok 1 - a # SKIP {",
        "    not ok 1 - b # time=1ms",
        "}",
        "a test$ jest",
        "a test: 2 passed in 0.10s",
    ]
)


@given(st.lists(line | marks, max_size=40))
@settings(max_examples=3 * settings().max_examples)
def test_no_output_raises_and_counts_are_not_negative(lines: list[str]) -> None:
    counted = count_tests(lines)

    if counted is not None:
        assert min(counted.passed, counted.failed, counted.errors, counted.skipped) >= 0
        assert len(counted.failing) <= 20


prose = st.text(
    st.sampled_from("abcdefghijklmnopqrstuvwxyz ,.:;()[]-#'\"0123456789"), max_size=80
).map(lambda text: f"The log says {text}")


@given(st.lists(prose, max_size=30))
def test_prose_is_never_counted(lines: list[str]) -> None:
    assert count_tests(lines) is None


@given(st.binary(max_size=500))
def test_no_bytes_raise(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")

    count_tests(text.split("\n"))
    read_plan(text, "plan.md")
    read_plan(text, "prd.json")
    find_report('{"ralph": ' + text)
    promised(text)
    assert categorize(text) in get_args(Category)


@given(st.lists(counts, min_size=1, max_size=4), st.booleans())
def test_pytest_summaries_add_up(runs: list[Counts], quiet: bool) -> None:  # noqa: FBT001
    lines: list[str] = []
    for run in runs:
        parts = [
            f"{number} {word}"
            for number, word in [
                (run.failed, "failed"),
                (run.passed, "passed"),
                (run.skipped, "skipped"),
                (run.errors, "error" if run.errors == 1 else "errors"),
            ]
            if number
        ]
        last = f"{', '.join(parts) or 'no tests ran'} in 1.23s"
        lines += [last] if quiet else ["== test session starts ==", f"=== {last} ==="]

    assert count_tests(lines) == _sum("pytest", runs)


@given(st.lists(counts, min_size=1, max_size=4))
def test_unittest_summaries_add_up(runs: list[Counts]) -> None:
    lines: list[str] = []
    for run in runs:
        fields = {"failures": run.failed, "errors": run.errors, "skipped": run.skipped}
        notes = ", ".join(f"{word}={number}" for word, number in fields.items() if number)
        verdict = "FAILED" if run.failed or run.errors else "OK"
        lines += [
            "-" * 70,
            f"Ran {run.total + run.skipped} tests in 0.001s",
            "",
            f"{verdict} ({notes})" if notes else verdict,
        ]

    assert count_tests(lines) == _sum("unittest", runs)


def _jest(run: Counts) -> list[str]:
    text = f"{run.failed} failed, {run.skipped} skipped, {run.passed} passed, 9 total"
    broken = [f"FAIL {n}.js\n  \u25cf Test suite failed to run" for n in range(run.errors)]
    return [
        *"\n".join(broken).splitlines(),
        f"Test Suites: {run.errors + run.failed} failed, 99 total",
        f"Tests:       {text}",
        "Snapshots:   0 total",
        "Time:        1 s",
    ]


def _vitest(run: Counts) -> list[str]:
    return [
        " RUN  v4.0.0 /srv",
        " Test Files  1 failed (1)",
        f"      Tests  {run.failed} failed | {run.passed} passed | {run.skipped} skipped"
        f" ({run.total - run.errors + run.skipped})",
        f"     Errors  {run.errors} errors",
        "   Start at  10:00:00",
        "   Duration  1s",
    ]


def _mocha(run: Counts) -> list[str]:
    broken = [" Exception during run: Error: no"] * run.errors
    reported = [
        f"  {run.passed} passing (5ms)",
        f"  {run.skipped} pending",
        f"  {run.failed} failing",
    ]
    return [*broken, "", *reported, ""]


def _node(run: Counts) -> list[str]:
    fields = {
        "tests": run.total + run.skipped,
        "suites": 1,
        "pass": run.passed,
        "fail": run.failed,
        "cancelled": run.errors,
        "skipped": run.skipped,
        "todo": 0,
    }
    return [f"\u2139 {word} {number}" for word, number in fields.items()]


def _go(run: Counts) -> list[str]:
    results = ["PASS"] * run.passed + ["FAIL"] * run.failed + ["SKIP"] * run.skipped
    lines = ["=== RUN   TestIt", "--- PASS: TestIt (0.00s)"] if run.passed else []
    for n, result in enumerate(results[bool(run.passed) :]):
        lines += [f"=== RUN   Test{n}", f"--- {result}: Test{n} (0.00s)"]
    if not lines:
        lines = ["testing: warning: no tests to run", "PASS", "ok  \ta\t0.01s [no tests to run]"]
    else:
        lines += ["FAIL", "FAIL\ta\t0.01s"] if run.failed else ["PASS", "ok  \ta\t0.01s"]
    return lines + ["FAIL\tb [build failed]"] * run.errors


def _cargo(run: Counts) -> list[str]:
    dead = [
        "",
        f"running {run.errors} tests",
        "Caused by:",
        "  process didn't exit successfully: x",
    ]
    return [
        "",
        f"running {run.total - run.errors + run.skipped} tests",
        "",
        f"test result: ok. {run.passed} passed; {run.failed} failed; {run.skipped} ignored; "
        "0 measured; 0 filtered out; finished in 0.00s",
        *(dead if run.errors else []),
    ]


def _nextest(run: Counts) -> list[str]:
    return [
        "    Starting 9 tests across 1 binary",
        f"     Summary [   0.01s] {run.total} tests run: {run.passed} passed, {run.failed} failed, "
        f"{run.errors} exec failed, {run.skipped} skipped",
    ]


@given(
    st.sampled_from([_jest, _vitest, _mocha, _node, _go, _cargo, _nextest]),
    st.lists(counts, min_size=1, max_size=4),
)
def test_runs_of_every_other_runner_add_up(
    printed: Callable[[Counts], list[str]], runs: list[Counts]
) -> None:
    if printed is _jest:  # with only broken files, they are inferred from the suites
        runs = [replace(run, failed=run.failed or 1) for run in runs]

    counted = count_tests(line for run in runs for line in printed(run))

    assert counted is not None
    assert replace(counted, failing=(), broken="") == _sum(printed.__name__[1:], runs)


points = st.sampled_from(["ok", "not ok", "ok # SKIP", "not ok # TODO"])


@given(st.lists(st.lists(points, min_size=1, max_size=9), min_size=1, max_size=4), st.booleans())
def test_tap_streams_add_up(streams: list[list[str]], plan_first: bool) -> None:  # noqa: FBT001
    lines: list[str] = []
    for stream in streams:
        plan = [f"1..{len(stream)}"]
        numbered = [point.replace("ok", f"ok {n} - it", 1) for n, point in enumerate(stream, 1)]
        lines += plan + numbered if plan_first else numbered + plan
    flat = [point for stream in streams for point in stream]

    counted = count_tests(lines)

    assert counted is not None
    assert counted.passed == flat.count("ok")
    assert counted.failed == flat.count("not ok")
    assert counted.skipped == len(flat) - counted.passed - counted.failed
    assert counted.errors == 0


@given(st.text(max_size=40))
def test_every_path_has_one_category(path: str) -> None:
    assert categorize(path) in get_args(Category)
    assert categorize(f".aiwg/{path}") == "aiwg"
    assert categorize(f"tests/{path}") in ("test", "aiwg")


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_a_checklist_is_counted(boxes: list[bool]) -> None:
    text = "\n".join(
        f"{'  ' * (n % 3)}- [{'x' if box else ' '}] item" for n, box in enumerate(boxes)
    )

    assert read_plan(text, "plan.md") == Progress(sum(boxes), len(boxes))


def _sum(runner: str, runs: list[Counts]) -> Counts:
    return Counts(
        runner,
        sum(run.passed for run in runs),
        sum(run.failed for run in runs),
        sum(run.errors for run in runs),
        sum(run.skipped for run in runs),
    )
