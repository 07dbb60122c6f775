"""The chart draws any run at any size, with labels in the rows of their values."""

import re
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.analysis.verdict import iterations_left, verdict
from ralph_tui.events import ReadingTaken, WorktreeRestored
from ralph_tui.events.control import Profile
from ralph_tui.layers.control.alarms import PROGRESS_ALARMS
from ralph_tui.layers.control.evaluation import evaluate
from ralph_tui.layers.control.history import History, Sample
from ralph_tui.layers.control.law import BAND_BOUNDS, Budget
from ralph_tui.state import ChartMark, RunState, SignalPoint
from ralph_tui.tui.draw.chart import Heights, columns_of, heights, plot
from ralph_tui.tui.draw.completion import AHEAD
from ralph_tui.tui.draw.course import Course, ahead, ahead_of, course_of, glyphs, horizon, segments
from ralph_tui.tui.draw.raster import thinned
from ralph_tui.tui.draw.scale import MIN_RANGE, SEEN_SHARE, Scale, seen
from ralph_tui.tui.draw.spans import Line, cells
from ralph_tui.tui.draw.terms import PACE, PARTS
from ralph_tui.tui.draw.words import SPARKS, fraction, spark
from ralph_tui.tui.panes.progress import (
    PROFILES,
    ProgressPane,
    counts_left,
    draw_counts_left,
    explanation,
)
from tests.rows import each_row
from tests.tui.driving import Driver, drive, live, story
from tests.world.decisions import DECISIONS
from tests.world.recorder import Recorder
from tests.world.stories import STORIES

POINTS = st.floats(0, 100)
ANY = st.floats(allow_nan=True, allow_infinity=True, width=32)


def signals(series: list[float], max_iterations: int = 10) -> list[SignalPoint]:
    """The control law's own answers."""
    history, evaluation = History(series[0]), None
    points = [SignalPoint(0, series[0] / 100, 1 - series[0] / 100)]
    for k, completion in enumerate(series[1:], start=1):
        history.add(Sample(k, completion))
        evaluation = evaluate(history, Budget(max_iterations), previous=evaluation)
        points.append(SignalPoint(k, completion / 100, 1 - completion / 100, evaluation.signal))
    return points


def course(*series: float, limit: int = 10, running: bool = True, **fields: object) -> Course:
    """A run of these readings, the first one before iteration 1."""
    known = signals(list(series), limit)
    done = len(series) - 1
    latest = known[-1].signal if running else None
    found = Course(
        segments=[list(enumerate(series))],
        best=max(enumerate(series), key=lambda point: point[1]),
        ahead=ahead((done, series[-1]), latest.forecast, limit - done)
        if latest and running
        else None,
        end=horizon(done, limit, live=running),
        signals=known,
    )
    for name, value in fields.items():
        setattr(found, name, value)
    return found


def text(lines: list[Line]) -> list[str]:
    return ["".join(part for part, _ in line) for line in lines]


def dotted(row: str) -> bool:
    """True if a line of dots crosses the row."""
    return any(0x2800 < ord(glyph) <= 0x28FF for glyph in row)


def labels(rows: list[str]) -> dict[str, int]:
    """Labels at the left edge, with their rows."""
    return {row[:4].strip(): y for y, row in enumerate(rows) if row[:4].strip()}


# any run, any size --------------------------------------------------------------------------------


