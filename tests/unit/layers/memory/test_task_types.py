"""The kind of a task by its objective's words: every listed word, the order, no partial words."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.memory.task_types import TASK_TYPES, task_type
from tests.rows import each_row

OBJECTIVES = [
    ("Fix the failing tests in billing", "test-fix"),
    ("test_login is flaky", "test-fix"),
    ("The spec for parseDate fails", "test-fix"),
    ("Make the red test green", "test-fix"),
    ("Get the suite of specs to pass: 3 failures", "test-fix"),
    ("Fix the login form", "bug-fix"),
    ("There is a bug in the parser", "bug-fix"),
    ("The server crashes on start", "bug-fix"),
    ("Handle errors of the importer", "bug-fix"),
    ("Refactor the HTTP client", "refactor"),
    ("Refactoring: split the god class", "refactor"),
    ("Migrate to pydantic 2", "migration"),
    ("Port the module to TypeScript", "migration"),
    ("Upgrading Django", "migration"),
    ("Database migrations", "migration"),
    ("Document the public API", "documentation"),
    ("Improve the docs", "documentation"),
    ("Write a README", "documentation"),
    ("Make startup fast", "performance"),
    ("The query is too slow", "performance"),
    ("Speed up the build", "performance"),
    ("Halve the latency of search", "performance"),
    ("Lower the memory use of the cache", "performance"),
    ("Reduce memory usage", "performance"),
    ("Improve performance", "performance"),
    ("Add dark mode", "feature"),
    ("Implement OAuth", "feature"),
    ("Create a login page", "feature"),
    ("Support IPv6", "feature"),
    ("Build a calculator", "feature"),
    ("Clean up the repository", "general"),
    ("", "general"),
    ("テストを直す", "general"),
]


def test_each_word_of_the_table() -> None:
    assert [(objective, task_type(objective)) for objective, _ in OBJECTIVES] == OBJECTIVES


@each_row(
    ("objective", "kind"),
    [
        ("Write tests for the parser", "general"),  # nothing is wrong with them
        ("Fix the bug in the refactoring tool", "bug-fix"),
        ("Refactor and document the client", "refactor"),
        ("Migrate the docs", "migration"),
        ("Add docs", "documentation"),
        ("Add a fast path", "performance"),
        ("Test that the crash is gone", "bug-fix"),
        ("Fix the red test, then add a feature", "test-fix"),
    ],
)
def test_the_first_that_fits(objective: str, kind: str) -> None:
    assert task_type(objective) == kind


@each_row(
    "objective",
    [
        "Show the report in the portal",
        "The latest contest needs special attention",
        "Change the address in the redesign",
        "Rename the prefix",
        "Give the application more memory",
        "Ask the doctor",
        "Steadfast breakfast",
    ],
)
def test_no_part_of_a_word_counts(objective: str) -> None:
    assert task_type(objective) == "general"


@given(st.text())
def test_any_text_has_a_kind(objective: str) -> None:
    assert task_type(objective) in TASK_TYPES
    assert task_type(objective.upper()) == task_type(objective.upper().lower())
