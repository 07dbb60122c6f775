"""Budget classes of plan items: by tag, by finished items, and within the table."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.events.context import ItemSize, SizeBasis
from ralph_tui.layers.context.sizes import (
    BUDGETS,
    DEFAULT,
    ENOUGH,
    TABLE,
    Basis,
    Estimate,
    ItemUse,
    Size,
    by_lines,
    estimate,
    tag_of,
)
from tests.rows import each_row

SIZES = st.sampled_from([row.size for row in TABLE])
BASES = st.sampled_from(["tag", "history", "default"])
WILD = st.floats(0, 1e9)
TAKEN = st.lists(st.tuples(SIZES, BASES, WILD), max_size=30)
WORDS = st.one_of(
    st.text(max_size=30), st.builds(lambda size: f"Do it [{size}]", SIZES), st.just("Do ~70 lines")
)


def untagged(*points: float) -> list[ItemUse]:
    return [("medium", "default", of) for of in points]


@each_row(
    ("item", "size"),
    [
        ("Parse dates [complex]", "complex"),
        ("Parse dates (Simple)", "simple"),
        ("[very-complex] Move to another framework", "very complex"),
        ("Move it (very complex)", "very complex"),
        ("Rename `a` to `b` ( trivial )", "trivial"),
        ("Parse dates, ~120 lines", "simple"),
        ("Parse dates (~400 LOC)", "complex"),
        ("Parse dates [trivial] ~400 lines", "trivial"),
        ("[simple] at first, now [complex]", "complex"),
        ("Solve the complex case", None),
        ("Support files of 400 lines", None),
        ("Make it (quite complex)", None),
        ("", None),
    ],
)
def test_a_tag_is_a_class_in_brackets_or_a_number_of_lines(item: str, size: Size | None) -> None:
    assert tag_of(item) == size


def test_lines_are_those_of_the_table() -> None:
    borders = (0, 49, 50, 150, 151, 300, 301, 999_999)
    assert [by_lines(n) for n in borders] == [
        "trivial", "trivial", "simple", "simple", "medium", "medium", "complex", "complex",
    ]  # fmt: skip


def test_without_tag_and_history_it_is_medium() -> None:
    assert estimate("Parse dates") == Estimate("medium", 20.0, 40.0, "default")
    assert estimate("Parse dates", untagged(8.0, 8.0)) == estimate("Parse dates")


def test_without_tag_it_is_as_the_finished_ones_were() -> None:
    assert estimate("Parse dates", untagged(6.0, 7.0, 9.0, 35.0))[::3] == ("trivial", "history")
    assert estimate("Parse dates", untagged(50.0, 45.0, 48.0))[::3] == ("complex", "history")
    tagged: list[ItemUse] = [("trivial", "tag", 5.0)] * 9
    assert estimate("Parse dates", tagged).basis == "default"


def test_finished_items_narrow_the_range_of_their_class() -> None:
    known = estimate("Parse dates [complex]", [("complex", "tag", 42.0)] * 3)
    assert known == Estimate("complex", 42.0, 42.0, "tag")
    others = estimate("Parse dates [complex]", [("medium", "tag", 22.0)] * 9)
    assert others == Estimate("complex", 40.0, 60.0, "tag")


def test_history_never_says_that_an_item_must_be_split() -> None:
    assert estimate("Parse dates", untagged(90.0, 95.0, 99.0)).size == "complex"


@given(WORDS, TAKEN)
def test_the_range_never_leaves_that_of_its_class(item: str, taken: list[ItemUse]) -> None:
    known = estimate(item, taken)
    row = BUDGETS[known.size]
    assert row.low <= known.low <= known.high <= row.high


@given(st.lists(st.floats(0, 100), min_size=2 * ENOUGH, max_size=12), WILD)
def test_one_wild_number_moves_the_class_no_further_than_a_neighbour_of_the_median(
    points: list[float], wild: float
) -> None:
    """The median with one more number lies between two of the existing ones."""
    sizes = [row.size for row in TABLE]
    ordered = sorted(points)
    middle = len(ordered) // 2
    near = [estimate("x", untagged(*[p] * ENOUGH)).size for p in ordered[middle - 1 : middle + 2]]
    moved = estimate("x", untagged(*points, wild)).size
    assert min(map(sizes.index, near)) <= sizes.index(moved) <= max(map(sizes.index, near))


@given(WORDS, TAKEN, SIZES, BASES)
def test_what_is_tagged_stays_what_its_tag_says(
    item: str, taken: list[ItemUse], size: Size, basis: Basis
) -> None:
    said = tag_of(item)
    known = estimate(item, [*taken, (size, basis, 1e9)])
    assert known.size == said if said else known.basis in ("history", "default")
    assert known.size == DEFAULT or known.basis != "default"


def test_the_events_have_the_same_words() -> None:
    assert get_args(ItemSize) == get_args(Size)
    assert get_args(SizeBasis) == get_args(Basis)