@given(
    values=st.lists(ANY, max_size=40),
    width=st.integers(1, 160),
    height=st.integers(1, 50),
    limit=st.integers(0, 500),
    zoomed=st.booleans(),
    forecast=st.none() | st.floats(1e-6, 1e6),
    marks=st.lists(st.tuples(st.integers(-3, 60), st.sampled_from("▲◆↶")), max_size=8),
)
def test_any_series_fits_any_size(
    values: list[float],
    width: int,
    height: int,
    limit: int,
    zoomed: bool,  # noqa: FBT001
    forecast: float | None,
    marks: list[tuple[int, str]],
) -> None:
    readings = [
        ReadingTaken.model_construct(iteration=k, completion=value, source="tests")
        for k, value in enumerate(values)
    ]
    drawn = segments(readings)
    now = drawn[-1][-1] if drawn else None
    found = Course(
        drawn,
        now,
        ahead(now, forecast, limit - now[0]) if now else None,
        horizon(max(0, len(values) - 1), limit, live=True),
        [SignalPoint(k, value, 1 - value) for k, value in enumerate(values)],
        glyphs([ChartMark(k, glyph, "STUCK", "warning") for k, glyph in marks], 2),
    )
    lines = plot(found, width=width, height=height, zoomed=zoomed)
    assert len(lines) == max(height, 1) or zoomed
    assert all(cells(line) <= max(width, 10) for line in lines)


@pytest.mark.parametrize("name", sorted(STORIES | DECISIONS))
def test_the_pane_draws_every_story_at_every_size(name: str) -> None:
    pane = ProgressPane()
    pane.state = RunState().apply_all(story(name))
    for zoomed in (False, True):
        pane.zoomed = zoomed
        for width in (6, 21, 136):
            for height in (1, 3, 6, 25):
                lines = pane.build(width, height)
                assert zoomed or len(lines) <= height
                assert all(cells(line) <= max(width, 10) for line in lines) or zoomed


@given(st.integers(1, 60), st.booleans())
def test_the_strips_share_the_rows_and_none_lies_over_another(rows: int, zoomed: bool) -> None:  # noqa: FBT001
    found = heights(rows, zoomed=zoomed)
    below = [size for size in (found.push, found.parts, found.pace) if size]
    whole = found.completion + sum(size + found.gap for size in below) + found.axis
    assert whole == rows or (rows < 4 and zoomed)
    assert found.completion >= 1


@each_row("rows", [6, 11, 20, 40])
def test_the_small_chart_has_all_its_rows_for_completion_and_axis(rows: int) -> None:
    assert heights(rows) == Heights(rows - 1, push=0, parts=0, pace=0, axis=1, gap=rows >= 24)


def test_what_a_size_shows_does_not_depend_on_the_run() -> None:
    """A reading more moves no strip: the axis stays where it was."""
    for series in ((50.0,), (50, 60), (50, 60, 55), (50, 60, 55, 100)):
        rows = text(plot(course(*series), width=76, height=6))
        assert rows[5].strip().startswith("0"), rows


# rows fall on their values ------------------------------------------------------------------------


@given(st.lists(POINTS, min_size=1, max_size=30), st.none() | POINTS, st.integers(2, 40))
def test_the_scale_is_linear_and_holds_every_reading(
    readings: list[float], projected_end: float | None, rows: int
) -> None:
    scale = seen(readings, projected_end)
    assert scale.low <= min(readings) <= max(readings) <= scale.high
    assert 0 <= scale.low < scale.high <= 100
    assert scale.high - scale.low >= MIN_RANGE - 1e-9
    assert scale.row(scale.high, rows) == 0
    assert scale.row(scale.low, rows) == rows - 1
    exact = [(scale.high - value) / (scale.high - scale.low) * (rows * 4 - 1) for value in readings]
    for value, wanted in zip(readings, exact, strict=True):
        assert abs(scale.dot(value, rows) - wanted) <= 0.5 + 1e-6
    ordered = sorted(readings)
    assert all(scale.dot(a, rows) >= scale.dot(b, rows) for a, b in pairwise(ordered))


@given(st.lists(POINTS, min_size=2, max_size=12), st.integers(4, 30))
def test_labels_stand_in_the_rows_of_their_values(readings: list[float], height: int) -> None:
    found = course(*readings, running=False)
    rows = heights(height).completion
    scale = seen(readings)
    shown = labels(text(plot(found, width=76, height=height))[:rows])
    for label, row in shown.items():
        value = float(label)
        near = [scale.row(min(100.0, max(0.0, value + by)), rows) for by in (-0.5, 0, 0.5)]
        assert min(near) <= row <= max(near), (label, row, scale)
    spread = max(readings) - min(readings) >= MIN_RANGE
    assert {0, rows - 1} <= set(shown.values()) or rows == 1 or not spread


