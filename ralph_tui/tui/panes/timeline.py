"""Iterations, checkpoints, alarms and the best point on one line; one of them can be looked at."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from textual.binding import Binding, BindingType

from ralph_tui.state import CheckpointPoint, IterationSpan, RunState
from ralph_tui.tui.panes.files import tail
from ralph_tui.tui.panes.pane import LinesPane
from ralph_tui.tui.spans import Line, cells, clip, flat, wrap
from ralph_tui.tui.words import percent, tokens
from ralph_tui.words import clock, count, duration

TRIGGERS = {"start": ("●", "at the start"), "timer": ("◦", "by timer"), "key": ("◈", "by key")}
TRIGGERS["end"] = ("■", "at the end")
SERIOUS = ("OSCILLATING", "REGRESSING", "BUDGET_EXCEEDED")


@dataclass(frozen=True)
class Stop:
    """A point on the line that can be selected."""

    span: IterationSpan
    glyph: str
    style: str
    label: str = ""
    """Stands before the glyph: the iteration's number."""
    checkpoint: CheckpointPoint | None = None
    alarm: str = ""

    @property
    def width(self) -> int:
        """Cells of label and glyph."""
        return len(self.label) + 1


def stops_of(state: RunState) -> list[Stop]:
    """Every point of the run in order: an iteration, then what happened in it."""
    stops: list[Stop] = []
    timeline, run = state.timeline, state.run
    for span in timeline.spans:
        open_ = span is timeline.current and run.live
        stops.append(
            Stop(span, "○" if open_ else "●", "accent" if open_ else "text", str(span.number))
        )
        for point in span.checkpoints:
            if point.trigger == "start":
                continue
            glyph = TRIGGERS[point.trigger][0]
            stops.append(
                Stop(
                    span, "!" if point.error else glyph, "warn" if point.error else "dim", "", point
                )
            )
        for alarm in span.alarms:
            serious = alarm in SERIOUS
            glyph, style = ("◆", "bad") if serious else ("▲", "warn")
            stops.append(Stop(span, glyph, style, alarm=alarm))
        if span.number == timeline.best_iteration and run.completions:
            stops.append(Stop(span, "★", "good"))
    return stops


def track(stops: list[Stop], selected: int, width: int, *, marked: bool) -> Line:
    """The part of the line around the selected point that fills at most `width` cells."""
    first = last = selected
    used = stops[selected].width
    room = width - 4
    while True:
        grown = False
        for index, joined in ((first - 1, first), (last + 1, last + 1)):
            if not 0 <= index < len(stops):
                continue
            more = stops[index].width + (2 if stops[joined].label else 1)
            if used + more <= room:
                used += more
                first, last, grown = min(first, index), max(last, index), True
        if not grown:
            break
    spans: Line = [("… ", "dim")] if first > 0 else []
    for index in range(first, last + 1):
        stop = stops[index]
        if index > first:
            spans.append(("──" if stop.label else "─", "faint"))
        here = " badge" if marked and index == selected else ""
        if stop.label:
            spans.append((stop.label, f"dim{here}"))
        spans.append((stop.glyph, stop.style + here))
    if last < len(stops) - 1:
        spans.append((" …", "dim"))
    return spans


