"""Learnings from earlier runs and from this run; opening an entry shows its card."""

from collections.abc import Callable
from datetime import datetime
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from ralph_tui.state import RunState, SeenLearning
from ralph_tui.text.terms import IN_PROMPT, LEARNED
from ralph_tui.tui.draw.spans import Line, cells, flat, wrap
from ralph_tui.tui.panes.learning_rows import brief_rows, whole_rows
from ralph_tui.tui.panes.pane import LinesPane, or_report

GROUPS: tuple[tuple[str, Callable[[SeenLearning], bool]], ...] = (
    ("in the prompt of this iteration", lambda seen: seen.in_prompt),
    ("also fits, not in the prompt", lambda seen: seen.current),
    ("learned in this run", lambda seen: seen.origin == "learned"),
    ("retrieved in earlier iterations", lambda seen: True),
)
"""Heading and condition of each group; a learning is in the first group that accepts it."""


class LearningsPane(LinesPane):
    """Learnings grouped by their role in this iteration."""

    key: ClassVar[str] = "learnings"

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open", show=False)]

    class Requested(Message):
        """The user wants to see the card of a learning."""

        def __init__(self, learning_id: str) -> None:
            super().__init__()
            self.learning_id = learning_id

    def __init__(self) -> None:
        super().__init__()
        self.chosen: str | None = None
        """Id of the selected learning; None for the first."""
        self._spans: list[tuple[str, int, int]] = []
        """For each drawn learning: its id, its first row, and the row after its last."""

    def stamp(self, state: RunState, now: datetime) -> object:
        return (state.memory.revision, state.run.live)

    def has_content(self, state: RunState) -> bool:
        return any(seen.listed for seen in state.memory.seen.values())

    def changed(self) -> None:
        if self.chosen not in {seen.learning.learning_id for _, seen in self.listed()}:
            self.chosen = None

    def listed(self) -> list[tuple[int, SeenLearning]]:
        """Return the listed learnings with their group numbers, best first."""
        placed = [
            (next(n for n, (_, takes) in enumerate(GROUPS) if takes(seen)), seen)
            for seen in self.state.memory.seen.values()
            if seen.listed
        ]
        return sorted(placed, key=lambda pair: pair[0])

    @property
    def selected(self) -> str | None:
        """Id of the learning that enter opens."""
        listed = self.listed()
        return self.chosen or (listed[0][1].learning.learning_id if listed else None)

    # drawing ----------------------------------------------------------------------------------

    def build(self, width: int, height: int) -> list[Line]:
        listed = self.listed()
        rows: list[Line] = self._plan(width) if self.zoomed else []
        self._spans = []
        if not listed:
            return rows + self._empty(width)
        limit = 2 if len(listed) * 3 <= height else 1
        iteration, group = self.state.memory.looked_up_at, -1
        for number, seen in listed:
            if self.zoomed:
                rows += [[]] if rows else []
                rows += [[(GROUPS[number][0], "accent")]] if number != group else []
            group = number
            drawn = (
                whole_rows(seen, iteration, width)
                if self.zoomed
                else brief_rows(seen, iteration, width, limit)
            )
            name = seen.learning.learning_id
            self._spans.append((name, len(rows), len(rows) + len(drawn)))
            here = self.lit and name == self.selected
            rows += [_lit(row, width) for row in drawn] if here else drawn
        return rows

    def _plan(self, width: int) -> list[Line]:
        plan = self.state.memory.plan
        if plan is None:
            return []
        pieces = wrap(flat(plan.words, 1000), max(1, width - 6), 4)
        return [
            [("plan  " if not n else " " * 6, "dim"), (piece, "text")]
            for n, piece in enumerate(pieces)
        ]

    def _empty(self, width: int) -> list[Line]:
        memory = self.state.memory
        if memory.looked_up_at is None:
            head = "none yet"
            text = "Learnings from earlier runs appear here, with the reason for each choice."
        else:
            kind = f" for a {flat(memory.task_type, 40)} task" if memory.task_type else ""
            head = f"no learnings yet{kind}"
            text = "This run's learnings will appear here; the next run starts with them."
        rows: list[Line] = [[(piece, "text")] for piece in wrap(head, width, 2)]
        return rows + [[(piece, "dim")] for piece in wrap(text, width, 5)]

    def subtitle(self, width: int) -> Line:
        """Show totals, and the keys while the pane has the focus."""
        memory = self.state.memory
        carried, learned = len(memory.in_prompt), len(memory.learned)
        totals: list[Line] = []
        if memory.current:
            totals.append([(f"{IN_PROMPT.glyph} {carried} in the prompt", "dim")])
        if learned:
            totals.append([(f"{LEARNED.glyph} {learned} learned", "dim")])
        if self.lit and self._spans:
            keys: Line = [("↑↓", "key"), (" select", "dim"), (" · ", "dim")]
            totals.insert(0, [*keys, ("enter", "key"), (" card", "dim")])
        spans: Line = []
        for part in totals:
            more: Line = [(" · ", "dim"), *part] if spans else part
            if cells(spans) + cells(more) > width:
                break
            spans += more
        return spans

    # selecting --------------------------------------------------------------------------------

    @property
    def view_state(self) -> object:
        return (self.top, self.selected)

    def _select(self, index: int) -> None:
        self.lines(self.inner_width, self.inner_height)
        if not self._spans:
            return
        index = max(0, min(index, len(self._spans) - 1))
        self.chosen, start, end = self._spans[index]
        # Selecting the first learning also shows the headings above it.
        start = start if index else 0
        self.top = min(start, max(self.top, end - self.inner_height))
        self.redraw()

    @property
    def _index(self) -> int:
        names = [name for name, _, _ in self._spans]
        return names.index(self.chosen) if self.chosen in names else 0

    @or_report
    def action_move(self, by: int) -> None:
        if self._spans:
            self._select(self._index + by)
        else:
            self.scroll_rows(by)

    @or_report
    def action_edge(self, to: int) -> None:
        self._select(to * 10**9)

    def action_open(self) -> None:
        """Open the card of the selected learning."""
        if self.selected is None:
            self.post_message(self.NoEffect("nothing to open"))
        else:
            self.post_message(self.Requested(self.selected))

    def clicked(self, row: int, cell: int) -> None:
        """Select the clicked learning, or open it if it is already selected."""
        for index, (name, start, end) in enumerate(self._spans):
            if start <= row < end:
                if name == self.chosen:
                    self.action_open()
                else:
                    self._select(index)


def _lit(row: Line, width: int) -> Line:
    """Highlight a row of the selected learning."""
    spans = [(text, f"{style} cursor".strip()) for text, style in row]
    return [*spans, (" " * max(0, width - cells(spans)), "cursor")]