def test_only_readings_are_named_at_the_left_never_an_end_of_the_scale() -> None:
    """The scale is wider than the readings here, and reaches up to where the forecast ends."""
    shown = labels(text(plot(course(70, 71, 72, 73), width=76, height=12)))
    assert set(shown) <= {"70", "71", "72", "73"}
    assert {"70", "73"} <= set(shown)


@given(st.lists(POINTS, min_size=2, max_size=20), st.integers(4, 30), st.booleans())
def test_the_line_runs_within_its_strip_and_through_every_reading(
    readings: list[float],
    height: int,
    running: bool,  # noqa: FBT001
) -> None:
    found = course(*readings, running=running)
    rows = heights(height).completion
    drawn = text(plot(found, width=76, height=height))
    columns = columns_of(76, found.end)
    scale = seen(readings, found.ahead.points if found.ahead else None)
    for iteration, value in enumerate(readings):
        row, column = scale.row(value, rows), columns.left + columns.cell(iteration)
        glyph = drawn[row][column]
        assert dotted(glyph) or glyph == "★", (row, column, drawn)


def test_few_points_are_joined_by_a_line() -> None:
    rows = text(plot(course(30, 60, running=False), width=60, height=12))[:8]
    crossed = {x for row in rows for x, glyph in enumerate(row) if dotted(glyph) or glyph == "★"}
    assert max(crossed) - min(crossed) + 1 == len(crossed), "a gap in the line"


@each_row("rows", [3, 5])
def test_bounds_of_the_push_stand_in_the_rows_of_their_values(rows: int) -> None:
    height = next(h for h in range(11, 60) if heights(h, zoomed=True).push == rows)
    drawn = text(plot(course(0, 30, 35), width=120, height=height, zoomed=True))
    found = heights(height, zoomed=True)
    strip = drawn[found.completion + found.gap :][:rows]
    for bound, word in zip(BAND_BOUNDS.values(), ("moderate", "high", "critical"), strict=True):
        row = next(y for y, line in enumerate(strip) if line.rstrip().endswith(word))
        assert (rows - 1 - row) / rows <= bound <= (rows - row) / rows


# the story it tells -------------------------------------------------------------------------------


def test_the_last_29_failing_tests_melt_as_clearly_as_the_first_50_of_66() -> None:
    total = 192
    late = [(total - left) / total * 100 for left in (29, 19, 10, 3, 0)]
    early = [(66 - left) / 66 * 100 for left in (66, 48, 33, 20, 16)]
    for rows in (4, 9):
        dots = [[seen(run).dot(value, rows) for value in run] for run in (late, early)]
        for run in dots:
            assert len(set(run)) == len(run), "every reading is higher than the one before"
            assert run[0] - run[-1] == rows * 4 - 1, "the whole strip is used"
    shown = labels(text(plot(course(*late, running=False), width=76, height=6)))
    assert {"85", "100"} <= set(shown)


def test_noise_is_no_drama() -> None:
    """One test of 192 more or less stays within one row of four."""
    run = [84.9, 85.4, 84.9, 85.4]
    assert len({seen(run).row(value, 4) for value in run}) == 1
    assert len(set(spark(run, 8))) == 1


def test_ends_are_whole_points_and_decimals_come_where_two_would_look_equal() -> None:
    shown = labels(text(plot(course(12.2, 71.4, running=False), width=76, height=12)))
    assert {"71", "12"} <= set(shown)
    near = labels(text(plot(course(60, 70.4, 69.6, running=False), width=76, height=60)))
    assert {"70.4", "69.6", "60"} <= set(near)


