"""Where counting must stay strict or bounded: prose, quotes, cut-off outputs, huge lines."""

import tracemalloc
from pathlib import Path

from ralph_tui.adapters.workspace.verification import LONGEST_LINE, lines_of
from ralph_tui.layers.sensor.counts import count_tests
from ralph_tui.layers.sensor.gate import Counts
from ralph_tui.layers.sensor.runners import MAX_CHARACTERS, MAX_NAMES
from tests.rows import each_row

RULE = "-" * 70


def counted(text: str) -> Counts | None:
    return count_tests(text.splitlines())


RESEMBLING = [
    "",
    "3 passed",
    "INFO 3 passed in 0.10s",
    "3 passed in a row",
    "3 passed in 2 minutes",
    "result: 3 passed, 1 failed",
    "  3 passed in 0.10s",
    "3 apples in 0.10s",
    "=== 3 apples in 0.10s ===",
    "1 warning in 0.10s",
    "=== FAILURES ===",
    "....                 [ 50%]",
    "....",
    "Ran 3 tests in 0.001s",
    "Ran 3 tests in 0.001s\n\nall good",
    "we said:\nRan 3 tests in 0.001s\n\nOK",
    "OK (skipped=2)",
    "FAILED (failures=1)",
    "ok 1 file copied\nok 2 files copied",
    "1..3",
    "1..0",
    "ok\nok\nok",
    "not ok",
    "# tests 3\n# suites 0\n# pass 3\n# fail 0\n# cancelled 0",
    "Files=1, Tests=3",
    '<testcase name="a"/>',
    'INFO <testsuite tests="3"/>',
    "<testsuitecase tests='3'/>",
    '<?xml version="1.0"?>\n<html><testcase/></html>',
    "Tests:       1 failed, 2 passed, 3 total",
    "test result: ok. 3 passed; 0 failed; 0 ignored",
    "Test Suites: 1 passed, 1 total\nTests:       3 passed, 3 total\nall done",
    "Tests:       3 passed, 3 total\nSnapshots:   0 total\nTime:        1 s",
    "No tests found",
    " Test Files  1 passed (1)\n      Tests  3 passed (3)\n",
    "      Tests  3 passed (3)\n   Start at  10:00:00\n   Duration  1s",
    "No test files found, exiting with code 1",
    "3 passing (5ms)",
    "  3 passing",
    "log:\n  3 passing (5ms)",
    "  1 failing\n\n  1) a:",
    "\u2139 pass 3\n\u2139 fail 0",
    "\u2139 tests 3\n\u2139 suites 0\nsomething else\n\u2139 pass 3\n\u2139 fail 0",
    "--- PASS: TestA (0.00s)",
    "--- FAIL: TestA (0.00s)\nFAIL",
    "=== RUN   TestA\n--- PASS: TestA (0.00s)",
    "ok  \texample.com/a\t0.01s",
    "FAIL\texample.com/a\t0.01s",
    "=== RUN   TestA\n--- PASS: TestA (0.00s)\nok  \ta\t0.01s\nok  \tb\t0.01s",
    '{"Action":"pass"}',
    '{"Action":"pass","Package":3}',
    '{"Action":"pass","Package":',
    "running 3 tests",
    "test a ... ok",
    "running 3 tests\ntest result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; "
    "0 filtered out; finished in 0.00s",
    "error: could not compile",
    "     Summary [   0.01s] 3 tests run: 3 passed, 0 skipped",
    "    Starting 3 tests across 2 binaries",
    "packages/a test$ jest\npackages/a test: 3 passed",
    "packages/a test: 3 passed in 0.10s",
    "rspec ./spec/a_spec.rb:3 # Order has a total",
    "OK (3 tests, 3 assertions)",
    "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in A",
    "50% tests passed, 4 tests failed out of 8",
    "[  PASSED  ] 9 tests.",
    "[  FAILED  ] Fail.Total (0 ms)",
    "All tests passed (3 assertions in 2 test cases)",
    "  5 passed (1.2s)",
    " 5 pass\n 2 fail",
    "  2 tests passed",
    "log:\nok | 3 passed | 0 failed (9ms)",
    "\t Executed 2 tests, with 2 failures (0 unexpected) in 0.4 (0.4) seconds",
    "Total tests are 7",
    "> Task :a:test\n3 tests completed, 1 failed\n> Task :a:test FAILED\n> Task :b:test",
    "3 passed and all is well",
    "3 failed",
    "12 files, 3 failures",
    "INFO 3 passed, 1 failed",
    "    3 passed, 1 failed",
    "3 passed, 1 failed\n" + "\n" * 20,
]


