"""The chart draws any series at any size, and the usual short ones well."""

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.events.control import Profile
from ralph_tui.layers.control import Budget, History, Sample, evaluate
from ralph_tui.state import ChartMark, SignalPoint
from ralph_tui.tui.draw.chart import horizon, plot, series_of, thinned
from ralph_tui.tui.draw.spans import Line, cells
from ralph_tui.tui.draw.words import fraction
from ralph_tui.tui.panes.progress import PROFILES
from tests.tui.driving import Driver, drive, live, story


def points_of(series: list[float], max_iterations: int = 10) -> list[SignalPoint]:
    history, evaluation = History(0.0), None
    points = [SignalPoint(0, 0.0, 1.0)]
    for k, completion in enumerate(series, start=1):
        history.add(Sample(k, completion))
        evaluation = evaluate(history, Budget(max_iterations), previous=evaluation)
        points.append(SignalPoint(k, completion / 100, 1 - completion / 100, evaluation.signal))
    return points


def text(lines: list[Line]) -> list[str]:
    return ["".join(part for part, _ in line) for line in lines]


@given(
    values=st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), max_size=40),
    width=st.integers(1, 160),
    height=st.integers(1, 50),
    limit=st.integers(0, 500),
    marks=st.lists(st.tuples(st.integers(-3, 60), st.sampled_from("▲◆")), max_size=8),
)
def test_any_series_fits_any_size(
    values: list[float], width: int, height: int, limit: int, marks: list[tuple[int, str]]
) -> None:
    points = [SignalPoint(k, value, 1 - value) for k, value in enumerate(values)]
    drawn = plot(
        points,
        [ChartMark(k, glyph, "STUCK", "warning") for k, glyph in marks],
        width=width,
        height=height,
        max_iterations=limit,
        best=2,
    )
    assert len(drawn) <= max(2, height)
    assert all(cells(line) <= max(width, 10) for line in drawn)


def test_few_points_are_joined_by_lines() -> None:
    drawn = text(plot(points_of([30, 60]), [], width=60, height=12, max_iterations=10))
    columns = {
        column
        for row in drawn[:-2]
        for column, glyph in enumerate(row)
        if 0x2800 < ord(glyph) <= 0x28FF
    }
    assert max(columns) - min(columns) + 1 == len(columns), "a gap in the lines"


def test_every_line_ends_in_its_letter_and_guides_are_labelled() -> None:
    drawn = text(plot(points_of([10, 20, 30]), [], width=70, height=14, max_iterations=10))
    body = "".join(drawn[:-2])
    assert all(letter in body for letter in "uPIc")
    assert [row[:4].strip() for row in drawn if row[:4].strip()][:5] == [
        "1.0",
        ".7",
        ".5",
        ".3",
        "0.0",
    ]


def test_lines_that_end_together_have_their_letters_side_by_side() -> None:
    drawn = text(plot(points_of([50, 50, 50]), [], width=70, height=8, max_iterations=10))
    assert any("Pc" in row or "PIc" in row for row in drawn)


def test_marks_stand_under_their_iteration() -> None:
    marks = [ChartMark(4, "▲", "STUCK", "warning"), ChartMark(6, "◆", "REGRESSING", "critical")]
    series = [30.0, 30, 31, 30, 31, 30]
    above, below = text(
        plot(points_of(series), marks, width=70, height=14, max_iterations=10, best=3)
    )[-2:]
    assert above.index("▲") == below.index("4")
    assert above.index("◆") == below.index("6")
    assert above.index("★") == below.index("3")


def test_on_few_rows_marks_share_the_axis() -> None:
    marks = [ChartMark(4, "▲", "STUCK", "warning")]
    axis = text(plot(points_of([30, 30, 31, 30]), marks, width=70, height=6, max_iterations=10))[-1]
    assert "4▲" in axis


def test_a_full_axis_keeps_its_marks() -> None:
    marks = [ChartMark(37, "◆", "STUCK", "critical")]
    axis = text(plot(points_of([30.0] * 60), marks, width=40, height=6, max_iterations=60))[-1]
    assert "◆" in axis


@given(st.lists(st.floats(0, 1), min_size=1, max_size=3000))
def test_thinning_keeps_the_extremes(values: list[float]) -> None:
    dots = [(index // 10, round(value * 100)) for index, value in enumerate(values)]
    kept = thinned(dots)
    assert min(y for _, y in kept) == min(y for _, y in dots)
    assert max(y for _, y in kept) == max(y for _, y in dots)
    assert len(kept) <= 4 * (len(dots) // 10 + 1)


def test_the_axis_leaves_room_without_squeezing() -> None:
    assert horizon(points_of([10.0] * 3), 200) == 8
    assert horizon(points_of([10.0] * 3), 5) == 5
    assert horizon(points_of([10.0] * 20), 10) == 20
    assert horizon([], 0) == 1


def test_the_baseline_has_no_output() -> None:
    lines = {line.kind.letter: line.points for line in series_of(points_of([50]))}
    assert [k for k, _ in lines["c"]] == [0, 1]
    assert [k for k, _ in lines["u"]] == [1]


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (140, 45)])
def test_a_zoomed_chart_tells_every_number_with_a_plain_word(size: tuple[int, int]) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("1", "z")
        signal = driver.cockpit.state.control.latest
        assert signal is not None
        text = "\n".join(driver.text())
        for row in (
            rf"D +change +[+−]?{re.escape(fraction(abs(signal.derivative)))} +of the error",
            rf"velocity +\+{re.escape(fraction(signal.velocity))} +mean of the last steps",
            rf"volatility +{re.escape(fraction(signal.volatility))} +how much",
            rf"issue load +{signal.issue_load:.1f} +what the agent reports",
            rf"gains +kp {re.escape(fraction(signal.kp))} ki .* kd .* weights of P, I and D",
            rf"profile +{signal.profile} +\w+",
            rf"P +error +{re.escape(fraction(signal.proportional))} +what is missing",
            rf"I +mean +{re.escape(fraction(signal.integral_mean))} +mean error",
        ):
            assert re.search(row, text), (row, text)
        assert "7" in text.split("u  output")[0], "and the chart itself is still there"

    drive(live(story("running")), look, size)


def test_every_profile_has_its_words() -> None:
    assert set(PROFILES) == set(get_args(Profile))