def test_the_best_has_a_line_a_star_and_its_label() -> None:
    for height in (6, 16):
        found = course(18, 40, 55, 71, 62)
        drawn = text(plot(found, width=76, height=height))
        best = next(row for row in drawn if row.startswith("  71"))
        columns = columns_of(76, found.end)
        assert best[columns.left + columns.cell(3)] == "★"
        assert best.count("┄") > 20
    assert labels(drawn)["62"] > labels(drawn)["71"], "and now has a label of its own"


@given(
    st.integers(0, 40), POINTS.filter(lambda p: p < 99.9), st.floats(0.01, 1e4), st.integers(1, 60)
)
def test_the_forecast_is_the_pace_carried_on(
    k: int, points: float, forecast: float, left: int
) -> None:
    found = ahead((k, points), forecast, left)
    assert found is not None
    assert k < found.iteration <= k + left + 1e-6
    pace = (100 - points) / forecast
    assert found.points == pytest.approx(points + pace * (found.iteration - k), abs=1e-3)
    if found.points < 100:
        assert (found.iteration, found.at) == (k + left, k + left), "to the end of the budget"


def test_there_is_no_forecast_where_none_holds() -> None:
    assert ahead((4, 50.0), None, 6) is None, "not rising"
    assert ahead((4, 100.0), 1.0, 6) is None, "done"
    assert ahead((10, 50.0), 3.0, 0) is None, "nothing is left"
    for name in ("steady", "stuck"):
        assert ahead_of(RunState().apply_all(story(name))) is None, "over"
    state = RunState().apply_all(story("rolled_back"))
    if state.oversight.stale:
        assert ahead_of(state) is None, "the files are others than were measured"


@pytest.mark.parametrize("name", sorted(STORIES | DECISIONS))
def test_what_the_verdict_calls_stuck_has_no_pace_that_leads_anywhere(name: str) -> None:
    state = RunState().apply_all(story(name))
    up = [alarm for alarm in PROGRESS_ALARMS if alarm in state.control.alarms]
    if up or state.oversight.episode is not None:
        assert ahead_of(state) is None


@pytest.mark.parametrize("name", sorted(STORIES | DECISIONS))
def test_the_forecast_and_the_verdict_count_alike(name: str) -> None:
    events = story(name)
    state = RunState().apply_all(events)
    said = re.search(r"about (\d+) more iteration", verdict(state, events[-1].at).text)
    found = ahead_of(state)
    if said is None or state.control.latest is None:
        return
    assert found is not None
    left = iterations_left(state, state.control.latest.iteration)
    need = int(said[1])
    assert found.at == state.run.max_iterations - left + min(need, left)
    assert (found.points >= 100) is (need <= left)


def test_an_iteration_without_a_reading_gains_nothing_in_the_forecast() -> None:
    run = Recorder(10)
    run.baseline(0)
    run.iterations(20, 40)
    run.open(3)
    run.open(4)
    found = ahead_of(RunState().apply_all(run.events))
    assert found is not None
    assert found.since == (3, 40.0)
    assert (found.iteration, found.at) == (6.0, 6)


def test_the_forecast_says_where_it_leads() -> None:
    rows = text(plot(course(0, 10, 20, 30, limit=8), width=76, height=6))
    assert any(row.rstrip().endswith(f"{AHEAD} 80 % at 8") for row in rows), rows
    rows = text(plot(course(0, 20, 40, 60, limit=10), width=76, height=6))
    assert rows[0].rstrip().endswith(f"{AHEAD} 100 % at 5"), rows


def test_a_long_way_to_go_leaves_the_readings_their_share_of_the_height() -> None:
    scale = seen([10.0, 15.0], 100.0)
    assert (15.0 - 10.0) / (scale.high - scale.low) >= 1 / SEEN_SHARE - 1e-9


