"""How far, and where it leads: the chart of the run; zoomed it explains its lines and numbers."""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from ralph_tui.events import ReadingTaken
from ralph_tui.layers.control import profile_words
from ralph_tui.state import RunState
from ralph_tui.tui.draw.chart import plot
from ralph_tui.tui.draw.course import course_of
from ralph_tui.tui.draw.spans import Line, cells
from ralph_tui.tui.draw.words import fraction
from ralph_tui.tui.panes.pane import LinesPane
from ralph_tui.tui.panes.progress_words import explanation

CHART_SHARE = 0.55
"""Of a zoomed pane; the explanation has the rest, and scrolls where it needs more."""
ARROW = " → "


def melting(readings: Sequence[ReadingTaken], width: int) -> Line:
    """How many are left, from reading to reading: ``29 → 19 → 3 failing``; the first and the
    last ones where not all fit. Empty where nothing is counted."""
    if not readings or readings[-1].total is None or readings[-1].passed is None:
        return []
    word = "not done" if readings[-1].source == "plan" else "failing"
    counts: list[int] = []
    for reading in readings:
        if reading.total is None or reading.passed is None or reading.restarted:
            counts.clear()
        if reading.total is not None and reading.passed is not None:
            left = max(0, reading.total - reading.passed)
            counts += [left] if counts[-1:] != [left] else []
    now: Line = [(str(counts[-1]), "strong"), (f" {word}", "dim")]
    for shown in range(len(counts) - 1, 0, -1):
        first = [str(counts[0])] if shown < len(counts) - 1 else []
        gap = ["…"] if first and shown < len(counts) - 2 else []
        told = [*first, *gap, *(str(left) for left in counts[-1 - shown : -1])]
        line: Line = [(ARROW.join(told) + ARROW, "dim"), *now]
        if cells(line) <= width:
            return line
    return now if cells(now) <= width else []


class ProgressPane(LinesPane):
    """Completion and push over the iterations."""

    key: ClassVar[str] = "progress"

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
            return [[(f"nothing is measured yet: {comes}", "dim")]]
        course = course_of(state)
        if not self.zoomed or height < 12:
            return plot(course, width=width, height=height)
        rows = max(9, int(height * CHART_SHARE))
        words = explanation(state, course, width)
        rows = max(rows, height - len(words) - 1)
        return [*plot(course, width=width, height=rows, zoomed=True), [], *words]

    def headline(self, width: int) -> Line:
        """See `Pane`."""
        return melting(self.state.gate.readings, width)

    def subtitle(self, width: int) -> Line:
        """See `Pane`."""
        latest = self.state.control.latest
        if latest is None:
            return []
        spans: Line = []
        for name, value in (("kp", latest.kp), ("ki", latest.ki), ("kd", latest.kd)):
            spans += [(f"{' ' if spans else ''}{name} ", "dim"), (short(value), "text")]
        full: Line = [(f"{profile_words(latest.profile)}  ", "dim"), *spans]
        return full if cells(full) <= width else spans if cells(spans) <= width else []


def short(value: float) -> str:
    """A gain: ``.5``, ``.35``, ``1.0``."""
    text = fraction(value)
    return text if text == "1.0" else text.rstrip("0").rstrip(".") or "0"
