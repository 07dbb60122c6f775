"""How far, and where it leads: the chart of the run.

Zoomed it shows the controller as well, and explains its lines and numbers.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from ralph_tui.events import ReadingTaken
from ralph_tui.layers.control import profile_words
from ralph_tui.state import RunState
from ralph_tui.tui.draw.chart import heights, plot
from ralph_tui.tui.draw.course import course_of
from ralph_tui.tui.draw.spans import Line, cells, wrap
from ralph_tui.tui.panes.pane import LinesPane
from ralph_tui.tui.panes.progress_words import explanation, gain

LEAST_CHART = 10
"""Rows of a zoomed chart; the explanation has the rest, and scrolls where it needs more."""
ARROW = " → "


def counts_left(readings: Sequence[ReadingTaken]) -> list[int]:
    """How many were left after each reading since the last change of source, repeats told once.

    Empty where the last reading counts nothing.
    """
    counts: list[int] = []
    for reading in readings:
        if reading.restarted or reading.total is None or reading.passed is None:
            counts.clear()
        if reading.total is not None and reading.passed is not None:
            left = max(0, reading.total - reading.passed)
            if counts[-1:] != [left]:
                counts.append(left)
    return counts


WIDE_EDGE = 80
"""Cells from which the lower edge tells more than the gains."""


def melting(counts: Sequence[int], word: str, width: int) -> Line:
    """``29 → 19 → 3 failing``: the first count, and as many of the last ones as fit."""
    if not counts:
        return []
    now: Line = [(str(counts[-1]), "strong"), (f" {word}", "dim")]
    for shown in range(min(len(counts) - 1, width // cells([(ARROW, "")])), 0, -1):
        left_out = len(counts) - 1 - shown
        told = [str(count) for count in counts[-1 - shown : -1]]
        told[:0] = [str(counts[0]), "…"][: min(2, left_out)]
        line: Line = [(ARROW.join(told) + ARROW, "dim"), *now]
        if cells(line) <= width:
            return line
    return now if cells(now) <= width else []


class ProgressPane(LinesPane):
    """Completion over the iterations."""

    key: ClassVar[str] = "progress"

    def __init__(self) -> None:
        super().__init__()
        self._left: list[int] = []

    def changed(self) -> None:
        """See `Pane`."""
        self._left = counts_left(self.state.gate.readings)

    def stamp(self, state: RunState, now: datetime) -> object:
        """See `Pane`."""
        folds = (state.control, state.oversight)
        run = state.run
        shown = (run.max_iterations, run.live, state.timeline.best_iteration)
        return (*(fold.revision for fold in folds), *shown)

    def build(self, width: int, height: int) -> list[Line]:
        """See `LinesPane`."""
        state = self.state
        if not state.gate.readings:
            started = state.run.started
            comes = (
                "a reading comes with an iteration's end"
                if started is not None and started.watched
                else "the first reading comes before iteration 1"
            )
            calm = wrap(f"nothing is measured yet: {comes}", width, height)
            return [[(row, "dim")] for row in calm]
        course = course_of(state)
        if not self.zoomed or height <= LEAST_CHART:
            return plot(course, width=width, height=height)
        words = explanation(state, course, heights(LEAST_CHART, zoomed=True), width)
        rows = max(LEAST_CHART, height - len(words) - 1)
        words = explanation(state, course, heights(rows, zoomed=True), width)
        return [*plot(course, width=width, height=rows, zoomed=True), [], *words]

    def headline(self, width: int) -> Line:
        """See `Pane`."""
        readings = self.state.gate.readings
        planned = bool(readings) and readings[-1].source == "plan"
        return melting(self._left, "not ticked" if planned else "failing", width)

    def subtitle(self, width: int) -> Line:
        """See `Pane`."""
        latest = self.state.control.latest
        if latest is None:
            return []
        if self.state.foreign.tool and (width < WIDE_EDGE or not self.zoomed):
            return [("recomputed", "warn")]
        if not self.zoomed:
            return []
        gains = _told(("kp", latest.kp), ("ki", latest.ki), ("kd", latest.kd))
        named: Line = [(f"gains, {profile_words(latest.profile)}: ", "dim"), *gains]
        if self.state.foreign.tool:
            named = [("recomputed · ", "warn"), *named]
        parts = _told(
            ("P", latest.proportional), ("I", latest.integral_mean), ("D", latest.derivative)
        )
        pace = _told(("velocity", latest.velocity), ("volatility", latest.volatility))
        gap: Line = [(" · ", "dim")]
        forms = [[*pace, *gap, *parts, *gap, *named], [*parts, *gap, *named], named]
        # In a narrow pane they would only be in the way; zoomed it explains them.
        told = gains if width < WIDE_EDGE else next(f for f in forms if cells(f) <= width)
        return told if cells(told) <= width else []


def _told(*numbers: tuple[str, float]) -> Line:
    """``kp .5 ki .2 kd .3``."""
    spans: Line = []
    for name, value in numbers:
        spans += [(f"{' ' if spans else ''}{name} ", "dim"), (gain(value), "text")]
    return spans
