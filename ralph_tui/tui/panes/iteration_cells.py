"""A run as a row of cells, one per iteration with its gain: ``1 +12 2 +8 3 +3 ★``.

Pure functions. A long row wraps; if there are too few rows, the selected cell and the newest stay
visible.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from ralph_tui.state import CheckpointPoint, IterationSpan, RunState
from ralph_tui.text.format import percent, place, signed
from ralph_tui.text.terms import BEST, CHECKPOINTS, CRITICAL, PHASES, ROLLED_BACK, ROLLOVER
from ralph_tui.tui.draw.spans import Line, cells, clip, flat
from ralph_tui.tui.panes.timeline_points import TimelinePoint

GAP = 3
"""Number of cells between two iterations."""
MAX_AGENT = 12
"""Maximum width of an agent's name in cells."""
MAX_CHECKPOINTS = 3
"""Maximum number of checkpoints drawn one by one; more become a glyph with a number."""
CUT = "… "

Hit = tuple[int, int, int]
"""Index of a point, its first cell, and the cell after its last."""


class Group(NamedTuple):
    """An iteration and its points, which are drawn together."""

    indices: range
    line: Line
    hits: tuple[Hit, ...]

    @property
    def width(self) -> int:
        return cells(self.line)


CUT_OFF = "cut off"
"""The end shown for an iteration whose process is gone."""


def tone_of(gain: float | None) -> str:
    """Return the style for a gain."""
    return "good" if (gain or 0) > 0 else "bad" if (gain or 0) < 0 else "dim"


def is_open(span: IterationSpan, state: RunState) -> bool:
    """True if the iteration is running."""
    return span is state.timeline.current and state.run.live and span.ended_at is None


def cut_off_words(span: IterationSpan) -> str:
    """Describe an iteration that was open when the run's process disappeared."""
    return f"{place(span.number)} was cut off and not measured"


def gain_or_state(span: IterationSpan, state: RunState) -> tuple[str, str]:
    """Return an iteration's gain or state, and its style."""
    if is_open(span, state) and span.completion is None:
        waits = state.needs.wait is not None
        return (PHASES["limited"].glyph, "warn") if waits else (PHASES["agent"].glyph, "accent")
    if span.completion is None or span.kept:
        return "–", "dim"
    gain = state.timeline.gain(span)
    if gain is None:
        return percent(span.completion), "text"
    return signed(gain), tone_of(gain)


def kept_words(checkpoint: CheckpointPoint) -> str:
    """Return ``on request`` or ``by timer``; if someone else asked for it, their name."""
    elsewhere = checkpoint.by not in ("", "you")
    return f"by {flat(checkpoint.by, 40)}" if elsewhere else CHECKPOINTS[checkpoint.trigger].word


def marks_of(span: IterationSpan, state: RunState) -> Line:
    """Return marks for the best iteration, an intervention, and a handoff without a checkpoint."""
    marks: Line = []
    if span.number == state.run.best_iteration and state.run.completions:
        marks.append((BEST.glyph, "good strong"))
    if span.interventions:
        marks.append((CRITICAL.glyph, "bad"))
    use = next((u for u in state.context.history if u.iteration == span.number), None)
    kept = any(point.trigger == "rollover" for point in span.checkpoints)
    if use is not None and use.rollovers and not kept:
        marks.append((ROLLOVER.glyph, "accent"))
    return marks


def new_agent(span: IterationSpan, state: RunState) -> str:
    """Return the agent's name; empty if it is the same as in the previous iteration."""
    last = "".join(span.agents[-1:])
    changed = last and last != state.timeline.agent_before(span)
    return clip(flat(last, MAX_AGENT), MAX_AGENT) if changed else ""


def agents_words(span: IterationSpan, state: RunState) -> str:
    """Return ``claude, then codex`` if several agents worked in the run, else an empty string."""
    several = len(state.roster.worked) > 1
    return ", then ".join(flat(name, 40) for name in span.agents) if several else ""


def glyph_of(point: TimelinePoint) -> tuple[str, str]:
    """Return the glyph and style of a checkpoint or restore."""
    if point.checkpoint is None:
        return ROLLED_BACK.glyph, "owner"
    if point.checkpoint.error:
        return "!", "warn"
    return CHECKPOINTS[point.checkpoint.trigger].glyph, "accent"


def groups_of(
    points: Sequence[TimelinePoint], state: RunState, selected: int, mark: int | None, *, lit: bool
) -> list[Group]:
    """Draw the iterations as groups of cells."""
    numbered = groupby(range(len(points)), lambda index: points[index].span.start_seq)
    return [
        _group(points, list(indices), state, _Style(selected, mark, lit=lit))
        for _, indices in numbered
    ]


