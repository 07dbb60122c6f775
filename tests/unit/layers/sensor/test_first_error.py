"""The first error of a broken build, as each runner reports it."""

from ralph_tui.adapters.workspace.verification import lines_of
from ralph_tui.layers.sensor.counts import count_tests
from tests.paths import FIXTURES
from tests.rows import each_row


@each_row(
    ("output", "error"),
    [
        ("pytest/collection", "ModuleNotFoundError: No module named 'not_a_module_at_all'"),
        ("pytest/qq_collection", "ModuleNotFoundError: No module named 'not_a_module_at_all'"),
        ("unittest/collection", "ModuleNotFoundError: No module named 'not_a_module_at_all'"),
        ("jest/collection", "Cannot find module './missing-module' from 'missing.test.js'"),
        ("vitest/collection", "Error: Failed to parse source for import analysis"),
        ("cargo/collection", "error[E0425]: cannot find function `undefined` in this scope"),
        ("nextest/collection", "error[E0425]: cannot find function `undefined` in this scope"),
        ("go/collection", "broken/x_test.go:3:28: undefined: undefined"),
        ("pytest/fail", ""),
        ("unittest/fail", ""),
        ("cargo/abort", ""),
        ("go/exit", ""),
        ("vitest/unhandled", ""),
    ],
)
def test_first_error(output: str, error: str) -> None:
    counts = count_tests(lines_of(FIXTURES / f"outputs/{output}.txt"))
    assert counts
    assert counts.broken.startswith(error)
    assert bool(counts.broken) == bool(error)


def test_a_summary_alone_tells_the_error_of_a_file() -> None:
    lines = [
        "=========================== short test summary info ============================",
        "ERROR tests/test_a.py - ModuleNotFoundError: No module named 'calc'",
        "ERROR tests/test_b.py::test_one - fixture 'x' not found",
        "2 errors in 0.10s",
    ]
    counts = count_tests(lines)
    assert counts
    assert counts.broken == "ModuleNotFoundError: No module named 'calc'"


def test_an_error_of_a_test_breaks_no_build() -> None:
    lines = [
        "=========================== short test summary info ============================",
        "ERROR tests/test_b.py::test_one - fixture 'x' not found",
        "1 passed, 1 error in 0.10s",
    ]
    counts = count_tests(lines)
    assert counts
    assert (counts.errors, counts.broken) == (1, "")
