"""Advice on a context window."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.context.levels import Level
from ralph_tui.layers.context.window import FULL, Order, order, recommendation, windows_fill
from ralph_tui.state.context import ContextUse
from tests.rows import each_row


def use(peak: float | None = None, filled: int = 0) -> ContextUse:
    return ContextUse(1, peak_percent=peak, filled=filled, rollovers=filled)


@each_row(
    ("history", "fill"),
    [
        ([], False),
        ([use(60), use(70)], False),
        ([use(90)], False),
        ([use(86), use(40), use(88)], True),
        ([use(86, filled=2)], True),
        ([use(30), use(87, filled=1), use(), use(), use(), use(), use(), use(88)], True),
        ([use(86), use(88), *[use(40)] * 5], False),
    ],
)
def test_two_full_windows_of_five_iterations_are_no_accident(
    *, history: list[ContextUse], fill: bool
) -> None:
    assert windows_fill(history) is fill


def test_a_window_is_full_where_it_was_said_to_be() -> None:
    assert windows_fill([use(72), use(74)], 70.0)
    assert not windows_fill([use(86), use(88)], 90.0)


def test_a_fresh_window_takes_the_largest_first_and_a_full_one_the_small_ones_that_fit() -> None:
    highs = [20.0, 60.0, 10.0, 40.0, 100.0]
    assert order(highs, 85) == Order(
        (1, 3, 0, 2, 4), "the window has room for any item: largest first"
    )
    assert order(highs, 35) == Order(
        (2, 0, 1, 3, 4),
        "2 still fit in the remaining 35 %, smallest first; a fresh window starts with the largest",
    )
    assert order(highs, 5) == Order(
        (1, 3, 0, 2, 4), "none fits in the remaining 5 %: a fresh window starts with the largest"
    )


def test_without_a_choice_the_plans_order_stands() -> None:
    assert order([], 50) == Order((), "")
    assert order([60.0], 5) == Order((0,), "")
    assert order([40.0, 60.0], None) == Order((0, 1), "")
    assert order([40.0, 40.0], 85).places == (0, 1)
    assert order([100.0, 100.0], 85) == Order((0, 1), "")


@given(st.lists(st.sampled_from([10.0, 15.5, 20.0, 40.0, 60.0, 100.0])), st.floats(0, 100))
def test_every_item_is_named_once_and_the_ones_to_be_split_come_last(
    highs: list[float], left: float
) -> None:
    places = order(highs, left).places
    assert sorted(places) == list(range(len(highs)))
    split = [highs[n] == FULL for n in places]
    if not all(split) and len(highs) > 1:
        assert split == sorted(split)


@given(st.lists(st.sampled_from([10.0, 20.0, 40.0, 60.0]), min_size=2), st.floats(0, 100))
def test_whatever_fits_alone_is_not_left_for_later(highs: list[float], left: float) -> None:
    first = highs[order(highs, left).places[0]]
    assert first <= left or min(highs) > left


@each_row(
    ("level", "words"),
    [
        ("L0", "Safe to continue. A checkpoint triggers automatically at 85 %."),
        ("L1", "Finish the current item"),
        ("L2", "as soon as the running tool ends"),
        ("L3", "ends immediately"),
    ],
)
def test_each_level_has_its_recommendation(level: Level, words: str) -> None:
    assert words in recommendation(level, 85.0, hands_off=True)
    assert "context.rollover is off" in recommendation(level, 85.0, hands_off=False)
