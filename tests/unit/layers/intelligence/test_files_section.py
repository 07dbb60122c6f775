"""The files that a prompt points to, each once."""

from ralph_tui import events as ev
from ralph_tui.events.intelligence import ContextFiles
from ralph_tui.layers.intelligence import build_prompt
from ralph_tui.layers.intelligence.blocks import NAMED_TESTS
from ralph_tui.layers.intelligence.files_section import HEADING
from ralph_tui.layers.intelligence.material import PromptInput

FILES = ContextFiles(
    recently_modified=["parser.py", "tests/test_a.py"],
    test_files=["tests/test_a.py", "tests/test_b.py"],
    artifacts=[".aiwg/spec.md"],
)


def lines(*failing: str, broken: str = "", **fields: object) -> list[str]:
    """The lines of this section in a prompt."""
    gate = ev.GateFinished(iteration=1, ok=False, failing=list(failing), broken=broken)
    given = {"gate": gate, "context_files": FILES, **fields}
    inputs = PromptInput("", "", 2, 9, **given)  # type: ignore[arg-type]
    section = build_prompt(inputs).text.partition(f"# {HEADING}\n")[2].partition("\n# ")[0]
    return [line for line in section.splitlines() if line.startswith("- ")]


def test_each_file_is_pointed_to_once_unless_failing_tests_name_it() -> None:
    assert lines() == [
        "- tests/test_a.py (failing tests; changed in the last iteration)",
        "- tests/test_b.py (failing tests)",
        "- parser.py (changed in the last iteration)",
        "- .aiwg/spec.md (artifact changed in this run)",
    ]
    shown = lines("tests/test_a.py::test_x", "tests/test_b.py::test_y")
    assert shown == [
        "- parser.py (changed in the last iteration)",
        "- tests/test_a.py (changed in the last iteration)",
        "- .aiwg/spec.md (artifact changed in this run)",
    ]
    many = [f"test_{n}" for n in range(NAMED_TESTS)]
    assert "- tests/test_b.py (failing tests)" in lines(*many, "tests/test_b.py::test_y")
    assert "- tests/test_b.py (failing tests)" in lines("tests/test_b.py", broken="no name x")


def test_files_of_an_interrupted_session_are_listed_as_its_own() -> None:
    assert lines(interrupted_files=["- parser.py (modified, +1 -0)"]) == [
        "- tests/test_a.py (failing tests)",
        "- tests/test_b.py (failing tests)",
        "- .aiwg/spec.md (artifact changed in this run)",
    ]


def test_after_a_handoff_its_own_files_come_first() -> None:
    left = ev.HandoffWritten(iteration=1, number=1, path="p", cause="L3")
    assert lines(handoff=left) == []
    assert lines(context_files=None) == []
