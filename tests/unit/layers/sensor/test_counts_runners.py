"""Counts of real outputs of real tools: each case of `tests/fixtures/outputs`."""

from ralph_tui.adapters.workspace.verification import lines_of
from ralph_tui.layers.sensor.counts import count_tests
from tests.paths import FIXTURES
from tests.rows import each_row

OUTPUTS = FIXTURES / "outputs"

Expected = tuple[int, int, int, int] | None
"""Passed, failed, errors, skipped."""

CASES: dict[str, Expected] = {
    "pytest/pass": (3, 0, 0, 0),
    "pytest/fail": (5, 3, 2, 0),
    "pytest/collection": (0, 0, 1, 0),
    "pytest/none": (0, 0, 0, 0),
    "pytest/skipped": (2, 1, 0, 2),
    "pytest/colour": (4, 4, 2, 2),
    "pytest/two": (5, 3, 2, 0),
    "pytest/two_q": (5, 3, 2, 0),
    "pytest/q": (2, 3, 2, 0),
    "pytest/q_pass": (3, 0, 0, 0),
    "pytest/q_none": (0, 0, 0, 0),
    "pytest/qq": (5, 3, 2, 0),
    "pytest/qq_pass": (3, 0, 0, 0),
    "pytest/qq_x": (4, 1, 0, 0),
    "pytest/qq_collection": (0, 0, 1, 0),
    "pytest/qq_colour": (2, 3, 2, 0),
    "pytest/v": (4, 4, 2, 2),
    "pytest/tb_no": (2, 3, 2, 0),
    "pytest/x": (1, 1, 0, 0),
    "pytest/xdist": (5, 3, 2, 0),
    "pytest/no_header_rA": (2, 1, 0, 2),
    "pytest/no_short_summary": (2, 3, 2, 0),
    "pytest/rP": (3, 0, 0, 0),
    "pytest/stdout": (3, 0, 0, 0),
    "pytest/deselected": (0, 0, 0, 0),
    "pytest/collect_only": None,
    "pytest/no_terminal": None,
    "pytest/no_file": (0, 0, 0, 0),
    "pytest/warnings": (2, 0, 0, 0),
    "pytest/nested": (1, 1, 0, 0),
    "pytest/nested_q": (1, 1, 0, 0),
    "pytest/junit": (2, 3, 2, 0),
    "pytest/junit_q": (3, 0, 0, 0),
    "unittest/pass": (3, 0, 0, 0),
    "unittest/fail": (1, 3, 2, 2),
    "unittest/fail_3.8": (1, 3, 2, 2),
    "unittest/fail_3.12": (1, 3, 2, 2),
    "unittest/fail_3.13": (1, 3, 2, 2),
    "unittest/collection": (3, 0, 1, 0),
    "unittest/none": (0, 0, 0, 0),
    "unittest/none_3.8": (0, 0, 0, 0),
    "unittest/none_3.12": (0, 0, 0, 0),
    "unittest/none_3.13": (0, 0, 0, 0),
    "unittest/skipped": (1, 0, 0, 4),
    "unittest/skipped_3.8": (1, 0, 0, 4),
    "unittest/skipped_3.12": (1, 0, 0, 4),
    "unittest/skipped_3.13": (1, 0, 0, 4),
    "unittest/two": (4, 3, 2, 2),
    "unittest/v": (4, 3, 2, 2),
    "unittest/q": (3, 0, 0, 0),
    "unittest/buffer": (1, 2, 0, 0),
    "unittest/buffer_nested": (1, 1, 0, 0),
    "unittest/class_skip": (2, 0, 0, 1),
    "tap/pass": (3, 0, 0, 0),
    "tap/fail": (2, 2, 0, 2),
    "tap/collection": (1, 0, 4, 0),
    "tap/bail": (1, 0, 3, 0),
    "tap/none": (0, 0, 0, 0),
    "tap/skipped": (1, 0, 0, 3),
    "tap/colour": (5, 2, 0, 2),
    "tap/two": (5, 2, 0, 2),
    "tap/prove": (8, 2, 4, 0),
    "tap/subtests": (2, 2, 0, 2),
    "tap/git": (2, 1, 0, 2),
    "tap/git_two": (4, 1, 0, 2),
    "tap/node_pass": (3, 0, 0, 0),
    "tap/node_fail": (2, 2, 0, 2),
    "tap/node_collection": (0, 1, 0, 0),
    "tap/node_skipped": (1, 0, 0, 2),
    "tap/node_two": (5, 2, 0, 2),
    "tap/node_files": (5, 2, 0, 2),
    "junit/pass": (3, 0, 0, 0),
    "junit/fail": (5, 3, 2, 0),
    "junit/collection": (0, 0, 1, 0),
    "junit/none": (0, 0, 0, 0),
    "junit/skipped": (2, 1, 0, 2),
    "junit/colour": (1, 1, 0, 0),
    "junit/two": (5, 3, 2, 0),
    "junit/node": (2, 2, 0, 2),
    "tap/mocha": (3, 3, 0, 4),
    "tap/vitest": (7, 4, 0, 4),
    "tap/vitest_3": (7, 4, 0, 4),
    "tap/vitest_flat": (7, 3, 0, 4),
    "tap/vitest_flat_3": (7, 3, 0, 4),
    "jest/pass": (3, 0, 0, 0),
    "jest/fail": (5, 3, 0, 0),
    "jest/collection": (3, 0, 2, 0),
    "jest/none": (0, 0, 0, 0),
    "jest/empty": (0, 0, 1, 0),
    "jest/skipped": (1, 0, 0, 4),
    "jest/colour": (3, 3, 1, 4),
    "jest/two": (8, 3, 0, 0),
    "jest/verbose": (6, 3, 0, 4),
    "jest/projects": (8, 3, 0, 0),
    "jest/workspaces": (8, 3, 0, 0),
    "jest/snapshots": (1, 2, 0, 0),
    "jest/bail": (3, 0, 1, 0),
    "jest/silent": (5, 3, 0, 0),
    "vitest/pass": (3, 0, 0, 0),
    "vitest/pass_3": (3, 0, 0, 0),
    "vitest/fail": (5, 2, 1, 1),
    "vitest/fail_3": (5, 2, 1, 1),
    "vitest/collection": (3, 0, 2, 0),
    "vitest/collection_3": (3, 0, 2, 0),
    "vitest/none": (0, 0, 0, 0),
    "vitest/none_3": (0, 0, 0, 0),
    "vitest/empty": (0, 0, 1, 0),
    "vitest/skipped": (1, 0, 0, 4),
    "vitest/skipped_3": (1, 0, 0, 4),
    "vitest/colour": (3, 2, 2, 5),
    "vitest/colour_3": (3, 2, 2, 5),
    "vitest/two": (8, 2, 1, 1),
    "vitest/two_3": (8, 2, 1, 1),
    "vitest/unhandled": (3, 0, 1, 0),
    "vitest/unhandled_3": (3, 0, 1, 0),
    "vitest/verbose": (6, 2, 1, 5),
    "vitest/dot": (6, 2, 1, 5),
    "vitest/bail": (1, 1, 3, 0),
    "vitest/nested": (1, 1, 0, 0),
    "mocha/pass": (3, 0, 0, 0),
    "mocha/fail": (5, 3, 0, 0),
    "mocha/collection": (0, 0, 1, 0),
    "mocha/syntax": (0, 0, 1, 0),
    "mocha/none": (0, 0, 0, 0),
    "mocha/no_file": (0, 0, 0, 0),
    "mocha/skipped": (1, 0, 0, 4),
    "mocha/colour": (3, 3, 0, 4),
    "mocha/two": (5, 3, 0, 0),
    "mocha/dot": (3, 3, 0, 4),
    "mocha/bail": (1, 1, 0, 0),
    "mocha/parallel": (5, 3, 0, 0),
    "node/pass": (3, 0, 0, 0),
    "node/fail": (5, 2, 0, 2),
    "node/collection": (0, 1, 0, 0),
    "node/none": (1, 0, 0, 0),
    "node/skipped": (1, 0, 0, 2),
    "node/colour": (2, 2, 0, 2),
    "node/two": (5, 2, 0, 2),
    "node/cancelled": (0, 1, 2, 0),
    "node/dot": None,
    "go/pass": (4, 0, 0, 0),
    "go/fail": (10, 4, 0, 1),
    "go/collection": (4, 0, 1, 0),
    "go/only_broken": (0, 0, 1, 0),
    "go/none": (0, 0, 0, 0),
    "go/no_package": None,
    "go/skipped": (2, 0, 0, 2),
    "go/two": (10, 4, 0, 1),
    "go/packages": (13, 5, 1, 3),
    "go/panic": (1, 1, 0, 0),
    "go/exit": (1, 0, 1, 0),
    "go/lookalike": (3, 0, 0, 0),
    "go/quiet": None,
    "go/quiet_pass": None,
    "go/cached": (4, 0, 0, 4),
    "go/list_mode": (6, 4, 0, 1),
    "go/nested": (1, 1, 0, 0),
    "go/json": (12, 4, 1, 3),
    "go/json_panic": (2, 1, 1, 0),
    "cargo/pass": (4, 0, 0, 0),
    "cargo/fail": (1, 3, 0, 1),
    "cargo/no_fail_fast": (1, 4, 0, 1),
    "cargo/collection": (0, 0, 1, 0),
    "cargo/none": (0, 0, 0, 0),
    "cargo/skipped": (1, 0, 0, 2),
    "cargo/colour": (1, 4, 0, 1),
    "cargo/two": (5, 3, 0, 1),
    "cargo/workspace": (6, 4, 0, 3),
    "cargo/quiet": (6, 4, 0, 3),
    "cargo/abort": (1, 0, 1, 0),
    "cargo/nocapture": (1, 3, 0, 1),
    "cargo/filtered": (1, 0, 0, 0),
    "cargo/threads": (1, 3, 0, 1),
    "cargo/nested": (1, 1, 0, 0),
    "cargo/list": None,
    "nextest/pass": (3, 0, 0, 0),
    "nextest/fail": (2, 3, 0, 1),
    "nextest/fail_fast": (1, 1, 3, 0),
    "nextest/old": (1, 1, 0, 0),
    "nextest/collection": (0, 0, 1, 0),
    "nextest/none": (0, 0, 0, 0),
    "nextest/skipped": (1, 0, 0, 2),
    "nextest/colour": (1, 1, 0, 0),
    "nextest/two": (5, 3, 0, 1),
    "mixed/pytest_unittest": (5, 3, 2, 0),
    "mixed/node_unittest": (4, 3, 2, 2),
    "mixed/jest_vitest_mocha": (5, 5, 1, 5),
    "mixed/go_cargo": (5, 3, 0, 1),
    "mixed/pnpm": (3, 2, 0, 0),
    "mixed/turbo": (3, 2, 0, 0),
}

