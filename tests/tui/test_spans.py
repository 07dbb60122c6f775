"""Text on cells: nothing is ever wider than asked for."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ralph_tui.tui.draw.spans import cells, clip, clip_line, flat, flat_name, spread, wrap

NASTY = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("日本👩🚀é e\u0301[]/ \t")),
    max_size=60,
)
LINES = st.lists(st.tuples(NASTY.map(flat), st.sampled_from(["", "dim"])), max_size=6)
WIDTHS = st.integers(0, 60)


@given(NASTY.map(flat), WIDTHS)
def test_clip_fits(text: str, width: int) -> None:
    assert cell_len(clip(text, width)) <= width


@given(NASTY.map(flat))
def test_clip_leaves_what_fits(text: str) -> None:
    # A control character counts as a cell here, and as none there.
    assert clip(text, max(len(text), cell_len(text)) + 1) == text


@given(LINES, WIDTHS)
def test_clip_line_fits(line: list[tuple[str, str]], width: int) -> None:
    assert cells(clip_line(line, width)) <= width


@given(LINES, LINES, st.integers(1, 80))
def test_spread_fills_exactly(
    left: list[tuple[str, str]], right: list[tuple[str, str]], width: int
) -> None:
    assert cells(spread(left, right, width)) <= width


@given(NASTY, st.integers(2, 40), st.integers(1, 5))
def test_wrap_fits(text: str, width: int, limit: int) -> None:
    rows = wrap(text, width, limit)
    assert 1 <= len(rows) <= limit
    assert all(cell_len(row) <= width for row in rows)


def test_wrap_loses_no_word_and_marks_a_cut() -> None:
    text = "the quick brown fox jumps over the lazy dog"
    assert " ".join(wrap(text, 12, 99)).split() == text.split()
    assert wrap(text, 12, 2)[-1].endswith("…")
    assert not wrap("short", 12, 2)[-1].endswith("…")


def test_a_megabyte_is_cut_to_a_screenful() -> None:
    long = "日本語 text " * 100_000
    assert cell_len(clip(flat(long), 80)) <= 80
    assert len(wrap(long, 80, 6)) == 6
    line = clip_line([(long, ""), (long, "dim")], 80)
    assert sum(cell_len(text) for text, _ in line) <= 80


def test_a_file_name_keeps_its_blanks_and_one_row() -> None:
    assert flat_name("docs/two  blanks.md") == "docs/two  blanks.md"
    assert flat_name("a\tb\n c\u2028d") == "a b  c d"