def test_what_only_resembles_a_report_counts_nothing() -> None:
    assert [text for text in RESEMBLING if counted(text)] == []


@each_row(
    ("text", "expected"),
    [
        ("3 passed in 0.10s", (3, 0, 0, 0)),
        ("=== 3 passed in 75.10s (0:01:15) ===", (3, 0, 0, 0)),
        ("=== 3 passed, 1 rerun in 0.12 seconds ===", (3, 0, 0, 0)),
        ("=== 1 failed, 2 passed, 3 subtests passed in 0.1s ===", (2, 1, 0, 0)),
        ("=== 2 warnings in 0.12s ===", (0, 0, 0, 0)),
        ("2 failed, 1 error in 0.12s", (0, 2, 1, 0)),
        ("1 passed, 2 skipped, 3 deselected, 1 xfailed, 4 warnings in 0.12s", (1, 0, 0, 3)),
        ("..x\n" + RULE + "\nRan 3 tests in 0.1s\n\nOK (expected failures=1)", (2, 0, 0, 1)),
        ("Ran 3 tests in 0.1s\n\nFAILED (failures=1, errors=1)", (1, 1, 1, 0)),
        (
            "Found 2 test(s).\n..\n" + "-" * 70 + "\nRan 2 tests in 0.1s\n\nOK\nDestroying",
            (2, 0, 0, 0),
        ),
        ("TAP version 14\n1..2\nok\nnot ok", (1, 1, 0, 0)),
        ("1..2\nok 1\nok 2 - with # SKIP no net", (1, 0, 0, 1)),
        ("ok 1 - a\nnot ok 2 - b # TODO later\n1..2", (1, 0, 0, 1)),
        ("1..3\nok 1\nok 2", (2, 0, 1, 0)),
        ("TAP version 13\nok 1 - a\nBail out! no disk", (1, 0, 1, 0)),
        ("1..0 # SKIP not on this system", (0, 0, 0, 0)),
        ("ok 1\n1..1\nok 1\nok 2\n1..2\n1..1\nnot ok 1", (3, 1, 0, 0)),
        (
            "Test Suites: 1 failed, 1 total\nTests:       0 total\nSnapshots:   0 total\n"
            "Time:        1 s, estimated 2 s",
            (0, 0, 1, 0),
        ),
        (
            "Test Suites: 1 skipped, 1 passed, 1 of 2 total\nTests:       2 skipped, 1 passed, 3 "
            "total\nSnapshots:   1 obsolete, 1 total\nTime:        1.2 s",
            (1, 0, 0, 2),
        ),
        (
            " Test Files  1 passed (1)\n      Tests  no tests\n     Errors  2 errors\n"
            "   Start at  10:00:00\n   Duration  1s",
            (0, 0, 2, 0),
        ),
        (
            "  Snapshots  1 obsolete\n Test Files  1 passed (1)\n  Snapshots  1 obsolete\n"
            "             \u21b3 a.test.js\n      Tests  2 passed | 1 expected fail (3)\n"
            "Type Errors  no errors\n   Start at  10:00:00\n   Duration  1s",
            (3, 0, 0, 0),
        ),
        ("\n  12 passing (2m)\n  1 pending\n", (12, 0, 0, 1)),
        ("\n  0 passing (1ms)\n  2 failing", (0, 2, 0, 0)),
        ("=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS", (1, 0, 0, 0)),
        ("=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \ta\t0.01s", (1, 0, 0, 0)),
        (
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\ncoverage: 80.0% of statements\n"
            "ok  \ta\t0.01s\tcoverage: 80.0% of statements",
            (1, 0, 0, 0),
        ),
        (
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \ta\t(cached)\n"
            "panic: init\nFAIL\tb\t0.01s\nFAIL\tc [setup failed]",
            (1, 0, 2, 0),
        ),
        (
            "=== RUN   BenchmarkA\nBenchmarkA\n=== RUN   TestB\n--- PASS: TestB (0.00s)\n"
            "PASS\nok  \ta\t0.01s",
            (1, 0, 0, 0),
        ),
        (
            '{"ImportPath":"a [a.test]","Action":"build-output","Output":"# a\\n"}\n'
            '{"ImportPath":"a [a.test]","Action":"build-fail"}\n'
            '{"Action":"start","Package":"a"}\n'
            '{"Action":"output","Package":"a","Output":"FAIL\\ta [build failed]\\n"}\n'
            '{"Action":"fail","Package":"a","Elapsed":0,"FailedBuild":"a [a.test]"}',
            (0, 0, 1, 0),
        ),
        (
            "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; "
            "0 measured; 2 filtered out",
            (1, 0, 0, 0),
        ),
        (
            "error: could not compile `a` (lib) due to 2 previous errors; 1 warning emitted\n"
            "error: could not compile `a` (lib test) due to 2 previous errors\n"
            "error: could not compile `b` due to previous error",
            (0, 0, 2, 0),
        ),
        (
            "    Starting 10 tests across 2 binaries\n     Summary [  15.750s] 8/10 tests run: 3 "
            "passed (1 slow, 1 flaky, 1 leaky), 2 failed, 1 exec failed, 2 timed out, 2 skipped",
            (3, 4, 3, 2),
        ),
        (
            "a:test: cache hit, replaying logs 12\na:test: 3 passed in 0.10s\n"
            "b:test: cache miss, executing 13\nb:test: 2 passed in 0.10s\n1 passed in 0.10s",
            (6, 0, 0, 0),
        ),
        (
            "a test$ vitest\na test:  RUN  v4.0.0 /a\nb test$ vitest\nb test:  RUN  v4.0.0 /b\n"
            "a test:  Test Files  1 passed (1)\nb test:  Test Files  1 passed (1)\n"
            "a test:       Tests  1 passed (1)\nb test:       Tests  2 passed (2)\n"
            "a test:    Start at  10:00:00\nb test:    Start at  10:00:00\n"
            "b test:    Duration  1s\na test:    Duration  1s",
            (3, 0, 0, 0),
        ),
        (
            "TAP version 14\n# Subtest: a\n    1..1\n    not ok 1 - b\nnot ok 1 - a\n1..1",
            (0, 1, 0, 0),
        ),
    ],
)
def test_forms_of_real_reports(text: str, expected: tuple[int, int, int, int]) -> None:
    counts = counted(text)

    assert counts is not None
    assert (counts.passed, counts.failed, counts.errors, counts.skipped) == expected