PYTEST_FAILING = (
    "test_some.py::test_bad",
    "test_some.py::test_word[a - b]",
    "test_some.py::test_word[x[y]]",
    "test_some.py::test_err",
    "test_some.py::test_end",
)
UNITTEST_FAILING = (
    "setUpClass (t_some.Setup)",
    "test_err (t_some.Some.test_err)",
    "test_bad (t_some.Some.test_bad)",
    "test_subs (t_some.Some.test_subs)",
    "test_unexpected (t_some.Some.test_unexpected)",
)
JEST_FAILING = ("bad - really", "group › deep › inner bad: x > y", "hooked › never")
VITEST_FAILING = (
    "some.test.js > hooked",
    "some.test.js > bad - really",
    "some.test.js > group > deep > inner bad: x > y",
)
MOCHA_FAILING = (
    "bad - really",
    "group deep inner bad: x > y",
    'hooked "before all" hook for "never"',
)
GO_FAILING = ("TestBad", "TestTable/b_c", "TestTable/d/e", "TestAfter")
CARGO_FAILING = ("tests::bad", "tests::calm", "tests::worse")
NAMES = {
    "pytest/pass": (),
    "pytest/fail": PYTEST_FAILING,
    "pytest/qq_colour": PYTEST_FAILING,
    "pytest/tb_no": PYTEST_FAILING,
    "pytest/xdist": PYTEST_FAILING,
    "pytest/collection": ("test_broken.py",),
    "pytest/nested": ("nested_case.py::test_runs_pytest",),
    "pytest/nested_q": ("nested_case.py::test_runs_pytest",),
    "pytest/no_short_summary": (
        "test_err",
        "test_end",
        "test_bad",
        "test_word[a - b]",
        "test_word[x[y]]",
    ),
    "unittest/fail": UNITTEST_FAILING,
    "unittest/v": UNITTEST_FAILING,
    "unittest/collection": ("t_broken (unittest.loader._FailedTest.t_broken)",),
    "tap/fail": ("bad", "inner bad"),
    "tap/vitest": ("missing.test.js", "bad - really", "inner bad: x > y", "hooked"),
    "jest/fail": JEST_FAILING,
    "jest/verbose": JEST_FAILING,
    "jest/projects": JEST_FAILING,
    "jest/colour": (*JEST_FAILING, "./missing.test.js"),
    "jest/collection": ("./missing.test.js", "./broken.test.js"),
    "vitest/fail": VITEST_FAILING,
    "vitest/fail_3": VITEST_FAILING,
    "vitest/dot": VITEST_FAILING,
    "vitest/colour": (*VITEST_FAILING, "missing.test.js"),
    "vitest/collection": ("broken.test.js", "missing.test.js"),
    "vitest/nested": ("nested.test.js > runs vitest",),
    "mocha/fail": MOCHA_FAILING,
    "mocha/colour": MOCHA_FAILING,
    "mocha/parallel": MOCHA_FAILING,
    "node/fail": ("bad - really", "inner bad"),
    "node/colour": ("bad - really", "inner bad"),
    "node/cancelled": ("inner never ends", "slow"),
    "go/fail": GO_FAILING,
    "go/packages": (*GO_FAILING, "TestPanics", "example.com/sample/broken"),
    "go/json": (*GO_FAILING, "example.com/sample/broken"),
    "go/exit": ("example.com/sample/exits",),
    "go/nested": ("TestRunsGo",),
    "cargo/fail": CARGO_FAILING,
    "cargo/quiet": (*CARGO_FAILING, "outside"),
    "cargo/colour": (*CARGO_FAILING, "outside"),
    "cargo/collection": ("broken",),
    "cargo/nested": ("runs_cargo",),
    "nextest/fail": ("some tests::bad", "some tests::aborts", "some tests::endless"),
    "nextest/colour": ("some tests::bad",),
    "tap/git": ("rename a file",),
    "tap/node_fail": ("bad - really", "inner bad"),
    "junit/fail": (
        "test_some.test_bad",
        "test_some.test_word[a - b]",
        "test_some.test_word[x[y]]",
        "test_some.test_err",
        "test_some.test_end",
    ),
    "junit/node": ("test.bad - really", "test.inner bad"),
}


