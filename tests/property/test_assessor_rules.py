"""Rules of the assessor for any test names, paths, outputs and edits."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.events import GateFinished
from ralph_tui.events.base import EPOCH
from ralph_tui.layers.intelligence.context_files import failing_files
from ralph_tui.layers.intelligence.patterns import turns
from ralph_tui.state import AgentRow
from ralph_tui.text.tool_edits import Edit, edits_of
from tests.examples import FEWER

PARTS = st.sampled_from(["tests", "test_a", "ATest", "a.test", "é", "b", " ", "..", "spec"])
PATHS = st.lists(PARTS, min_size=1, max_size=3).map("/".join)
NAMES = st.one_of(
    st.text(max_size=30),
    st.lists(PARTS, min_size=1, max_size=4).flatmap(
        lambda parts: st.sampled_from(["::", ".", " > ", "/", "\\", " ("]).map(
            lambda mark: mark.join(parts)
        )
    ),
)
TEXTS = st.lists(st.integers(0, 3), min_size=1, max_size=30)


@FEWER
@given(st.lists(NAMES, max_size=8), st.lists(PATHS, max_size=8), st.text(max_size=200))
def test_files_of_failing_tests_are_files_of_the_repository(
    names: list[str], paths: list[str], tail: str
) -> None:
    gate = GateFinished(iteration=1, ok=False, passed=0, failing=names, tail=tail)
    found = failing_files(gate, paths)
    assert set(found) <= set(paths)
    assert len(set(found)) == len(found)


@given(st.lists(PARTS, min_size=1, max_size=3, unique=True), st.sampled_from(["py", "js", "rb"]))
def test_a_name_that_begins_with_a_path_shows_that_file(parts: list[str], kind: str) -> None:
    path = f"{'/'.join(part.strip(' .') or 'x' for part in parts)}/test_it.{kind}"
    others = [f"other/{path}", f"test_it.{kind}", f"{path}.txt"]
    gate = GateFinished(iteration=1, ok=False, passed=0, failing=[f"{path}::test_x"])
    assert failing_files(gate, [path, *others]) in ([path], [])
    assert failing_files(gate, [path, "test_other.py"]) == [path]


def calls(texts: list[int], *, whole: bool) -> list[AgentRow]:
    """Turn a file into each of the texts in turn."""
    edits = [Edit("a.py", None if whole else one, other) for one, other in pairwise(texts)]
    return [AgentRow(1, EPOCH, 1, "tool", "a.py", tool="Edit", edits=(edit,)) for edit in edits]


@given(TEXTS, st.booleans())
def test_no_more_edits_are_undone_than_can_be(texts: list[int], whole: bool) -> None:  # noqa: FBT001
    undone = turns(calls(texts, whole=whole))["a.py"]
    assert undone <= max(0, len(texts) - 2)
    if len(set(texts)) == len(texts):
        assert undone == 0


@given(st.integers(2, 40))
def test_of_two_texts_that_alternate_each_edit_but_the_first_undoes_one(edits: int) -> None:
    texts = [n % 2 for n in range(edits + 1)]
    assert turns(calls(texts, whole=False))["a.py"] == edits - 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["edits", "changes", "diff", "content", "path",
                                       "old_string", "new_string"]), inner, max_size=5),
)  # fmt: skip


@FEWER
@given(st.dictionaries(st.sampled_from(["edits", "changes", "content", "path"]), JSON))
def test_any_arguments_show_edits_or_none(params: dict[str, object]) -> None:
    assert all(isinstance(edit, Edit) for edit in edits_of("a.py", params))
