"""Counts of real outputs of real tools: each case of `tests/fixtures/outputs`."""

from pathlib import Path

import pytest

from ralph_tui.observation.counts import count_tests, lines_of

OUTPUTS = Path(__file__).parent.parent / "fixtures" / "outputs"

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
    "mixed/pytest_unittest": (5, 3, 2, 0),
    "mixed/node_unittest": (4, 3, 2, 2),
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


@pytest.mark.parametrize("case", CASES)
def test_counts(case: str) -> None:
    counts = count_tests(lines_of(OUTPUTS / f"{case}.txt"))

    expected = CASES[case]
    if expected is None:
        assert counts is None
        return
    assert counts is not None
    assert (counts.passed, counts.failed, counts.errors, counts.skipped) == expected
    runner = {
        "mixed/pytest_unittest": "pytest+unittest",
        "mixed/node_unittest": "unittest+tap",
    }.get(case, case.partition("/")[0])
    assert counts.runner == runner


@pytest.mark.parametrize("case", NAMES)
def test_names_of_failing_tests(case: str) -> None:
    counts = count_tests(lines_of(OUTPUTS / f"{case}.txt"))

    assert counts is not None
    assert sorted(counts.failing) == sorted(NAMES[case])


@pytest.mark.parametrize("case", [case for case, expected in CASES.items() if expected])
def test_a_log_that_quotes_the_output_counts_nothing(case: str) -> None:
    lines = list(lines_of(OUTPUTS / f"{case}.txt"))
    logged = [f"2026-01-02 10:11:12 INFO worker: {line}" for line in lines if "<?xml" not in line]

    assert count_tests(logged) is None


@pytest.mark.parametrize("case", [case for case in CASES if CASES[case] and "mixed" not in case])
def test_noise_around_a_run_changes_nothing(case: str) -> None:
    lines = list(lines_of(OUTPUTS / f"{case}.txt"))
    noise = ["make: Entering directory 'x'", "3 passed", "all ok", "", "INFO 2 failed", "1..2.5"]

    assert count_tests([*noise, *lines, "", *noise]) == count_tests(lines)
