"""Antipatterns of earlier runs, recognized in the work of this one."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.layers.memory.avoided import Work, matches, recent_work
from tests.rows import each_row
from tests.unit.layers.memory.histories import Worked, files, state_of

WORK = Work(
    frozenset({"src/parser.py", "tests/test_power.py"}),
    ("Bash sed -i s/a/b/ src/lexer.py", "Read src/tokens.py"),
    ("Raised the timeout of the slow upload tests.", "The database of the fixtures is missing."),
)


@each_row(
    ("pattern", "expected"),
    [
        ("Do not edit parser.py by hand: it is generated.", True),
        ("Editing ./src/parser.py broke the build.", True),
        ("Editing other/parser.py broke the build.", False),
        ("Changing `src/tokens.py` broke the build.", False),  # it was only read
        ("Rewriting files with `sed -i` lost line ends.", True),
        ("Using `git reset` lost work.", False),
        ("Passing `ed` a script lost line ends.", False),  # only a part of "sed"
        ("Raising the timeout of slow upload tests", True),
        ("Raising the limit of fast download retries", False),
        ("The database of all fixtures is missing.", True),
        ("The database of the fixtures is not missing.", False),
        ("Timeouts", False),
        ("", False),
    ],
)
def test_what_it_is_recognized_by(pattern: str, *, expected: bool) -> None:
    assert matches(pattern, WORK) is expected


def test_only_the_last_iterations_count() -> None:
    def call(iteration: int, command: str) -> list[ev.Event]:
        return [
            ev.ToolStarted(iteration=iteration, tool_id=command, tool="Bash", summary=command),
            ev.ToolFinished(iteration=iteration, tool_id=command, ok=True),
        ]

    work = recent_work(
        state_of(
            Worked(10, before=[files(1, "old.py"), *call(1, "old")], summary="Old words."),
            Worked(10, before=[files(2, "a.py"), *call(2, "make a")], blockers=["no network"]),
            Worked(10, before=[files(3, "b.py"), *call(3, "make b")], summary="Last words."),
        )
    )
    assert work.paths == {"a.py", "b.py"}
    assert work.calls == ("Bash make a", "Bash make b")
    assert {"Last words.", "no network"} <= set(work.statements)
    assert "Old words." not in work.statements


TEXT = st.text("abcdef ./`", max_size=30)
WORKS = st.builds(
    Work, st.frozensets(TEXT, max_size=3), st.tuples(TEXT, TEXT), st.tuples(TEXT, TEXT)
)


@given(TEXT, WORKS, WORKS)
def test_more_work_never_hides_it(pattern: str, one: Work, other: Work) -> None:
    both = Work(one.paths | other.paths, one.calls + other.calls, one.statements + other.statements)
    assert matches(pattern, both) is (matches(pattern, one) or matches(pattern, other))
    assert not matches(pattern, Work())
