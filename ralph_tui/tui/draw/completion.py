"""The main strip of the progress chart: completion, its best value, and its forecast. Pure."""

from collections.abc import Sequence

from ralph_tui.text.format import points as in_points
from ralph_tui.text.terms import BEST
from ralph_tui.tui.draw.course import Course, Projection
from ralph_tui.tui.draw.field import Columns, Field
from ralph_tui.tui.draw.raster import Dot, Ink, Raster, thinned
from ralph_tui.tui.draw.scale import Scale, seen
from ralph_tui.tui.draw.spans import Line

HERO = Ink("accent strong", thick=True)
FORECAST = Ink("dim", 1, 3)
AHEAD = "⋰"
"""Marks a forecast in text."""
Place = tuple[float, float]
"""Iteration and points."""
GUIDE = "┄"


def completion(course: Course, columns: Columns, rows: int) -> list[Line]:
    """Draw the main strip: measurements, the best one and the forecast, scaled to their range."""
    drawn = [value for part in course.segments for _, value in part]
    ahead = course.ahead
    goal = _clip_right(ahead.since, (ahead.iteration, ahead.points), columns.end) if ahead else None
    scale = seen(drawn, goal[1] if goal else None)
    raster = Raster(columns.room, rows)

    def dots(part: Sequence[Place]) -> list[Dot]:
        kept = thinned([(columns.dot(iteration), value) for iteration, value in part])
        return [(column, scale.dot(value, rows)) for column, value in kept]

    if ahead and goal:
        goal = _clip_top(ahead.since, goal, scale.high)
        raster.polyline(dots([ahead.since, goal]), FORECAST)
    for part in course.segments:
        raster.polyline(dots(part), HERO)
    shown = Field(columns, rows, raster.cell)
    _name_rows(shown, course, scale, drawn)
    if ahead and goal:
        shown.right[scale.row(goal[1], rows)] = _goal_label(ahead, columns.right - 1)
    return shown.lines()


def _clip_right(since: Place, goal: Place, end: float) -> Place:
    """Return where the line to the goal leaves the axis, or the goal itself."""
    (x0, y0), (x1, y1) = since, goal
    return goal if x1 <= end else (end, y0 + (y1 - y0) * max(0.0, end - x0) / (x1 - x0))


def _clip_top(since: Place, goal: Place, top: float) -> Place:
    """Return where the line to the goal leaves the top of the strip, or the goal itself."""
    (x0, y0), (x1, y1) = since, goal
    return goal if y1 <= top else (x0 + (x1 - x0) * (top - y0) / (y1 - y0), top)


def _goal_label(ahead: Projection, width: int) -> Line:
    said = f"{in_points(ahead.points)} %"
    full = f"{said} at {ahead.at}"
    fits = len(full) + 2 <= width
    return [(f"{AHEAD} ", "dim"), (full if fits else said, "text")]


def _name_rows(shown: Field, course: Course, scale: Scale, drawn: Sequence[float]) -> None:
    """Label the best (with guide and star), the latest, the highest and the lowest measurement.

    The ends of the scale have no labels, because those would look like measurements.
    """
    rows, now, best = shown.rows, course.now, course.best
    wanted = [(best[1], "good")] if best else []
    wanted += [(now[1], "text strong")] if now else []
    wanted += [(max(drawn), "dim"), (min(drawn), "dim")] if drawn else []
    placed: dict[int, tuple[float, str]] = {}
    for value, style in wanted:
        placed.setdefault(scale.row(value, rows), (value, style))
    values = [value for value, _ in placed.values()]
    shown.left = {row: (in_points(value, *values), style) for row, (value, style) in placed.items()}
    if best:
        row = scale.row(best[1], rows)
        shown.fill[row] = (GUIDE, "faint")
        shown.over[shown.columns.cell(best[0]), row] = (BEST.glyph, "good strong")
