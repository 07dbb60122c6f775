"""Alarms, interventions and all else a human should have noticed; entries open their evidence."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from ralph_tui.state import Intervention, LogRow, RunState
from ralph_tui.text.format import clock, count, points_gained
from ralph_tui.text.terms import LEVEL_TONES
from ralph_tui.tui.draw.spans import Line, clip, flat, wrap
from ralph_tui.tui.panes.rows import RowsPane

MOST_ROWS = 3
"""Rows an entry takes at most; the whole is in its evidence."""

ASKING = ("REDIRECT", "PAUSE")
"""Levels that somebody decides about."""
MOST_DENIED = 50
"""Kinds of denial that are listed in the evidence."""


class EventLog(RowsPane):
    """One entry per alarm, notice and wish: time, glyph, word, sentence."""

    key: ClassVar[str] = "log"

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[int, Intervention] = {}
        """By the number of their event."""
        self._oversight = 0

    def stamp(self, state: RunState, now: datetime) -> object:
        """See `Pane`."""
        return (state.log.revision, len(state.control.alarms), state.oversight.revision)

    def changed(self) -> None:
        """See `Pane`; what became of an intervention stands below it, so heights change."""
        oversight = self.state.oversight
        if oversight.revision != self._oversight or self._seen_state is not self.state:
            self._oversight = oversight.revision
            self._made = {made.seq: made for made in oversight.interventions}
            self._ends.clear()
            known = self._first + len(self.entries()) if self._seen_state is self.state else 0
            super().changed()
            self.unseen = min(self.unseen, max(0, self.last + 1 - known)) if known else 0
        else:
            super().changed()

    def entries(self) -> Sequence[LogRow]:
        """See `RowsPane`."""
        return self.state.log.rows

    def rows_of(self, entry: Any, number: int, width: int) -> list[Line]:
        """See `RowsPane`."""
        style = LEVEL_TONES[entry.level]
        word = clip(flat(entry.word, 40), 16)
        head: Line = [
            (f"{clock(entry.at)} ", "dim"),
            (f"{entry.glyph} ", style),
            (word, f"{style} strong" if entry.level in ("critical", "warn") else style),
        ]
        indent = 8
        used = indent + len(word) + 1
        text = flat(entry.text, 600)
        body = "text" if entry.level != "log" else "dim"
        outcome = self._outcome(entry)
        if width < 30:
            rows = [[*head], [("  ", ""), (clip(text, max(1, width - 2)), body)]]
            return [*rows, *([[("  └ ", "dim"), *outcome]] if outcome else [])]
        pieces = wrap(" " * (used - indent) + text, width - indent, MOST_ROWS)
        rows = [[*head, (" ", ""), (pieces[0].lstrip(), body)]]
        rows += [[(" " * indent, ""), (piece, body)] for piece in pieces[1:]]
        return [*rows, *([[(" " * 6, ""), ("└ ", "dim"), *outcome]] if outcome else [])]

    def _outcome(self, entry: LogRow) -> Line:
        """What was decided about an intervention, and what it changed."""
        made = self._made.get(entry.seq)
        if made is None or not made.decision:
            return []
        spans: Line = [(flat(made.decision, 60), "owner")]
        if made.effect is not None:
            gained = made.effect.points
            style = "good" if gained >= 1 else "warn"
            spans += [(f", after {made.effect.after}: ", "dim"), (points_gained(gained), style)]
        return spans

    def row_count(self, width: int, height: int) -> int:
        """See `Pane`; an empty log says so."""
        return super().row_count(width, height) or 1

    def row(self, index: int, width: int, height: int) -> Line:
        """See `Pane`."""
        if not self.entries():
            return [("nothing has happened yet", "dim")]
        return super().row(index, width, height)

    def subtitle(self, width: int) -> Line:
        """See `Pane`."""
        up = len(self.state.control.alarms)
        spans: Line = [(count(up, "open alarm"), "warn")] if up else [("no open alarm", "dim")]
        made = sum(made.level not in ("LOG", "WARN") for made in self._made.values())
        if made:
            spans.append((f" · {count(made, 'intervention')}", "dim"))
        if not self.following and self.unseen:
            spans.append((f" · {self.unseen} new", "accent"))
        return spans

    def open(self, entry: Any, number: int) -> None:
        """See `RowsPane`."""
        where = f"iteration {entry.iteration}" if entry.iteration else "before iteration 1"
        denied = self._denied() if entry.word == "DENIED" else ""
        parts = (entry.text, entry.detail, denied, self._told(entry))
        body = "\n\n".join(part for part in parts if part)
        title = f"{entry.glyph} {entry.word} · {clock(entry.at, seconds=True)} · {where}"
        self.post_message(self.Opened(flat(title), body))

    def _told(self, entry: LogRow) -> str:
        """What belongs to an intervention: the instructions, the decision, the effect."""
        made = self._made.get(entry.seq)
        if made is None:
            return ""
        question = self.state.needs.question
        ours = question is not None and made is self.state.oversight.interventions[-1]
        proposal = question.proposal if question is not None and ours else ""
        given = made.instructions
        parts = [f"decision: {made.decision or 'open'}"] if made.level in ASKING else []
        if made.effect is not None:
            after = count(made.effect.after, "iteration")
            parts.append(f"effect: {points_gained(made.effect.points)} after {after}")
        if instructions := (given if made.decision else proposal):
            parts.append(f"instructions:\n{instructions}")
        return "\n\n".join(parts)

    def _denied(self) -> str:
        """Everything that was denied so far, the most frequent first."""
        needs = self.state.needs
        often = sorted(needs.denied, key=lambda line: -needs.denied[line])[:MOST_DENIED]
        rows = [f"{needs.denied[line]:>5} × {flat(line)}" for line in often]
        head = "Denied so far, by the permissions.allow line that would permit it:"
        return "\n".join([head, *rows, "", "The commands (key :) permit them."])
