"""How much a session is advised to take on."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.context.sizes import Size, estimate
from ralph_tui.layers.context.take_on import Open, take_on
from tests.rows import each_row

SIZES = ("trivial", "simple", "medium", "complex", "very complex")


def items(*sizes: str) -> list[Open]:
    return [(f"{n} [{size}]", estimate(f"[{size}]")) for n, size in enumerate(sizes)]


@each_row("size, most", [("trivial", 8), ("simple", 4), ("medium", 2), ("complex", 1)])
def test_as_many_items_as_their_class_allows_fit(size: Size, most: int) -> None:
    assert len(take_on(items(*[size] * 12), 85).fitting) == most
    learned = [
        (text, estimate(f"[{size}]", [(size, "tag", 0.0)] * 9)) for text in "abcdefghijklmnopqrst"
    ]
    assert len(take_on(learned, 85).fitting) > most, "earlier items of this class were small"


def test_the_largest_comes_first_if_any_item_fits() -> None:
    advised = take_on(items("simple", "complex", "trivial"), 85)
    assert [text for text, _ in advised.fitting] == ["1 [complex]", "0 [simple]"]
    assert [text for text, _ in advised.later] == ["2 [trivial]"]


def test_what_no_window_holds_must_be_split_first() -> None:
    advised = take_on(items("very complex", "simple"), 85)
    assert [text for text, _ in advised.split] == ["0 [very complex]"]
    assert [text for text, _ in advised.fitting] == ["1 [simple]"]
    assert take_on(items("very complex"), 85).fitting == ()


@given(st.lists(st.sampled_from(SIZES)), st.floats(0, 100))
def test_every_item_is_placed_once_and_what_fits_fits(sizes: list[str], room: float) -> None:
    given_ = items(*sizes)
    advised = take_on(given_, room)
    assert sorted([*advised.fitting, *advised.later, *advised.split]) == sorted(given_)
    assert {size.size for _, size in advised.split} <= {"very complex"}
    if len(advised.fitting) > 1:
        assert sum(size.high for _, size in advised.fitting) <= room
    assert bool(advised.fitting) == any(size != "very complex" for size in sizes)
