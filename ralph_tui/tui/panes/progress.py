"""A chart of the run's progress and forecast.

When zoomed, it also shows the controller and explains its lines and numbers.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from ralph_tui.events import ReadingTaken
from ralph_tui.layers.control.advice import band_words, profile_words
from ralph_tui.layers.control.law import BAND_BOUNDS, volatility_class
from ralph_tui.state import RunState
from ralph_tui.text.format import percent
from ralph_tui.text.terms import BEST, CRITICAL, ROLLED_BACK, WARNING
from ralph_tui.tui.draw.chart import KINDS, Heights, heights, plot
from ralph_tui.tui.draw.course import Course, course_of
from ralph_tui.tui.draw.spans import Line, cells, wrap
from ralph_tui.tui.draw.terms import signed
from ralph_tui.tui.draw.words import fraction
from ralph_tui.tui.panes.pane import LinesPane, padded

PROFILES = {
    "exploration": "gentle while exploring",
    "focused": "the usual weights",
    "aggressive": "stronger: too slow or unsteady",
    "damped": "calmer until completion stops swinging",
}
"""Purpose of each set of gains, which weight P, I and D."""
SIGNS: Line = [
    (WARNING.glyph, "warn"),
    (" alarm  ", "dim"),
    (CRITICAL.glyph, "bad"),
    (" serious alarm, or a question  ", "dim"),
    (ROLLED_BACK.glyph, "owner"),
    (" files restored  ", "dim"),
    (BEST.glyph, "good"),
    (" best", "dim"),
]
NAME, VALUE = 11, 14
"""Width in cells of the name and of the value."""


def explanation(state: RunState, course: Course, drawn: Heights, width: int) -> list[Line]:
    """Return a row for each line and number, and the signs below the axis."""
    rows: list[Line] = []
    signal = state.control.latest
    values = _values(state, course)
    for kind in KINDS:
        sample = " " if kind.letter in drawn.not_drawn else kind.sample
        mark = f"{sample * 3} {kind.letter}"
        value = values.get(kind.letter, "")
        rows.append(
            [
                (padded(mark, 7), f"{kind.style} strong"),
                (padded(kind.name, NAME), "text"),
                (padded(value, VALUE), "text"),
                (kind.meaning, "dim"),
            ]
        )
        if kind.letter == "u":
            bounds = ", ".join(
                f"{fraction(bound).rstrip('0')} {band_words(band)}"
                for band, bound in BAND_BOUNDS.items()
            )
            rows.append([(" " * (7 + NAME + VALUE), ""), (f"from {bounds}", "dim")])
    if signal is not None:
        gains = " ".join(gain(value) for value in (signal.kp, signal.ki, signal.kd))
        profile = f"{profile_words(signal.profile)}: {PROFILES[signal.profile]}"
        rows += [
            _plain(
                "reports", f"{signal.issue_load:.1f}", "reported learnings and blockers; they fade"
            ),
            _plain("kp ki kd", gains, profile),
        ]
    return [*_imported(state, width), *rows, [(" " * 7, ""), *SIGNS]]


def _imported(state: RunState, width: int) -> list[Line]:
    """Return a note that values are recomputed, and the recording tool's own values."""
    tool = state.foreign.tool
    if not tool:
        return []
    note = f"{tool} recorded the measurements; the rest is recomputed"
    room = max(8, width - 7)
    rows: list[Line] = [[(" " * 7, ""), (row, "warn")] for row in wrap(note, room, 3)]
    own = state.foreign.control(state.run.iteration)
    if own is not None and own.values:
        numbers = " ".join(f"{name} {gain(value)}" for name, value in own.values.items())
        rows += [
            [(padded("" if place else f"{tool}:", 7), "warn"), (row, "text")]
            for place, row in enumerate(wrap(numbers, room, 3))
        ]
    return rows


def gain(value: float) -> str:
    """Format a number briefly: ``.5``, ``.35``, ``−.1``, ``1.0``, ``0``."""
    text = signed(value)
    return text if text.endswith("1.0") else text.rstrip("0").rstrip(".") or "0"


def _plain(name: str, value: str, meaning: str) -> Line:
    return [
        (" " * 7, ""),
        (padded(name, NAME), "text"),
        (padded(value, VALUE), "text"),
        (meaning, "dim"),
    ]