@each_row(
    ("line", "expected"),
    [
        ("12 passed, 3 failed", (12, 3, 0, 0)),
        ("3 failed, 12 passed, 2 skipped (1.2s)", (12, 3, 0, 2)),
        ("15 tests, 3 failures", (12, 3, 0, 0)),
        ("15 tests | 3 failures | 1 error | 2 skipped.", (9, 3, 1, 2)),
        ("Passed: 12, Failed: 3", (12, 3, 0, 0)),
        ("Tests run: 15, Failures: 3, Errors: 1, Skipped: 2", (9, 3, 1, 2)),
        ("ran\n1 passed, 9 failed\nagain\n12 passed, 3 failed\nbye", (12, 3, 0, 0)),
        ("0 tests, 0 failures", (0, 0, 0, 0)),
    ],
)
def test_the_last_plain_line_of_totals_counts(
    line: str, expected: tuple[int, int, int, int]
) -> None:
    counts = counted(line)

    assert counts is not None
    assert counts.runner == "a plain line of totals"
    assert (counts.passed, counts.failed, counts.errors, counts.skipped) == expected
    assert counted(f"=== 3 passed in 0.10s ===\n{line}") == Counts("pytest", 3)
    assert counted(f'<testsuite tests="3"></testsuite>\n{line}') == Counts("junit", 3)
    assert counted("2 passed, 3 failed" + "\nmore" * 19) is not None
    assert counted("2 passed, 3 failed" + "\nmore" * 20) is None


