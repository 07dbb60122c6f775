"""One rounding of completion on every screen."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.text.format import count, percent, points, points_gained, step
from tests.rows import each_row


@each_row(
    ("value", "beside", "written"),
    [
        (84.9, (), "85"),
        (84.5, (), "85"),
        (85.5, (), "86"),
        (84.9, (84.9,), "85"),
        (84.9, (85.4,), "84.9"),
        (85.4, (84.9,), "85.4"),
        (84.9, (60.0, 100.0), "85"),
        (0.0, (), "0"),
        (99.4, (), "99"),
        (99.6, (), "99.6"),
        (99.98, (), "99.9"),
        (100.0, (99.98,), "100"),
    ],
)
def test_points_are_whole_and_tell_apart_what_differs(
    value: float, beside: tuple[float, ...], written: str
) -> None:
    assert points(value, *beside) == written
    assert percent(value, *beside) == f"{written} %"


@each_row(
    ("gained", "written"),
    [
        (14.2, "+14 points"),
        (1.0, "+1 point"),
        (-1.2, "−1 point"),
        (-11.6, "−12 points"),
        (0.5, "+0.5 points"),
        (-0.5, "−0.5 points"),
        (0.96, "+1 point"),
        (0.0, "+0 points"),
        (-0.01, "+0 points"),
    ],
)
def test_a_gain_below_a_point_is_not_rounded_away(gained: float, written: str) -> None:
    assert points_gained(gained) == written


def test_a_step_is_that_between_the_numbers_as_written() -> None:
    assert step(62.4, 75.6) == 14
    assert points_gained(step(89.6, 90.1)) == "+0.5 points"


@given(st.floats(0, 100), st.lists(st.floats(0, 100), max_size=5))
def test_only_a_hundred_reads_a_hundred_and_nothing_is_off_by_more_than_half_a_point(
    value: float, beside: list[float]
) -> None:
    written = points(value, *beside)
    assert (written == "100") == (value == 100)
    assert abs(float(written) - value) <= 0.5 + 1e-9
    assert len(written.partition(".")[2]) <= 1


def test_one_is_not_plural() -> None:
    assert [count(n, "call") for n in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]
