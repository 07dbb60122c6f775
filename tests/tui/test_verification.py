"""The tests pane: counts in words, names first, what is new, and nothing stale."""

from ralph_tui import events as ev
from ralph_tui.state import RunState
from ralph_tui.tui.draw.spans import cells
from ralph_tui.tui.panes.verification import VerificationPane, _packed
from tests.rows import each_row
from tests.tui.driving import story


def lines_of(pane: VerificationPane, width: int = 76) -> list[str]:
    rows = pane.build(width, 20)
    assert all(cells(row) <= width for row in rows)
    return ["".join(text for text, _ in row) for row in rows]


def pane_after(*gates: ev.GateFinished, command: str = "make check") -> VerificationPane:
    pane = VerificationPane()
    first = next(e for e in story("steady") if isinstance(e, ev.RunStarted))
    pane.state.apply(first.model_copy(update={"command": command}))
    for number, gate in enumerate(gates, start=1):
        for event in (
            ev.IterationStarted(iteration=number, max_iterations=10),
            gate.model_copy(update={"iteration": number}),
        ):
            pane.state.apply(event.model_copy(update={"seq": pane.state.seq + 1}))
    return pane


def gate(*failing: str, passed: int | None = 37, failed: int | None = None) -> ev.GateFinished:
    number = len(failing) if failed is None else failed
    return ev.GateFinished(
        iteration=1,
        ok=not number,
        exit_code=1 if number else 0,
        passed=passed,
        failed=number,
        failing=list(failing),
        runner="pytest",
    )


def test_counts_are_words_and_what_is_not_named_is_said() -> None:
    rows = lines_of(pane_after(gate("t.py::test_a", "t.py::test_b", failed=29)))
    assert rows[0].startswith("✗ 29 failing, 37 passed  exit 1 · ")
    assert rows[1:] == ["✗ test_a (t.py)", "✗ test_b (t.py)", "  and 27 more, not listed"]


def test_without_counts_it_speaks_of_the_completion_command() -> None:
    rows = lines_of(pane_after(gate(passed=None)))
    assert rows[0].startswith("✓ completion command passed  exit 0")


def test_what_passes_and_what_fails_anew_is_told_by_name() -> None:
    first = gate("t.py::test_a", "t.py::test_b")
    rows = lines_of(pane_after(first, gate("t.py::test_b", "t.py::test_c")))
    assert "newly passing: test_a" in rows
    assert "newly failing: test_c" in rows
    cut = lines_of(pane_after(gate("t.py::test_a", failed=9), gate("t.py::test_c", passed=45)))
    assert "newly passing: test_a and others" in cut
    assert _packed(["test_one", "test_two", "test_three"], "and 2 more", 20) == [
        "test_one, test_two,",
        "test_three",
        "and 2 more",
    ], "no name is broken"
    assert _packed(["test_of_many_names_and_one"], "", 16) == ["test_of…and_one"]
    assert not any("newly failing" in row for row in cut), "it may have failed before, unnamed"


def test_a_measurement_that_was_cut_off_is_not_still_going_on() -> None:
    pane = pane_after(gate("t.py::test_a"))
    for event in (
        ev.GateStarted(iteration=2, command="make check"),
        ev.RunFinished(outcome="aborted", reason="by you", iterations=2, completion=1),
    ):
        pane.state.apply(event.model_copy(update={"seq": pane.state.seq + 1}))
    assert not any("verifying" in row for row in lines_of(pane))
    empty = RunState().apply_all(story("empty"))
    pane.state, pane.now = empty, empty.at
    assert lines_of(pane) == ["◐ verifying for 0s"]


@each_row(
    ("command", "shown"),
    [
        ("/home/ada/some/where/.venv/bin/python -m pytest -q tests", "python -m pytest -q tests"),
        ("python -m pytest -q", "python -m pytest -q"),
        ("/usr/bin/env make -C /a/b check", "env make -C /a/b check"),
    ],
)
def test_of_the_command_the_part_that_matters_stays(command: str, shown: str) -> None:
    pane = pane_after(command=command)
    assert "".join(text for text, _ in pane.subtitle(70)) == shown
    assert cells(pane.subtitle(12)) <= 12


def test_a_name_of_500_characters_keeps_to_its_row() -> None:
    rows = lines_of(pane_after(gate("tests/test_x.py::test_" + "n" * 500), gate("y" * 500)), 40)
    assert any(row.startswith("✗ yyy") and "…" in row for row in rows)
