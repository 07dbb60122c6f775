"""The control signal: chart, marks, legend; zoomed it explains its lines."""

from datetime import datetime
from typing import ClassVar

from ralph_tui.events import SignalComputed
from ralph_tui.layers.control import push_words
from ralph_tui.state import ChartMark, RunState
from ralph_tui.text.terms import BEST, CRITICAL, ROLLED_BACK, WARNING
from ralph_tui.tui.draw.chart import plot, series_of
from ralph_tui.tui.draw.spans import Line, cells
from ralph_tui.tui.draw.words import fraction
from ralph_tui.tui.panes.pane import LinesPane, padded

ROOMY_ROWS = 26
"""From this height on a zoomed chart explains its signs, too."""
LEGEND_ROWS = 9
"""From this height on the legend has a row inside the frame."""
EXPLAINED = (
    (
        f"{WARNING.glyph} {CRITICAL.glyph}",
        f"an alarm rose, or the overseer acted; {CRITICAL.glyph} is the serious one",
    ),
    (ROLLED_BACK.glyph, "the files were rolled back"),
    (BEST.glyph, "the best completion so far"),
    (
        "bands",
        "of the output: from .3 on moderate, .5 significant, .7 critical",
    ),
)


PROFILES = {
    "exploration": "the first iterations: gentle",
    "focused": "the usual weights",
    "aggressive": "pushes harder: it is too slow, or unsteady",
    "damped": "calmer, until it oscillates no more",
}
"""What each set of gains is for."""


def numbers(signal: SignalComputed) -> list[Line]:
    """What no line shows of the last reading, a plain word each."""
    gains = f"kp {fraction(signal.kp)} ki {fraction(signal.ki)} kd {fraction(signal.kd)}"
    told = (
        ("D", "change", _signed(signal.derivative), "of the error in the last step; − is progress"),
        ("", "velocity", _signed(signal.velocity), "mean of the last steps; + is progress"),
        ("", "volatility", fraction(signal.volatility), "how much those steps differ"),
        ("", "issue load", f"{signal.issue_load:.1f}", "what the agent reports: new, and fading"),
    )
    rows: list[Line] = [
        [
            (padded(letter, 3).rjust(7), "text strong"),
            (padded(name, 12), "text"),
            (padded(value, 6), "text"),
            (meaning, "dim"),
        ]
        for letter, name, value, meaning in told
    ]
    head: Line = [(" " * 7, ""), (padded("gains", 12), "text")]
    rows.append([*head, (gains, "text"), ("  weights of P, I and D", "dim")])
    head = [(" " * 7, ""), (padded("profile", 12), "text")]
    return [*rows, [*head, (signal.profile, "text"), (f"  {PROFILES[signal.profile]}", "dim")]]


def _signed(value: float) -> str:
    """``+.12``, ``−.05``, ``.00``."""
    text = fraction(abs(value))
    return text if text == ".00" else f"{'−' if value < 0 else '+'}{text}"


def marks_of(state: RunState) -> list[ChartMark]:
    """What happened at which iteration: alarms, interventions, rollbacks."""
    marks = list(state.control.marks)
    for span in state.timeline.spans:
        marks += [
            ChartMark(span.number, CRITICAL.glyph, made.level, "critical")
            for made in span.interventions
        ]
        marks += [
            ChartMark(span.number, ROLLED_BACK.glyph, "ROLLBACK", "warning") for _ in span.rollbacks
        ]
    return marks


class ProgressPane(LinesPane):
    """Completion, error, integral mean and output over the iterations."""

    key: ClassVar[str] = "progress"

    def stamp(self, state: RunState, now: datetime) -> object:
        """See `Pane`."""
        folds = (state.control, state.oversight)
        shown = (state.run.max_iterations, state.timeline.best_iteration)
        return (*(fold.revision for fold in folds), *shown)

    def build(self, width: int, height: int) -> list[Line]:
        """See `LinesPane`."""
        state = self.state
        points = state.control.points
        if not points:
            started = state.run.started
            watched = started is not None and started.watched
            comes = (
                "one comes with an iteration's end" if watched else "the baseline is measured first"
            )
            return [[(f"no reading yet: {comes}", "dim")]]
        words = self._explanation(roomy=height >= ROOMY_ROWS) if self.zoomed and height > 16 else []
        legend = [self._legend(width)] if height >= LEGEND_ROWS else []
        best = state.timeline.best_iteration if state.run.completions else None
        lines = plot(
            points,
            marks_of(state),
            width=width,
            height=max(2, height - len(words) - len(legend)),
            max_iterations=state.run.max_iterations,
            best=best,
        )
        return [*lines, *legend, *words]

    def headline(self, width: int) -> Line:
        """See `Pane`; where rows are few the legend stands up here."""
        if self.inner_height >= LEGEND_ROWS:
            return []
        full, lean = self._legend(10**6), self._legend(10**6, names=False)
        fitting = [legend for legend in (full, lean) if cells(legend) <= width]
        return fitting[0] if fitting else self._legend(width, names=False, band=False)

    def _legend(self, width: int, *, names: bool = True, band: bool = True) -> Line:
        spans: Line = []
        for line in series_of(self.state.control.points):
            if line.last is None:
                continue
            more: Line = [(f"{line.kind.sample}{line.kind.letter} ", f"{line.kind.style} strong")]
            more += [(f"{line.kind.name} ", "dim")] if names else []
            more.append((fraction(line.last), line.kind.style))
            if line.kind.letter == "u" and band:
                more.append((f" {self._band()}", "dim"))
            if cells(spans) + cells(more) + 2 > width:
                break
            spans += ([("  ", "")] if spans else []) + more
        return spans

    def _band(self) -> str:
        latest = self.state.control.latest
        return f"push {push_words(latest.band)}" if latest is not None else ""

    def _explanation(self, *, roomy: bool) -> list[Line]:
        """Every number of the last reading with what it means; signs where there is room."""
        rows: list[Line] = [[]]
        for line in series_of(self.state.control.points):
            kind, value = line.kind, "" if line.last is None else fraction(line.last)
            rows.append(
                [
                    (f"{kind.sample * 3} {kind.letter}  ", f"{kind.style} strong"),
                    (padded(kind.name, 12), kind.style),
                    (padded(value, 6), "text"),
                    (kind.meaning, "dim"),
                ]
            )
        latest = self.state.control.latest
        rows += [] if latest is None else numbers(latest)
        if roomy:
            rows += [[(padded(glyph, 7), "text"), (text, "dim")] for glyph, text in EXPLAINED]
        return rows

    def subtitle(self, width: int) -> Line:
        """See `Pane`."""
        latest = self.state.control.latest
        if latest is None:
            return []
        gains = (("kp", latest.kp), ("ki", latest.ki), ("kd", latest.kd))
        spans: Line = [(latest.profile, "text")]
        for name, value in gains:
            spans += [(f" {name} ", "dim"), (fraction(value), "text")]
        return spans
