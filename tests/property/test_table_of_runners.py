"""Runners that a row of the table describes: their runs add up, whatever their tests print."""

import tracemalloc
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.sensor.counts import count_tests
from ralph_tui.layers.sensor.gate import Counts
from ralph_tui.layers.sensor.runners import MAX_NAMES
from ralph_tui.layers.sensor.runners import table as runner_table
from ralph_tui.layers.sensor.runners.formats import FORMATS, RELEVANT
from ralph_tui.layers.sensor.runners.table import Format, Reader, Table

small = st.integers(0, 20)
counts = st.builds(Counts, st.just(""), small, small, small, small)
printed = st.lists(st.text(max_size=40).filter(lambda text: "\n" not in text), max_size=5)


def _rspec(run: Counts, said: list[str]) -> list[str]:
    total = f"{run.passed + run.failed + run.skipped} examples, {run.failed} failures"
    outside = f", {run.errors} errors occurred outside of examples" if run.errors else ""
    took = "Finished in 0.1 seconds (files took 0.1 seconds to load)"
    return [*said, took, f"{total}, {run.skipped} pending{outside}"]


def _minitest(run: Counts, said: list[str]) -> list[str]:
    text = f"{run.total + run.skipped} runs, 9 assertions, {run.failed} failures"
    return ["# Running:", *said, f"{text}, {run.errors} errors, {run.skipped} skips"]


def _phpunit(run: Counts, said: list[str]) -> list[str]:
    fields = {"Errors": run.errors, "Failures": run.failed, "Skipped": run.skipped}
    parts = "".join(f", {label}: {number}" for label, number in fields.items() if number)
    head = "PHPUnit 9.6.7 by Sebastian Bergmann and contributors."
    return [head, *said, f"Tests: {run.total + run.skipped}, Assertions: 9{parts}."]


def _surefire(run: Counts, said: list[str]) -> list[str]:
    text = f"Failures: {run.failed}, Errors: {run.errors}, Skipped: {run.skipped}"
    return [*said, "", "", f"[INFO] Tests run: {run.total + run.skipped}, {text}", "", ""]


def _exunit(run: Counts, said: list[str]) -> list[str]:
    text = f"{run.total + run.skipped} tests, {run.failed} failures"
    took = "Finished in 0.01 seconds (0.00s async, 0.01s sync)"
    return [*said, took, f"{text}, {run.errors} invalid, {run.skipped} skipped"]


def _playwright(run: Counts, said: list[str]) -> list[str]:
    fields = {"failed": run.failed, "interrupted": run.errors, "skipped": run.skipped}
    lines = [f"  {number} {label}" for label, number in fields.items() if number]
    return ["Running 9 tests using 1 worker", *said, "", "", *lines, f"  {run.passed} passed (1s)"]


def _gtest(run: Counts, said: list[str]) -> list[str]:
    suites = [f" {run.errors} FAILED TEST SUITES"] if run.errors else []
    return [
        *said,
        f"[==========] {run.total + run.skipped} tests from 1 test suite ran. (0 ms total)",
        f"[  PASSED  ] {run.passed} tests.",
        f"[  SKIPPED ] {run.skipped} tests.",
        *suites,
    ]


NAMES: dict[Callable[[Counts, list[str]], list[str]], str] = {
    _rspec: "RSpec",
    _minitest: "minitest",
    _phpunit: "PHPUnit",
    _surefire: "Surefire",
    _exunit: "ExUnit",
    _playwright: "Playwright",
    _gtest: "GoogleTest",
}


@given(
    st.sampled_from(sorted(NAMES, key=lambda one: one.__name__)),
    st.lists(st.tuples(counts, printed), min_size=1, max_size=4),
)
def test_runs_add_up(
    lines_of: Callable[[Counts, list[str]], list[str]], runs: list[tuple[Counts, list[str]]]
) -> None:
    counted = count_tests(line for run, said in runs for line in lines_of(run, said))

    assert counted is not None
    expected = Counts(
        NAMES[lines_of],
        sum(run.passed for run, _ in runs),
        sum(run.failed for run, _ in runs),
        sum(run.errors for run, _ in runs),
        sum(run.skipped for run, _ in runs),
    )
    assert replace(counted, failing=(), broken="") == expected


@given(st.lists(st.text(max_size=60), max_size=20))
def test_no_text_raises_and_numbers_are_not_negative(lines: list[str]) -> None:
    for row in FORMATS:
        reader = Reader(row)
        for number, line in enumerate(lines):
            reader.feed(line, number)
        tally = reader.result()
        assert tally is None or min(tally.passed, tally.failed, tally.errors, tally.skipped) >= 0


@given(st.text(max_size=80))
def test_a_line_that_fits_a_row_is_relevant(line: str) -> None:
    for row in FORMATS:
        if row.own.match(line):
            assert RELEVANT.match(line)


def test_one_engine_reads_every_row_in_one_pass_and_bounded_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner_table, "_MOST_PARTS", 100)
    table = Table(FORMATS, RELEVANT)
    assert [reader.row for reader in table.readers] == [*FORMATS]
    for row, field in product(FORMATS, fields(Format)):
        with pytest.raises(FrozenInstanceError):
            setattr(row, field.name, "")
    many = 4_000
    forms = "> Task :m{}:test FAILED", "Suite{} > test() FAILED"
    tracemalloc.start()
    try:
        for form in forms:
            for number in range(many):
                table.feed(form.format(number))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    table.feed(f"{many} tests completed, {many} failed")
    (gradle,) = [reader.result() for reader in table.readers if reader.name == "Gradle"]
    assert gradle is not None
    assert (gradle.failed, len(gradle.names)) == (many, MAX_NAMES)
    assert peak < 400_000
