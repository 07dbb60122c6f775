"""Levels of a full context window: thresholds, and odd numbers."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.context.levels import Level, Thresholds, above, level_of, percent_of, whole
from tests.rows import each_row

TOKENS = st.one_of(st.none(), st.integers(-10, 2_000_000))
PERCENT = st.floats(0, 100)
THRESHOLDS = st.builds(
    lambda three: Thresholds(*sorted(three)), st.tuples(PERCENT, PERCENT, PERCENT)
)


@each_row(
    ("tokens", "window", "percent"),
    [
        (170_000, 200_000, 85.0),
        (169_999, 200_000, 84.9995),
        (200_001, 200_000, 100.0),
        (0, 200_000, None),
        (-5, 200_000, None),
        (None, 200_000, None),
        (170_000, 0, None),
        (170_000, -1, None),
        (170_000, None, None),
    ],
)
def test_percent(tokens: int | None, window: int | None, percent: float | None) -> None:
    assert percent_of(tokens, window) == percent


@each_row(
    ("percent", "level"),
    [
        (None, "L0"),
        (69.999, "L0"),
        (70, "L1"),
        (84.9995, "L1"),
        (85, "L2"),
        (94.99, "L2"),
        (95, "L3"),
        (100, "L3"),
    ],
)
def test_levels_begin_at_their_thresholds(percent: float | None, level: Level) -> None:
    assert level_of(percent) == level


@given(TOKENS, TOKENS)
def test_a_percentage_is_one_or_unknown(tokens: int | None, window: int | None) -> None:
    percent = percent_of(tokens, window)
    assert percent is None or 0 < percent <= 100


@given(PERCENT, PERCENT, THRESHOLDS)
def test_more_used_is_no_lower_level(one: float, two: float, thresholds: Thresholds) -> None:
    lower, higher = (level_of(percent, thresholds) for percent in sorted((one, two)))
    assert not above(lower, higher)


@given(PERCENT)
def test_what_is_told_has_reached_no_threshold_that_the_number_has_not(percent: float) -> None:
    assert level_of(float(whole(percent))) == level_of(percent)