@each_row(
    "text",
    [
        # What a test prints stands before the run's own totals.
        "Finished in 0.1 seconds (files took 0.1 seconds to load)\n9 examples, 4 failures\n"
        "3 examples, 0 failures",
        "# Running:\n9 runs, 9 assertions, 4 failures, 0 errors, 0 skips\n.\n"
        "3 runs, 3 assertions, 0 failures, 0 errors, 0 skips",
        "Running 3 tests using 1 worker\n  9 passed (1s)\n  4 failed\n\nlog\nlog\n  3 passed (1s)",
        # An error that a test prints does not break a build whose tests all pass.
        "Passed!  - Failed: 0, Passed: 3, Skipped: 0, Total: 3, Duration: 1 s - a.dll (net8.0)\n"
        "a.cs(9,13): error CS1002: ; expected",
    ],
)
def test_what_a_test_prints_is_replaced_by_the_totals_below_it(text: str) -> None:
    counts = counted(text)

    assert counts is not None
    assert (counts.passed, counts.failed, counts.errors, counts.broken) == (3, 0, 0, "")


NESTED = """\
<?xml version="1.0"?>
<testsuites tests="6" failures="1" errors="1" skipped="1">
  <testsuite name="outer" tests="6" failures="1" errors="1" skipped="1">
    <testsuite name="inner" tests="4" failures="1" errors="0" skipped="1">
      <testcase classname="A" name="one"/>
      <testcase classname="A" name="two"><failure message="3 &lt; 2">trace</failure></testcase>
      <testcase classname="A" name="three"><skipped/></testcase>
      <testcase classname="A" name="four"><system-out><![CDATA[
<testsuite tests="90" failures="90"><testcase name="x"><failure/></testcase></testsuite>
=== 7 passed in 0.10s ===
]]></system-out></testcase>
    </testsuite>
    <!-- <testcase name="no"/> -->
    <testcase classname="B" name="five &amp; more"><error/></testcase>
    <testcase classname="B"
              name="six" time='0.1'></testcase>
  </testsuite>
</testsuites>
done
"""


def test_nested_suites_are_not_counted_twice() -> None:
    counts = counted(NESTED)

    assert counts == Counts("junit", 3, 1, 1, 1, ("A.two", "B.five & more"))


def test_suites_without_cases_count_by_their_attributes() -> None:
    counts = counted('<testsuite tests="9" failures="2" errors="1" skipped="3"></testsuite>')

    assert counts == Counts("junit", 3, 2, 1, 3)


def test_a_report_that_is_cut_off_counts_what_it_declared() -> None:
    counts = counted('<testsuites><testsuite tests="9" failures="2"><testcase name="a"/><testca')

    assert counts == Counts("junit", 7, 2)


def test_xml_beside_a_runner_is_the_same_tests_again() -> None:
    assert counted(NESTED + "3 passed in 0.10s\n") == Counts("pytest", 3)


def test_a_session_that_was_killed_leaves_the_next_one_its_count() -> None:
    start = "===== test session starts ====="
    counts = counted(f"{start}\ncollected 9 items\nKilled\n{start}\n=== 2 passed in 0.10s ===")

    assert counts == Counts("pytest", 2)


KILLED = {
    "vitest": (
        " RUN  v4.0.0 /srv",
        " Test Files  1 passed (1)\n      Tests  2 passed (2)\n   Start at  10:00:00\n"
        "   Duration  1s",
    ),
    "go": ("=== RUN   TestX", "--- PASS: TestX (0.00s)\nPASS\nok  \ta\t0.01s"),
    "cargo": (
        "running 2 tests",
        "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
    ),
    "nextest": (
        "    Starting 2 tests across 1 binary",
        "     Summary [   0.01s] 2 tests run: 2 passed, 0 skipped",
    ),
}