def test_a_restore_is_no_step_of_the_work() -> None:
    readings = [
        ReadingTaken(seq=10 * k, iteration=k, completion=value, source="tests")
        for k, value in enumerate((48.0, 64.0, 52.0, 72.0))
    ]
    back = WorktreeRestored(seq=25, iteration=2, snapshot=1, present=9, tree="x")
    assert segments(readings, [(back, (2, 64.0))]) == [
        [(0, 48.0), (1, 64.0), (2, 52.0)],
        [(2, 64.0), (3, 72.0)],
    ]
    assert segments(readings, [(back, None)])[1] == [(3, 72.0)], "its kind is unknown"
    last = WorktreeRestored(seq=35, iteration=3, snapshot=1, present=9, tree="x")
    assert len(segments(readings, [(last, (3, 64.0))])) == 1, "not measured since"


def test_another_source_begins_another_line() -> None:
    readings = [
        ReadingTaken(iteration=0, completion=20, source="estimate"),
        ReadingTaken(iteration=1, completion=80, source="tests", restarted=True),
    ]
    assert segments(readings) == [[(0, 20.0)], [(1, 80.0)]]


def test_a_story_with_a_restore_has_a_gap_and_its_sign() -> None:
    state = RunState().apply_all(story("rolled_back"))
    found = course_of(state)
    assert any(("↶", "owner") in marks for marks in found.marks.values())


# axis and marks -----------------------------------------------------------------------------------


def test_the_axis_fits_a_run_that_is_over_and_leaves_a_live_one_room() -> None:
    assert horizon(6, 10, live=False) == 6
    assert horizon(3, 5, live=True) == 5
    assert horizon(3, 10, live=True) == 10
    assert horizon(3, 200, live=True) == 12
    assert horizon(40, 200, live=True) == 80
    assert horizon(20, 10, live=True) == 20
    assert horizon(0, 0, live=True) == 1
    assert horizon(5, 20, live=True, projected_end=13) == 13, "as the forecast needs"
    assert horizon(5, 200, live=True, projected_end=90) == 12, "and without squeezing"


def test_a_finished_run_fills_the_axis() -> None:
    row = text(plot(course_of(RunState().apply_all(story("steady"))), width=76, height=6))[-1]
    assert row.split()[-1] == "6★"


def test_marks_stand_under_their_iteration() -> None:
    marks = glyphs(
        [ChartMark(4, "▲", "STUCK", "warning"), ChartMark(4, "◆", "REDIRECT", "critical")], 3
    )
    found = course(10, 30, 30, 31, 30, 31, marks=marks)
    axis = text(plot(found, width=76, height=6))[-1]
    columns = columns_of(76, found.end)
    assert axis.index("3★") == columns.left + columns.cell(3)
    assert axis.index("4▲◆") == columns.left + columns.cell(4)


def test_a_full_axis_keeps_its_marks() -> None:
    marks = glyphs([ChartMark(37, "◆", "STUCK", "critical")], None)
    found = course(*[30.0] * 60, limit=60, marks=marks)
    assert "◆" in text(plot(found, width=40, height=6))[-1]


# push, and what it is made of ---------------------------------------------------------------------


def test_the_push_says_its_band_and_value_beside_its_bars() -> None:
    at = heights(10, zoomed=True).completion
    row = text(plot(course(0, 10, 12, 13), width=76, height=10, zoomed=True))[at]
    assert re.search(r"u +[▁▂▃▄▅▆▇█ ]+ (low|moderate|high|critical) \.\d+", row), row
    assert "not yet" in text(plot(course(10), width=76, height=10, zoomed=True))[at]


def test_the_loudest_ink_is_completions_and_the_error_is_left_out() -> None:
    lines = plot(course(10, 20, 30), width=76, height=6)
    styles = {style for line in lines for _, style in line if style}
    assert "accent strong" in styles
    assert not styles & {"error", "output", "done"}


@each_row("terms", [PARTS, PACE])
def test_lines_of_one_strip_are_told_apart_without_colour(terms: tuple[object, ...]) -> None:
    patterns = [(t.ink.on, t.ink.off, t.ink.thick) for t in terms]  # type: ignore[attr-defined]
    assert len(set(patterns)) == len(patterns)


