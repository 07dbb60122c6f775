"""Iterations and all that happened in them on one line; its points can be looked at, one or two."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from ralph_tui.state import RunState
from ralph_tui.text.format import count
from ralph_tui.tui.actions import BY_NAME
from ralph_tui.tui.draw.spans import Line, cells
from ralph_tui.tui.panes.facts import between, facts
from ralph_tui.tui.panes.pane import LinesPane, or_still
from ralph_tui.tui.panes.timeline_points import Key, TimelinePoint, find, points_of, track


class IterationsPane(LinesPane):
    """The line, and what is known of the selected point, or of the way to it from the marked one.

    Points keep their names while others come and go around them.
    """

    key: ClassVar[str] = "iterations"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "select(-1)", show=False),
        Binding("right", "select(1)", show=False),
        Binding("shift+left", "leap(-1)", show=False),
        Binding("shift+right", "leap(1)", show=False),
        Binding("home", "select(-1000000)", show=False),
        Binding("end", "select(1000000)", show=False),
        Binding("space,v", "mark", show=False),
        Binding("escape", "unmark", show=False),
        Binding("enter", "look", show=False),
    ]

    @dataclass
    class Wanted(Message):
        """The changes of the selected point are wanted."""

    def __init__(self, *, live: bool = True) -> None:
        """`live`: the files can be restored from here."""
        super().__init__()
        self._live = live
        self.points: list[TimelinePoint] = []
        self.chosen: Key | None = None
        """None: the latest iteration, whatever that is."""
        self.marked: Key | None = None

    def stamp(self, state: RunState, now: datetime) -> object:
        """See `Pane`."""
        current, run = state.timeline.current, state.run
        growing = run.live and current is not None
        use = state.context.use
        known = use and (use.rollovers, use.compactions, int(use.peak_percent or 0))
        revisions = (state.timeline.revision, state.oversight.revision)
        restorable = BY_NAME["restore"].refusal(state) is None
        return (*revisions, restorable, run.phase, known, int(now.timestamp()) if growing else 0)

    def changed(self) -> None:
        """See `Pane`."""
        self.points = points_of(self.state)
        if find(self.points, self.chosen) is None:
            self.chosen = None
        if find(self.points, self.marked) is None:
            self.marked = None

    @property
    def current(self) -> int:
        """Index of the point that is told about."""
        chosen = find(self.points, self.chosen)
        if chosen is not None:
            return chosen
        return max((i for i, point in enumerate(self.points) if point.label), default=0)

    @property
    def ends(self) -> tuple[TimelinePoint, TimelinePoint] | None:
        """The marked and the selected point, the earlier one first; None unless two are meant."""
        mark = find(self.points, self.marked)
        if mark is None or mark == self.current:
            return None
        # An iteration stands before what happened in it, and is told as it ended.
        pair = (self.points[index] for index in sorted((mark, self.current)))
        latest = datetime.max.replace(tzinfo=UTC)
        first, second = sorted(pair, key=lambda point: point.at or latest)
        return first, second

    def choose(self, key: Key | None) -> None:
        """Select a point; None: the latest iteration, whatever that is."""
        self.chosen, self.top = key, 0
        self.redraw()

    @property
    def standing(self) -> object:
        """See `Pane`."""
        return (self.top, self.current if self.points else None)

    @or_still
    def action_select(self, by: int) -> None:
        """The point before or after."""
        if self.points:
            index = max(0, min(len(self.points) - 1, self.current + by))
            self.choose(self.points[index].key)

    @or_still
    def action_leap(self, by: int) -> None:
        """The iteration before or after."""
        starts = [i for i, point in enumerate(self.points) if point.label]
        after = [i for i in starts if (i > self.current if by > 0 else i < self.current)]
        if after:
            self.choose(self.points[after[0] if by > 0 else after[-1]].key)

    def action_mark(self) -> None:
        """Mark the selected point, to compare it with another; a second time unmarks it."""
        if self.points:
            key = self.points[self.current].key
            self.marked = None if self.marked == key else key
            self.redraw()

    def action_unmark(self) -> None:
        """One point again."""
        self.marked = None
        self.redraw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where nothing is marked, esc means what it means elsewhere."""
        return action != "unmark" or self.marked is not None

    def action_look(self) -> None:
        """Open the changes."""
        if self.points:
            self.post_message(self.Wanted())

    def build(self, width: int, height: int) -> list[Line]:
        """See `LinesPane`."""
        if not self.points:
            return [[("the baseline comes first", "dim")]]
        mark = find(self.points, self.marked)
        rows = [track(self.points, self.current, mark, width, lit=self.lit)]
        if height > 5:
            rows.append([])
        return rows + self.told(width)

    def told(self, width: int) -> list[Line]:
        """What is known of what is selected."""
        ends = self.ends
        if ends is not None:
            return between(*ends, self.state, self.now, width)
        return facts(self.points[self.current], self.state, self.now, width)

    def subtitle(self, width: int) -> Line:
        """See `Pane`; what the keys do while it has the focus, as far as there is room."""
        number = sum(len(span.checkpoints) for span in self.state.timeline.spans)
        total: Line = [(count(number, "checkpoint"), "dim")]
        if not self.lit:
            return total
        if self.marked is None:
            keys = [("←→", "select"), ("enter", "changes"), ("v", "mark")]
            able = self._live and BY_NAME["restore"].refusal(self.state) is None
            keys += [("r", "restore")] if able else []
        else:
            keys = [("enter", "compare"), ("esc", "unmark"), ("←→", "select")]
        spans: Line = []
        for key, verb in keys:
            more: Line = [(" · ", "dim")] if spans else []
            more += [(key, "key"), (f" {verb}", "dim")]
            if cells(spans) + cells(more) > width:
                break
            spans += more
        return spans
