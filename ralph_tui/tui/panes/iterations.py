"""The iterations of the run, with points to inspect, compare and restore."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.message import Message

from ralph_tui.analysis.next_steps import restore_command
from ralph_tui.commands import over
from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.text.keys import DEFAULTS, Keys
from ralph_tui.text.terms import BEST, CHECKPOINTS, CRITICAL, ROLLED_BACK, Term
from ralph_tui.tui.actions import BY_NAME
from ralph_tui.tui.draw.spans import Line, cells
from ralph_tui.tui.panes.facts import difference, facts
from ralph_tui.tui.panes.iteration_cells import CUT_OFF, Hit, groups_of, hit, rows_of
from ralph_tui.tui.panes.iteration_table import table
from ralph_tui.tui.panes.pane import LinesPane, or_report
from ralph_tui.tui.panes.timeline_points import Key, TimelinePoint, find, points_of


class IterationsPane(LinesPane):
    """The iterations as cells, or as a table when zoomed, with details of the selection.

    The details are those of the selected point, or of the changes since the marked point. Points
    keep their keys while other points come and go.
    """

    key: ClassVar[str] = "iterations"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,up,k", "select(-1)", show=False),
        Binding("right,down,j", "select(1)", show=False),
        Binding("shift+left", "leap(-1)", show=False),
        Binding("shift+right", "leap(1)", show=False),
        Binding("home", "select(-1000000)", show=False),
        Binding("end", "select(1000000)", show=False),
        Binding("space,v", "mark", show=False),
        Binding("escape", "unmark", show=False),
        Binding("enter", "look", show=False),
    ]

    class Requested(Message):
        """The user wants to see the changes of the selected point."""

    def __init__(
        self,
        source: Source,
        keys: Keys = DEFAULTS,
        refused: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        """Create the pane; `refused` returns why an action is unavailable here, or None."""
        super().__init__()
        self._source, self._keys, self._refused = source, keys, refused
        self._hits: list[tuple[Hit, ...]] = []
        """Positions of the drawn points, row by row."""
        self.points: list[TimelinePoint] = []
        self.chosen: Key | None = None
        """None for the latest iteration, even as that changes."""
        self.marked: Key | None = None

    def stamp(self, state: RunState, now: datetime) -> object:
        current, run = state.timeline.current, state.run
        growing = run.live and current is not None
        use = state.context.use
        known = use and (use.rollovers, use.compactions, int(use.peak_percent or 0))
        revisions = (state.timeline.revision, state.oversight.revision)
        restorable = BY_NAME["restore"].refusal(state) is None
        second = int(now.timestamp()) if growing else 0
        waits = state.needs.wait is not None
        return (
            *revisions,
            restorable,
            run.phase,
            run.live,
            waits,
            known,
            second,
            self._source.lost,
        )

    def changed(self) -> None:
        self.points = points_of(self.state)
        if find(self.points, self.chosen) is None:
            self.chosen = None
        if find(self.points, self.marked) is None:
            self.marked = None

    @property
    def current(self) -> int:
        """Index of the point whose details are shown."""
        chosen = find(self.points, self.chosen)
        if chosen is not None:
            return chosen
        return max((i for i, point in enumerate(self.points) if point.whole), default=0)

    @property
    def ends(self) -> tuple[TimelinePoint, TimelinePoint] | None:
        """The marked and the selected point, earlier one first; None unless there are two."""
        mark = find(self.points, self.marked)
        if mark is None or mark == self.current:
            return None
        # An iteration precedes its points in the list, but its time is when it ended.
        pair = (self.points[index] for index in sorted((mark, self.current)))
        latest = datetime.max.replace(tzinfo=UTC)
        first, second = sorted(pair, key=lambda point: point.at or latest)
        return first, second

    def choose(self, key: Key | None) -> None:
        """Select a point; None for the latest iteration, even as that changes."""
        self.chosen, self.top = key, 0
        self.redraw()

    @property
    def view_state(self) -> object:
        return (self.top, self.current if self.points else None)

    @or_report
    def action_select(self, by: int) -> None:
        """Select the previous or next point."""
        if self.points:
            index = max(0, min(len(self.points) - 1, self.current + by))
            self.choose(self.points[index].key)

    @or_report
    def action_leap(self, by: int) -> None:
        """Select the previous or next iteration."""
        starts = [i for i, point in enumerate(self.points) if point.whole]
        after = [i for i in starts if (i > self.current if by > 0 else i < self.current)]
        if after:
            self.choose(self.points[after[0] if by > 0 else after[-1]].key)

    def action_mark(self) -> None:
        """Mark the selected point for comparison, or unmark it."""
        if self.points:
            key = self.points[self.current].key
            self.marked = None if self.marked == key else key
            self.redraw()

    def action_unmark(self) -> None:
        self.marked = None
        self.redraw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable unmarking if nothing is marked, so that esc keeps its usual meaning."""
        return action != "unmark" or self.marked is not None

    def action_look(self) -> None:
        """Open the changes."""
        if self.points:
            self.post_message(self.Requested())

    @or_report
    def action_move(self, by: int) -> None:
        """Scroll, or select the point above or below in the table."""
        if not self.zoomed:
            self.scroll_rows(by)
        elif self.points:
            index = max(0, min(len(self.points) - 1, self.current + by))
            self.choose(self.points[index].key)

    def clicked(self, row: int, cell: int) -> None:
        """Select the clicked point, or open the changes if it is already selected."""
        index = hit(self._hits, row, cell)
        if index is None:
            return
        if self.points[index].key == self.chosen:
            self.action_look()
        else:
            self.choose(self.points[index].key)

    def build(self, width: int, height: int) -> list[Line]:
        if not self.points:
            return [[("the tests run once before iteration 1", "dim")]]
        mark, details = find(self.points, self.marked), self.details(width)
        if self.zoomed:
            room = max(3, height - len(details) - 1)
            rows, drawn = table(
                self.points, self.state, self.current, mark, width, room, lit=self.lit
            )
            self._hits = [(), *(((index, 0, width),) for index in drawn)]
        else:
            groups = groups_of(self.points, self.state, self.current, mark, lit=self.lit)
            drawn_rows = rows_of(groups, self.current, width, max(1, height - len(details) - 1))
            rows = [row.line for row in drawn_rows]
            self._hits = [row.hits for row in drawn_rows]
        gap: list[Line] = [[]] if height > len(rows) + len(details) else []
        return [*rows, *gap, *details]

    def details(self, width: int) -> list[Line]:
        """Draw the details of the selection."""
        ends = self.ends
        if ends is not None:
            return difference(*ends, self.state, self.now, width)
        point, now = self.points[self.current], self.now
        until = "now" if self._source.player is None else ""
        until = CUT_OFF if self._source.lost else until
        return facts(point, self.state, now, width, self._restore_hint(), until)

    def _restore_hint(self) -> str:
        """Return how to restore the selected point, with ``{}`` for the snapshot's number."""
        if self._can_restore:
            return self._keys.expand("{restore} restores it")
        started = self.state.run.started
        if started is None or started.watched:
            return ""
        if self._source.live and over(self.state) is None:
            return self._keys.expand("to restore it, press {pause} to pause, then {restore}")
        record = self._source.record
        work = record.fleet if record is not None else None
        name = started.name if work is None else work.record
        return restore_command(name, "{}") if name else ""

    @property
    def _can_restore(self) -> bool:
        """True if the selected point can be restored now."""
        return self._refused("restore") is None

    def subtitle(self, width: int) -> Line:
        """Show as many keys as fit while the pane has the focus."""
        if not self.lit:
            return self._legend(width)
        # In a replay, the other arrow keys move in time.
        arrows = "←→" if self._source.player is None else "↑↓"
        if self.marked is None:
            keys = [(arrows, "select"), ("enter", "changes"), ("v", "mark")]
            keys += [(self._keys.shown("restore"), "restore")] if self._can_restore else []
        else:
            keys = [("enter", "compare"), ("esc", "unmark"), (arrows, "select")]
        spans: Line = []
        for key, verb in keys:
            more: Line = [(" · ", "dim")] if spans else []
            more += [(key, "key"), (f" {verb}", "dim")]
            if cells(spans) + cells(more) > width:
                break
            spans += more
        return spans

    def _legend(self, width: int) -> Line:
        """Draw the meaning of the displayed marks."""
        spans = self.state.timeline.spans
        kept = any(point.checkpoint is not None for point in self.points)
        made = [one.level for span in spans for one in span.interventions]
        word = "aborted" if all(level == "ABORT" for level in made) else "asked"
        meant = (
            (BEST, bool(self.state.run.completions)),
            (Term(CRITICAL.glyph, word), bool(made)),
            (Term(ROLLED_BACK.glyph, "restored"), any(span.rollbacks for span in spans)),
            (Term(CHECKPOINTS["key"].glyph, "checkpoint"), kept),
        )
        words = "  ".join(term.label for term, holds in meant if holds)
        return [(words, "dim")] if cell_len(words) <= width else []