def test_every_captured_output_is_expected() -> None:
    captured = {f"{path.parent.name}/{path.stem}" for path in OUTPUTS.glob("*/*.txt")}

    assert captured == set(CASES)


RUNNERS = {
    "mixed/pytest_unittest": "pytest+unittest",
    "mixed/node_unittest": "unittest+tap",
    "mixed/jest_vitest_mocha": "jest+vitest+mocha",
    "mixed/go_cargo": "go+cargo",
    "mixed/pnpm": "jest+vitest",
    "mixed/turbo": "jest+vitest",
    "nextest/collection": "cargo",
}
"""Cases where it differs from the folder's name."""
FOLDERS = sorted({case.partition("/")[0] for case in CASES})


def counted_in(folder: str) -> list[tuple[str, list[str]]]:
    """Outputs of a folder that have counts, as lines."""
    return [
        (case, list(lines_of(OUTPUTS / f"{case}.txt")))
        for case, expected in CASES.items()
        if expected and case.startswith(f"{folder}/")
    ]


@each_row("case", CASES)
def test_counts_and_names_of_failing_tests(case: str) -> None:
    counts = count_tests(lines_of(OUTPUTS / f"{case}.txt"))

    expected = CASES[case]
    if expected is None:
        assert counts is None
        return
    assert counts is not None
    assert (counts.passed, counts.failed, counts.errors, counts.skipped) == expected
    assert counts.runner == RUNNERS.get(case, case.partition("/")[0])
    if case in NAMES:
        assert sorted(counts.failing) == sorted(NAMES[case])


@each_row("folder", FOLDERS)
def test_a_log_that_quotes_the_output_counts_nothing(folder: str) -> None:
    for case, lines in counted_in(folder):
        logged = [f"2026-01-02 10:11:12 INFO x: {line}" for line in lines if "<?xml" not in line]
        assert count_tests(logged) is None, case


@each_row("folder", [folder for folder in FOLDERS if folder != "mixed"])
def test_noise_around_a_run_changes_nothing(folder: str) -> None:
    noise = ["make: Entering directory 'x'", "3 passed", "all ok", "", "INFO 2 failed", "1..2.5"]
    for case, lines in counted_in(folder):
        assert count_tests([*noise, *lines, "", *noise]) == count_tests(lines), case