class Timeline(LinesPane):
    """The line, and what is known of the selected point."""

    key: ClassVar[str] = "timeline"
    heading: ClassVar[str] = "checkpoints"
    digit: ClassVar[int] = 3

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "select(-1)", show=False),
        Binding("right", "select(1)", show=False),
        Binding("shift+left", "leap(-1)", show=False),
        Binding("shift+right", "leap(1)", show=False),
        Binding("home", "select(-1000000)", show=False),
        Binding("end", "select(1000000)", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.stops: list[Stop] = []
        self.selected: int | None = None
        """None: the latest iteration, whatever that is."""

    def stamp(self, state: RunState, now: datetime) -> object:
        """See `Pane`."""
        current = state.timeline.current
        growing = state.run.live and current is not None and self.selected is None
        return (state.timeline.revision, state.run.phase, int(now.timestamp()) if growing else 0)

    def changed(self) -> None:
        """See `Pane`."""
        self.stops = stops_of(self.state)
        if self.selected is not None and self.selected >= len(self.stops):
            self.selected = None

    @property
    def current(self) -> int:
        """Index of the point that is told about."""
        if self.selected is not None:
            return self.selected
        return max((i for i, stop in enumerate(self.stops) if stop.label), default=0)

    def action_select(self, by: int) -> None:
        """The point before or after."""
        if self.stops:
            self.selected = max(0, min(len(self.stops) - 1, self.current + by))
            self.top = 0
            self.redraw()

    def action_leap(self, by: int) -> None:
        """The iteration before or after."""
        starts = [i for i, stop in enumerate(self.stops) if stop.label]
        after = [i for i in starts if (i > self.current if by > 0 else i < self.current)]
        if after:
            self.selected = after[0] if by > 0 else after[-1]
            self.redraw()

    def build(self, width: int, height: int) -> list[Line]:
        """See `LinesPane`."""
        if not self.stops:
            return [[("the baseline comes first", "dim")]]
        stop = self.stops[self.current]
        rows = [track(self.stops, self.current, width, marked=self.lit)]
        if height > 5:
            rows.append([])
        rows += self._about(stop, width)
        rows += self._point(stop, width)
        return rows

    def _about(self, stop: Stop, width: int) -> list[Line]:
        span = stop.span
        name = f"iteration {span.number}" if span.number else "baseline"
        end = span.ended_at or (None if self.state.run.live else self.state.run.ended_at)
        until = clock(end) if end else "now"
        seconds = ((end or self.now) - span.started_at).total_seconds()
        head: Line = [(name, "strong"), (f"  {clock(span.started_at)}–{until}", "dim")]
        head.append((f" · {duration(seconds)}", "dim"))
        if span.finished is not None:
            cost = span.finished.cost_usd
            money = "" if cost is None else f" · ${cost:.2f}"
            used = f" · {tokens(span.finished.tokens)} tok" if span.finished.tokens else ""
            head.append((f"{money}{used}", "dim"))
        return [head, *_gain(span), *_files(span), *_gate(span, width)]

    def _point(self, stop: Stop, width: int) -> list[Line]:
        if stop.alarm:
            return [[(f"{stop.glyph} {stop.alarm}", f"{stop.style} strong"), (" rose here", "dim")]]
        if stop.glyph == "★":
            return [[("★ best so far", "good")]]
        point = stop.checkpoint
        if point is None:
            return []
        where = f"checkpoint {point.number} {TRIGGERS[point.trigger][1]}"
        rows: list[Line] = [[(where, "accent"), (f"  {clock(point.at, seconds=True)}", "dim")]]
        if point.snapshot is not None:
            rows[0].append((f" · snapshot {point.snapshot} · {count(point.files, 'file')}", "dim"))
        for text, style in ((point.note, "text"), (point.error, "warn")):
            if text:
                rows += [[(piece, style)] for piece in wrap(text, width, 3)]
        return rows

    def subtitle(self, width: int) -> Line:
        """See `Pane`."""
        number = sum(len(span.checkpoints) for span in self.state.timeline.spans)
        if self.lit:
            return [("←→ select · ", "dim"), (count(number, "checkpoint"), "dim")]
        return [(count(number, "checkpoint"), "dim")]


def _gain(span: IterationSpan) -> list[Line]:
    if span.completion is None:
        return [[("not measured yet", "dim")]]
    if span.previous is None:
        return [[(percent(span.completion), "text"), (" at the start", "dim")]]
    gain = span.completion - span.previous
    style = "good" if gain > 0 else "bad" if gain < 0 else "dim"
    rows: Line = [
        (f"{gain:+.0f} point{'' if abs(round(gain)) == 1 else 's'}".replace("-", "−"), style)
    ]
    rows.append((f"  {span.previous:.0f} → {percent(span.completion)}", "text"))
    if span.finished is not None and span.finished.files:
        done = span.finished
        rows.append((f"  {count(done.files, 'file')} +{done.added} −{done.removed}", "dim"))
    return [rows]


def _files(span: IterationSpan) -> list[Line]:
    if span.files is None or not span.files.changes:
        return []
    by_category: dict[str, list[str]] = {}
    for change in span.files.changes[:40]:
        by_category.setdefault(change.category, []).append(flat(change.path).rsplit("/", 1)[-1])
    totals: dict[str, int] = {total.category: total.files for total in span.files.totals}
    spans: Line = []
    for category, names in sorted(by_category.items(), key=lambda item: -len(item[1])):
        more = totals.get(category, len(names)) - 3
        shown = " ".join(tail(name, 24) for name in names[:3])
        spans += [("  " if spans else "", ""), (f"{category} ", "accent"), (shown, "text")]
        if more > 0:
            spans.append((f" +{more}", "dim"))
    return [spans]


def _gate(span: IterationSpan, width: int) -> list[Line]:
    gate = span.gate
    if gate is None:
        return []
    glyph, style = ("✓", "good") if gate.ok else ("✗", "bad")
    spans: Line = [("gate ", "dim"), (f"{glyph} ", style)]
    if gate.passed is not None:
        spans.append((f"{gate.passed}/{gate.total} passed", "text"))
    elif gate.timed_out:
        spans.append(("ran out of time", "text"))
    else:
        spans.append((f"exit {gate.exit_code}", "text"))
    if gate.failing:
        name = clip(flat(gate.failing[0]), max(8, width - cells(spans) - 14))
        spans.append((f" · {name} fails", "dim"))
    return [spans]