def _values(state: RunState, course: Course) -> dict[str, str]:
    """Return the current value of each line."""
    now, ahead, signal = course.now, course.ahead, state.control.latest
    found = {"c": percent(now[1])} if now else {}
    found["⋰"] = f"{percent(ahead.points)} at {ahead.at}" if ahead else "none now"
    if signal is not None:
        found |= {
            "u": f"{fraction(signal.output)} {band_words(signal.band)}",
            "P": fraction(signal.proportional),
            "I": fraction(signal.integral_mean),
            "D": signed(signal.derivative),
            "v": signed(signal.velocity),
            "σ": f"{fraction(signal.volatility)} {volatility_class(signal.volatility)}",
        }
    return found


MIN_CHART = 10
"""Minimum height of a zoomed chart in rows; the explanation gets the rest and may scroll."""
ARROW = " → "


def counts_left(readings: Sequence[ReadingTaken]) -> list[int]:
    """Return the remaining counts since the source last changed, omitting consecutive repeats.

    Empty if the latest measurement counts nothing.
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
"""Minimum width at which the bottom edge shows more than the gains."""


def draw_counts_left(counts: Sequence[int], word: str, width: int) -> Line:
    """Draw ``29 → 19 → 3 failing``: the first count, and as many of the last ones as fit."""
    if not counts:
        return []
    now: Line = [(str(counts[-1]), "strong"), (f" {word}", "dim")]
    for shown in range(min(len(counts) - 1, width // cells([(ARROW, "")])), 0, -1):
        left_out = len(counts) - 1 - shown
        shown_counts = [str(count) for count in counts[-1 - shown : -1]]
        shown_counts[:0] = [str(counts[0]), "…"][: min(2, left_out)]
        line: Line = [(ARROW.join(shown_counts) + ARROW, "dim"), *now]
        if cells(line) <= width:
            return line
    return now if cells(now) <= width else []


def _unmeasured(state: RunState) -> str:
    started = state.run.started
    if started is None or not started.watched:
        return "nothing measured yet: the first measurement comes before iteration 1"
    if not state.run.live:
        return "never measured"
    return "nothing measured yet: each iteration ends with a measurement"


class ProgressPane(LinesPane):
    """Completion by iteration."""

    key: ClassVar[str] = "progress"

    def __init__(self) -> None:
        super().__init__()
        self._left: list[int] = []

    def changed(self) -> None:
        self._left = counts_left(self.state.gate.readings)

    def stamp(self, state: RunState, now: datetime) -> object:
        folds = (state.control, state.oversight)
        run = state.run
        shown = (run.max_iterations, run.live, state.run.best_iteration)
        return (*(fold.revision for fold in folds), *shown)

    def build(self, width: int, height: int) -> list[Line]:
        state = self.state
        if not state.gate.readings:
            return [[(row, "dim")] for row in wrap(_unmeasured(state), width, height)]
        course = course_of(state)
        if not self.zoomed or height <= MIN_CHART:
            return plot(course, width=width, height=height)
        words = explanation(state, course, heights(MIN_CHART, zoomed=True), width)
        rows = max(MIN_CHART, height - len(words) - 1)
        words = explanation(state, course, heights(rows, zoomed=True), width)
        return [*plot(course, width=width, height=rows, zoomed=True), [], *words]

    def headline(self, width: int) -> Line:
        readings = self.state.gate.readings
        planned = bool(readings) and readings[-1].source == "plan"
        return draw_counts_left(self._left, "not ticked" if planned else "failing", width)

    def subtitle(self, width: int) -> Line:
        latest = self.state.control.latest
        if latest is None:
            return []
        if self.state.foreign.tool and (width < WIDE_EDGE or not self.zoomed):
            return [("recomputed", "warn")]
        if not self.zoomed:
            return []
        gains = _named_numbers(("kp", latest.kp), ("ki", latest.ki), ("kd", latest.kd))
        named: Line = [(f"gains, {profile_words(latest.profile)}: ", "dim"), *gains]
        if self.state.foreign.tool:
            named = [("recomputed · ", "warn"), *named]
        parts = _named_numbers(
            ("P", latest.proportional), ("I", latest.integral_mean), ("D", latest.derivative)
        )
        pace = _named_numbers(("velocity", latest.velocity), ("volatility", latest.volatility))
        gap: Line = [(" · ", "dim")]
        forms = [[*pace, *gap, *parts, *gap, *named], [*parts, *gap, *named], named]
        # The other numbers would clutter a narrow pane; the zoomed pane explains them.
        line = gains if width < WIDE_EDGE else next(f for f in forms if cells(f) <= width)
        return line if cells(line) <= width else []


def _named_numbers(*numbers: tuple[str, float]) -> Line:
    """Draw numbers with their names: ``kp .5 ki .2 kd .3``."""
    spans: Line = []
    for name, value in numbers:
        spans += [(f"{' ' if spans else ''}{name} ", "dim"), (gain(value), "text")]
    return spans
