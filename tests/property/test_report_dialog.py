"""The report on screen: the original words without markup."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.analysis.report.markdown import code, escaped, quoted, table
from ralph_tui.text.sanitize import plain
from ralph_tui.tui.draw.spans import Line, cells
from ralph_tui.tui.modals.report import without_marks

WORDS = st.text(st.sampled_from("ab1_*`|\\&#124;<>[]~$@:/.w- \n"), min_size=1, max_size=40)


def shown(page: str, width: int = 200) -> str:
    return words(without_marks(page.splitlines(), width))


def words(lines: list[Line]) -> str:
    return " ".join(" ".join("".join(text for text, _ in line) for line in lines).split())


@given(WORDS)
def test_what_was_said_is_read_as_it_was_said(text: str) -> None:
    said = " ".join(plain(text).split())
    assert shown(f"Said: {escaped(text)}") == f"Said: {said or '—'}"
    assert shown(f"- **in**: {escaped(text)} (1)") == f"- in: {said or '—'} (1)"


@given(WORDS)
def test_a_cell_of_a_table_too(text: str) -> None:
    said = " ".join(plain(text).split()) or "—"
    assert shown(table(["what", "much"], [[escaped(text), "1"]])) == f"what much {said} 1"


@given(st.text(st.sampled_from("ab*`_\\ -"), min_size=1, max_size=20))
def test_a_command_keeps_its_signs(text: str) -> None:
    said = " ".join(plain(text).split()) or "—"
    assert shown(f"- Command: {code(text)}, then **more**") == f"- Command: {said}, then more"


@given(st.lists(WORDS, max_size=6), st.integers(8, 60))
def test_no_row_is_wider_than_the_dialog(texts: list[str], width: int) -> None:
    page = (
        "\n\n".join(quoted(text) for text in texts)
        + "\n\n"
        + table(["a", "b"], [[escaped(text), "1"] for text in texts])
    )
    assert all(cells(line) <= width for line in without_marks(page.splitlines(), width))


def test_headings_stand_out_and_a_chart_is_left_alone() -> None:
    page = ["# What **changed**", "", "", "```text", "** ▂", "```"]
    assert without_marks(page, 40) == [[("What changed", "accent strong")], [], [("** ▂", "text")]]
