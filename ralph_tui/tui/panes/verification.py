"""The last verification: what the completion command said."""

from datetime import datetime
from typing import ClassVar

from ralph_tui.events import GateFinished
from ralph_tui.state import RunState
from ralph_tui.state.wording import gate_words
from ralph_tui.text.format import clock, duration
from ralph_tui.text.terms import FAILED, PASSED, PHASES, ROLLED_BACK, WARNING
from ralph_tui.tui.draw.spans import Line, cells, clip, flat, wrap
from ralph_tui.tui.draw.words import since
from ralph_tui.tui.panes.iteration_pane import IterationPane

NAMED = 20
"""Failing tests that stand here by name, so that the output below them is not pushed away."""


class VerificationPane(IterationPane):
    """Counts, failing tests, and the end of the output."""

    key: ClassVar[str] = "tests"

    def stamp(self, state: RunState, now: datetime) -> object:
        """See `Pane`."""
        second = int(now.timestamp()) if state.gate.running_since else 0
        return (state.gate.revision, state.oversight.stale, second)

    def build(self, width: int, height: int) -> list[Line]:
        """See `LinesPane`."""
        gate = self.state.gate
        if self.chosen is not None and self.span is not None:
            told = self.span.gate
            return [self.past(), *(_result(told, width) if told else [[("not verified", "dim")]])]
        rows: list[Line] = []
        if gate.running_since is not None:
            age = since(gate.running_since, self.now)
            rows.append([(f"{PHASES['verifying'].label} ", "accent"), (age, "text")])
        if gate.last is not None and self.state.oversight.stale:
            before = clip("before the files were brought back", width - 2)
            rows.append([(f"{ROLLED_BACK.glyph} ", "warn"), (before, "warn")])
        if gate.last is not None:
            rows += _result(gate.last, width)
        elif not rows:
            rows.append([("not verified yet", "dim")])
        return rows

    def subtitle(self, width: int) -> Line:
        """See `Pane`."""
        started = self.state.run.started
        command = self.state.gate.command or (started.command if started else "") or ""
        return [(clip(flat(command), width // 2), "dim")] if command else []


def _result(last: GateFinished, width: int) -> list[Line]:
    term, style = (PASSED, "good") if last.ok else (FAILED, "bad")
    head: Line = [(f"{term.glyph} {'passed' if last.ok else 'red'}", f"{style} strong")]
    if last.passed is not None:
        head.append((f"  {last.passed}/{last.total}", "text"))
    for number, word in (
        (last.failed, "failed"),
        (last.errors, "error" if last.errors == 1 else "errors"),
        (last.skipped, "skipped"),
    ):
        if number:
            head.append((f" · {number} {word}", "dim" if word == "skipped" else "bad"))
    when = f"  {gate_words(last)} · {duration(last.duration_s)} · {clock(last.at)}"
    fits = cells(head) + cells([(when, "dim")]) <= width
    rows: list[Line] = [[*head, (when, "dim")]] if fits else [head, [(when, "dim")]]
    if last.error:
        rows += [
            [(f"{WARNING.glyph} ", "warn"), (piece, "warn")]
            for piece in wrap(last.error, width - 2, 4)
        ]
    rows += [
        [(f"{FAILED.glyph} ", "bad"), (clip(flat(name), width - 2), "text")]
        for name in last.failing[:NAMED]
    ]
    unnamed = last.unnamed + max(0, len(last.failing) - NAMED)
    if last.failing and unnamed:
        rows.append([(f"  and {unnamed} more, not named", "dim")])
    if last.tail:
        rows.append([("─" * width, "faint")])
        rows += [
            [(clip(line.expandtabs(4), width), "dim")] for line in last.tail.rstrip().split("\n")
        ]
    return rows