class _Style(NamedTuple):
    selected: int
    mark: int | None
    lit: bool

    def drawn(self, index: int, line: Line) -> Line:
        """Draw selection and mark so that they can be told apart without colour."""
        if index == self.selected:
            line = [(text, "badge" if self.lit else f"{style} strong") for text, style in line]
        return [("‹", "focus"), *line, ("›", "focus")] if index == self.mark else line


def _group(
    points: Sequence[TimelinePoint], indices: list[int], state: RunState, style: _Style
) -> Group:
    head, *inside = indices
    span = points[head].span
    first: Line = [(f"{span.number or 'start'} ", "dim"), gain_or_state(span, state)]
    agent = new_agent(span, state)
    for mark in (*marks_of(span, state), *([(agent, "text")] if agent else [])):
        first += [(" ", ""), mark]
    parts: list[tuple[Sequence[int], Line]] = [([head], style.drawn(head, first))]
    kept = [index for index in inside if points[index].checkpoint is not None]
    if len(kept) > MAX_CHECKPOINTS:
        here = style.selected if style.selected in kept else kept[-1]
        number = f"{kept.index(here) + 1}/" if here == style.selected else ""
        glyph, tone = glyph_of(points[here])
        parts.append((kept, style.drawn(here, [(f"{glyph}{number}{len(kept)}", tone)])))
        inside = [index for index in inside if index not in kept]
    parts += [([index], style.drawn(index, [glyph_of(points[index])])) for index in inside]
    line: Line = []
    hits: list[Hit] = []
    for those, drawn in parts:
        line += [(" ", "")] if line else []
        start = cells(line)
        line += drawn
        here = style.selected if style.selected in those else those[-1]
        hits.append((here, start, cells(line)))
    return Group(range(head, indices[-1] + 1), line, tuple(hits))


# rows ---------------------------------------------------------------------------------------------


class CellRow(NamedTuple):
    """One row of cells."""

    line: Line
    hits: tuple[Hit, ...]


def rows_of(groups: Sequence[Group], selected: int, width: int, most: int) -> list[CellRow]:
    """Draw at most `most` rows of at most `width` cells.

    If the run is too long, the rows with the selected and the newest point are drawn.
    """
    everything = _pack(groups, width)
    if len(everything) <= most:
        return [_row(row) for row in everything]
    here = next(i for i, group in enumerate(groups) if selected in group.indices)
    newest = _newest_rows(groups, width, most)
    if sum(map(len, newest)) >= len(groups) - here:
        return [_row(row, before=not i) for i, row in enumerate(newest)]
    room = width - 2 * len(CUT)
    around = _pack(groups[here:], room)[: max(1, most - 1)]
    rows = [
        _row(row, before=not i and here > 0, after=i == len(around) - 1)
        for i, row in enumerate(around)
    ]
    return rows + [_row(row, before=True) for row in _newest_rows(groups, width, most - 1)[-1:]]


def _pack(groups: Sequence[Group], width: int) -> list[list[Group]]:
    rows: list[list[Group]] = []
    for group in groups:
        if not rows or _width([*rows[-1], group]) > width:
            rows.append([])
        rows[-1].append(group)
    return rows


def _newest_rows(groups: Sequence[Group], width: int, most: int) -> list[list[Group]]:
    """Return the newest groups in at most `most` rows."""
    rows: list[list[Group]] = []
    for group in reversed(groups):
        if not rows or _width([group, *rows[0]]) > width - len(CUT):
            if len(rows) == most:
                break
            rows.insert(0, [])
        rows[0].insert(0, group)
    return rows


def _width(row: Sequence[Group]) -> int:
    return sum(group.width for group in row) + GAP * (len(row) - 1)


def _row(row: Sequence[Group], *, before: bool = False, after: bool = False) -> CellRow:
    line: Line = [(CUT, "dim")] if before else []
    hits: list[Hit] = []
    for number, group in enumerate(row):
        line += [(" " * GAP, "")] if number else []
        start = cells(line)
        line += group.line
        hits += [(index, start + begin, start + end) for index, begin, end in group.hits]
    line += [(" …", "dim")] if after else []
    return CellRow(line, tuple(hits))


def hit(rows: Sequence[tuple[Hit, ...]], row: int, cell: int) -> int | None:
    """Return the index of the point drawn at this position; None if the position is empty."""
    hits = rows[row] if row < len(rows) else ()
    return next((index for index, start, end in hits if start <= cell < end), None)