@each_row("runner", KILLED)
def test_runs_after_one_that_was_killed_count(runner: str) -> None:
    start, end = KILLED[runner]
    once = counted(f"{start}\n{end}")
    counts = counted(f"{start}\nKilled\n{start}\n{end}\n{start}\n{end}")

    assert once is not None
    assert counts is not None
    assert (counts.runner, counts.passed) == (runner, 2 * once.passed)
    assert (counts.failed, counts.errors) == (0, 0)


def test_a_dead_test_binary_is_an_error_for_each_test_without_a_result() -> None:
    died = (
        "running 3 tests\ntest a ... ok\nerror: test failed, to rerun pass `--lib`\n\nCaused by:\n"
        "  process didn't exit successfully: `x` (signal: 6, SIGABRT: process abort signal)"
    )

    assert counted(died) == Counts("cargo", 1, 0, 2)


def test_2000_names_are_kept_none_is_long_and_together_they_have_a_limit() -> None:
    def failing(number: int, padding: int) -> tuple[str, ...]:
        names = (f"FAILED test_x.py::test_{n}{'y' * padding} - no" for n in range(number))
        head = "=== short test summary info ==="
        counts = counted("\n".join([head, *names, f"{number} failed in 0.10s"]))
        assert counts is not None
        assert counts.failed == number
        return counts.failing

    assert len(failing(2500, 60)) == MAX_NAMES == 2000
    long = failing(2500, 1000)
    assert max(map(len, long)) <= 300
    assert sum(map(len, long)) <= MAX_CHARACTERS < sum(map(len, long)) + 300


def test_colour_is_taken_out_of_lines_and_files(tmp_path: Path) -> None:
    text = "\x1b[32m\x1b[1m3 passed\x1b[0m\x1b[32m in 0.10s\x1b[0m\r\n"
    log = tmp_path / "log"
    log.write_bytes(text.encode())

    assert count_tests([text]) == Counts("pytest", 3)
    assert count_tests(lines_of(log)) == Counts("pytest", 3)


def test_lines_of_any_bytes(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"a\xff\nb\r\n\n" + b"x" * (3 * LONGEST_LINE) + b"\nlast")

    assert list(lines_of(log)) == ["a\ufffd\n", "b\r\n", "\n", "x" * LONGEST_LINE, "last"]


def test_junit_on_one_long_line_is_read_whole(tmp_path: Path) -> None:
    cases = "".join(f'<testcase name="t{n}"/>' for n in range(20_000))
    huge = f'<testcase name="huge"><failure message="{"m" * 300_000}"/></testcase>'
    text = f'<testcase name="text"><failure><![CDATA[{"3 passed " * 40_000}]]></failure></testcase>'
    log = tmp_path / "log"
    log.write_text(f"...   [100%]<?xml version='1.0'?><testsuite>{cases}{huge}{text}</testsuite>\n")

    counts = count_tests(lines_of(log))

    assert counts is not None
    assert (counts.passed, counts.failed) == (20_000, 2)


def test_a_huge_output_stays_out_of_memory(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        file.write(b"x" * 4_000_000 + b"\n")
        for _ in range(40):
            file.write(b"INFO a line of an ordinary log, 3 passed\n" * 500)
        file.write(b"not ok without a plan\n" * 4_000)
        file.write(b"3 passed in 0.10s\n")

    tracemalloc.start()
    try:
        counts = count_tests(lines_of(log))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert counts == Counts("pytest", 3)
    assert peak < 1_500_000


def test_long_names_that_differ_anywhere_are_two() -> None:
    def named(*names: str) -> tuple[str, ...]:
        lines = [f"FAILED tests/test_x.py::{name} - no" for name in names]
        head = "=== short test summary info ==="
        counts = counted("\n".join([head, *lines, f"{len(names)} failed in 0.10s"]))
        assert counts is not None
        return counts.failing

    long = "test_" + "y" * 500
    middle = long[:250] + "z" + long[251:]
    found = named(f"{long}_a", f"{long}_b", f"{middle}_a")
    assert len(set(found)) == 3
    assert [name[-2:] for name in found] == ["_a", "_b", "_a"]
    assert all(len(name) <= 300 for name in found)
    assert found == named(f"{long}_a", f"{long}_b", f"{middle}_a"), "the same in every iteration"
