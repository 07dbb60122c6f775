"""Two rows that always answer: alive, where, how far, at what cost, and does it need me.

Rule: they never wrap; what they say is told by fields that know shorter ways to say it.
"""

from datetime import datetime
from typing import ClassVar

from ralph_tui.analysis.verdict import Verdict, verdict
from ralph_tui.events.base import EPOCH
from ralph_tui.state import RunState
from ralph_tui.text.format import percent
from ralph_tui.tui.draw.fitting import fit, join
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clip, clip_line, flat, spread
from ralph_tui.tui.panes.header_fields import alive, health, how_far, item, where


def header_lines(
    state: RunState, now: datetime, width: int, *, lost: bool = False, recorded: bool = False
) -> tuple[Line, Line]:
    """Both rows, each of exactly `width` cells."""
    inner = max(1, width - 2)
    says = verdict(state, now, lost=lost, recorded=recorded)
    named = width >= (140 if item(state, width) else 100)  # an item says more than a name
    name: Line = [("ralph-tui  ", "accent strong")] if named else []
    title: Line = [*name, (clip(_objective(state), inner), "strong")]
    kept = min(30, cells(item(state, inner))) if width >= 100 else 0
    room = max(1, inner - min(cells(title) + kept, inner // 2) - 2)
    right = join(fit(where(state, now, lost=lost, recorded=recorded), room))
    title += item(state, inner - cells(title) - cells(right) - 2)
    first = spread(title, right, inner)
    left_fields = how_far(state)
    forms = fit([*left_fields, *alive(state, now, says, width)], inner)
    split = len(left_fields)
    second = spread(join(forms[:split]), join(forms[split:]), inner)
    return _row(first, width), _row(second, width)


def _row(spans: Line, width: int) -> Line:
    spans = clip_line([(" ", ""), *spans], width)
    return [*spans, (" " * (width - cells(spans)), "")]


def _objective(state: RunState) -> str:
    return "waiting for the run" if state.run.started is None else flat(state.run.started.objective)


class Header(LineWidget):
    """The two rows at the top."""

    key: ClassVar[str] = "header"

    def __init__(self, *, recorded: bool = False) -> None:
        """`recorded`: of a run that nobody can command."""
        super().__init__(id=self.key)
        self._recorded = recorded
        self.state = RunState()
        self.now = EPOCH
        self.lost = False
        self._stamp: object = None
        self._key: object = None
        self._lines: tuple[Line, Line] = ([], [])

    def sync(self, state: RunState, now: datetime, *, lost: bool = False) -> None:
        """Show this state; `lost`: of a run whose process is gone."""
        folds = (state.run, state.control, state.needs, state.oversight, state.intelligence)
        stamp = (*(fold.revision for fold in (*folds, state.context)), int(now.timestamp()), lost)
        if state is self.state and stamp == self._stamp:
            return
        self._stamp, self.state, self.now, self.lost = stamp, state, now, lost
        self.repaint()

    @property
    def says(self) -> Verdict:
        """The run in one sentence."""
        return verdict(self.state, self.now, lost=self.lost, recorded=self._recorded)

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        key = (self._stamp, width)
        if key != self._key:
            told = {"lost": self.lost, "recorded": self._recorded}
            self._lines = header_lines(self.state, self.now, width, **told)
            self._key = key
        return self._lines[y] if y < 2 else []


class HeadlineRow(Header):
    """The run in one sentence, for narrow screens."""

    key: ClassVar[str] = "headline"

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        says = self.says
        word = join([field.forms[0] for field in health(self.state, says)])
        left: Line = [(f" {says.glyph} ", says.tone), (says.text, says.tone)]
        left += item(self.state, width - cells(left) - cells(word) - 3)
        return spread(left, [*word, (" ", "")] if word else [], width)


class OneLine(Header):
    """All that fits where there is no room for a cockpit."""

    key: ClassVar[str] = "status"

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        run = self.state.run
        says = self.says
        done = percent(run.completion) if run.completion is not None else "— %"
        return clip_line(
            [
                (f"{says.glyph} ", says.tone),
                (f"{run.iteration}/{run.max_iterations} ", "text"),
                (f"{done} ", "strong"),
                (clip(says.text, max(1, width - 14)), says.tone),
            ],
            width,
        )


HEADS = (OneLine, Header, HeadlineRow)
"""From top to bottom; the size says which of them are seen."""
