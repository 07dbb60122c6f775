"""Rules of the sensor and its readers that hold for any input."""

from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_tui.events.sensor import GateFinished
from ralph_tui.events.workspace import Category, CategoryTotal, FilesChanged
from ralph_tui.observation.categories import categorize
from ralph_tui.observation.counts import count_tests
from ralph_tui.observation.gate import Counts, GateResult
from ralph_tui.observation.plan import Progress, read_plan
from ralph_tui.observation.report import Report, find_report, promised
from ralph_tui.observation.sensor import SOURCES, UNPROVEN, Sensor

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
reports = st.none() | st.builds(Report, completion=st.none() | st.floats(0, 100))
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
        tuple[GateResult | None, Progress | None, Report | None, float | None, bool, list[str]]
    ],
) -> None:
    live, recalled = Sensor(progress), Sensor(progress)
    baseline = live.baseline(gate, plan)
    recalled.recall(GateFinished(iteration=0, ok=gate is not None and gate.ok))
    recalled.recall(baseline.event())

    assert 0 <= baseline.completion <= UNPROVEN
    assert not baseline.completed
    for k, (now, plan_now, report, estimate, promise, changed) in enumerate(loop, 1):
        before = live.state
        reading = live.read(k, now, plan_now, report, estimate, promise=promise, changed=changed)
        ok = now is not None and now.ok
        assert 0 <= reading.completion <= 100
        assert (reading.completion > UNPROVEN) == reading.completed
        assert ok or not reading.completed
        assert not reading.held or reading.completion == min(UNPROVEN, before.value)
        assert progress in ("auto", reading.source) or reading.source == "tests"
        totals = [CategoryTotal(category="source", files=len(changed))] if changed else []
        recalled.recall(FilesChanged(iteration=k, live=False, totals=totals))
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
    ]
)


@given(st.lists(line | marks, max_size=40))
@settings(max_examples=300)
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
        told = {"failures": run.failed, "errors": run.errors, "skipped": run.skipped}
        notes = ", ".join(f"{word}={number}" for word, number in told.items() if number)
        verdict = "FAILED" if run.failed or run.errors else "OK"
        lines += [
            "-" * 70,
            f"Ran {run.total + run.skipped} tests in 0.001s",
            "",
            f"{verdict} ({notes})" if notes else verdict,
        ]

    assert count_tests(lines) == _sum("unittest", runs)


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