def test_zoomed_every_line_ends_in_its_letter() -> None:
    rows = "\n".join(text(plot(course(0, 10, 20, 30), width=100, height=25, zoomed=True)))
    for letter in ("P", "I", "D", "v", "σ"):
        assert re.search(rf"{letter} −?\.\d\d", rows), (letter, rows)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=3000))
def test_thinning_keeps_the_extremes(values: list[float]) -> None:
    dots = [(index // 10, round(value * 100)) for index, value in enumerate(values)]
    kept = thinned(dots)
    assert min(y for _, y in kept) == min(y for _, y in dots)
    assert max(y for _, y in kept) == max(y for _, y in dots)
    assert len(kept) <= 4 * (len(dots) // 10 + 1)


# what is left, and the sparkline ------------------------------------------------------------------


def counted(*left: int, total: int = 192, **fields: object) -> list[ReadingTaken]:
    return [
        ReadingTaken.model_validate(
            {
                "iteration": k,
                "completion": (total - n) / total * 100,
                "source": "tests",
                "passed": total - n,
                "total": total,
                **fields,
            }
        )
        for k, n in enumerate(left)
    ]


def test_what_is_left_melts_from_reading_to_reading() -> None:
    counts = counts_left(counted(29, 29, 19, 3))
    assert counts == [29, 19, 3]
    assert text([draw_counts_left(counts, "failing", 40)]) == ["29 → 19 → 3 failing"]
    assert text([draw_counts_left(counts, "failing", 10)]) == ["3 failing"]
    assert draw_counts_left(counts, "failing", 5) == []
    assert counts_left([ReadingTaken(iteration=0, completion=30, source="agent")]) == []


@given(st.lists(st.integers(0, 192), min_size=1, max_size=50), st.integers(0, 80))
def test_what_is_left_keeps_its_ends_in_any_room(left: list[int], width: int) -> None:
    counts = counts_left(counted(*left))
    line = draw_counts_left(counts, "failing", width)
    assert cells(line) <= width
    said = text([line])[0].removesuffix(" failing").split(" → ") if line else []
    if said:
        assert said[-1] == str(counts[-1])
    if len(said) > 1:
        assert said[0] == str(counts[0])
        assert len(said) == len(counts) or "…" in said or len(said) == len(counts) - 1


def test_a_sparkline_shows_the_range_seen() -> None:
    melt = spark([84.9, 90, 95, 98.4, 100], 8)
    assert melt[0] == SPARKS[0]
    assert melt[-1] == SPARKS[-1]
    assert len(set(melt)) == 5
    assert spark([0.0, 0.0], 8) == SPARKS[0] * 2
    assert spark([100.0, 100.0], 8) == SPARKS[-1] * 2
    assert spark([1.0, 2.0, 3.0], 2) == spark([1.0, 2.0, 3.0], 8)[1:]


@given(st.lists(ANY, max_size=30), st.integers(-2, 20))
def test_a_sparkline_takes_any_record(values: list[float], width: int) -> None:
    drawn = spark(values, width)
    assert len(drawn) == min(len(values), max(0, width))
    assert set(drawn) <= set(SPARKS)


# the pane -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (140, 45)])
def test_a_zoomed_chart_tells_every_number_with_a_plain_word(size: tuple[int, int]) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("1", "z")
        signal = driver.cockpit.state.control.latest
        assert signal is not None
        first = "\n".join(driver.text())
        await driver.press("end")
        shown = first + "\n" + "\n".join(driver.text())
        for row in (
            r"c +completion +48 % +measured completion",
            r"⋰ +forecast +\d+ % at 12 +projection at",
            rf"u +output +{re.escape(fraction(signal.output))} \w+ +control output",
            rf"P +error +{re.escape(fraction(signal.proportional))} +remaining now",
            rf"I +mean +{re.escape(fraction(signal.integral_mean))} +mean of P",
            rf"D +change +−?{re.escape(fraction(abs(signal.derivative)))} +change of P",
            rf"v +velocity +{re.escape(fraction(signal.velocity))} +mean of recent steps",
            rf"σ +volatility +{re.escape(fraction(signal.volatility))} low +spread of",
            rf"reports +{signal.issue_load:.1f} +reported learnings",
            r"kp ki kd +\.\d+ \.\d+ \.\d+ +settled: the usual weights",
            "from .3 moderate, .5 high, .7 critical",
            "▲ alarm  ◆ serious alarm, or a question  ↶ files restored  ★ best",
        ):
            assert re.search(row, shown), (row, shown)
        assert "…" not in "\n".join(r for r in shown.splitlines() if "─ c" in r or "━" in r)
        assert "7" in first.split("completion")[0], "and the chart itself is still there"

    drive(live(story("running")), look, size)


@each_row(
    ("readings", "shown"),
    [([40, 50, 60, 70], "low"), ([40, 50, 75, 80], "medium"), ([40, 80, 40, 80], "high")],
)
def test_a_zoomed_chart_names_the_class_of_volatility(readings: list[float], shown: str) -> None:
    state = RunState()
    state.control.points = signals(readings)
    told = text(explanation(state, course(*readings), heights(10, zoomed=True), 76))
    assert any(re.search(rf"σ +volatility +\S+ {shown} ", row) for row in told), told


def test_every_profile_has_its_words() -> None:
    assert set(PROFILES) == set(get_args(Profile))


def test_the_scale_of_a_damaged_record_is_one() -> None:
    assert seen([]).row(0.0, 4) == 3
    assert isinstance(seen([float("nan"), float("inf")]), Scale)


def test_ten_thousand_iterations_are_drawn_as_few_are() -> None:
    """Each column of dots has at most four of the readings that fall into it."""
    readings = [float(k % 97) for k in range(10_000)]
    found = Course([list(enumerate(readings))], (96, 96.0), None, 9_999)
    rows = text(plot(found, width=76, height=6))
    columns = columns_of(76, found.end)
    last = columns.left + columns.cell(9_999)
    assert all(dotted(row[columns.left]) and dotted(row[last]) for row in rows[1:4])
    assert len(thinned([(columns.dot(k), value) for k, value in enumerate(readings)])) < 600


@each_row(
    ("name", "says"),
    [
        ("empty", "the first measurement comes before iteration 1"),
        ("hooked", "each iteration ends with a measurement"),
    ],
)
def test_before_any_reading_it_is_one_calm_sentence(name: str, says: str) -> None:
    pane = ProgressPane()
    if name in STORIES:
        pane.state = RunState().apply_all(story(name))
    else:
        pane.state = RunState().apply_all([Recorder(10, watched=True).events[0]])
    for width in (76, 30):
        assert says in " ".join(text(pane.build(width, 6)))


def test_one_reading_is_a_point_with_its_label() -> None:
    for value in (0.0, 50.0, 100.0):
        rows = text(plot(course(value), width=76, height=6))
        assert f"{value:.0f}" in labels(rows[:5])
        assert any(dotted(row[5]) or row[5] == "★" for row in rows[:5])


def test_the_lower_edge_holds_as_many_numbers_as_it_has_room_for() -> None:
    pane = ProgressPane()
    pane.state = RunState().apply_all(story("running"))
    assert not pane.subtitle(110), "only the zoomed chart has the controller's numbers"
    pane.zoomed = True
    gains = "kp .55 ki .22 kd .32"
    fields = {width: text([pane.subtitle(width)])[0] for width in (10, 24, 79, 80, 110)}
    assert [fields[10], fields[24], fields[79]] == ["", gains, gains]
    assert re.fullmatch(rf"P \.52 I \.\d+ D −\.26 · gains, settled: {gains}", fields[80])
    assert re.fullmatch(rf"velocity \.07 volatility \.\d+ · P .* {gains}", fields[110])
    assert all(cells(pane.subtitle(width)) <= width for width in range(120))
