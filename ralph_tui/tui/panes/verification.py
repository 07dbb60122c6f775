"""The last test run: failures, tests that newly pass or fail, and the end of the output."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from rich.cells import cell_len

from ralph_tui.events import GateFinished
from ralph_tui.state import RunState
from ralph_tui.text.format import clock, duration, place
from ralph_tui.text.terms import FAILED, NOT_RECORDED, PASSED, PHASES, ROLLED_BACK, WARNING
from ralph_tui.tui.draw.cutting import middle, name_of_test
from ralph_tui.tui.draw.spans import Line, cells, clip, flat, wrap
from ralph_tui.tui.draw.words import since
from ralph_tui.tui.panes.pane import IterationPane
from ralph_tui.tui.panes.timeline_points import gate_before

NAMED = 20
"""Maximum number of failing tests shown by name, so that the output below stays in view."""
CHANGED = 3
"""Maximum number of tests named among those that newly pass or fail."""
_INTERPRETER = re.compile(r"(?<!\S)/\S*/(?=[^\s/]+(\s|$))")


class VerificationPane(IterationPane):
    """Counts, failing tests, and the end of the output."""

    key: ClassVar[str] = "tests"

    def stamp(self, state: RunState, now: datetime) -> object:
        runs = state.gate.running_since is not None and state.run.live
        second = int(now.timestamp()) if runs else 0
        return (state.gate.revision, state.oversight.stale, state.run.live, second)

    def build(self, width: int, height: int) -> list[Line]:
        rows: list[Line] = [self.past()] if self.chosen is not None and self.span else []
        runs = self.state.gate.running_since
        if self.chosen is None and runs is not None and self.state.run.live:
            rows.append(
                [
                    (f"{PHASES['verifying'].label} ", "accent"),
                    (f"for {since(runs, self.now)}", "text"),
                ]
            )
        last = self._shown
        if self.chosen is None and last is not None and self.state.oversight.stale:
            before = clip("measured before the files were restored", width - 2)
            rows.append([(f"{ROLLED_BACK.glyph} ", "warn"), (before, "warn")])
        if last is not None:
            return rows + _result(last, self._before(last), width)
        if self.state.foreign.tool:
            return [*rows, [(NOT_RECORDED, "dim")]]
        if self.chosen is not None:
            return [*rows, [("the tests did not run in this iteration", "dim")]]
        started = self.state.run.started
        watched = started is not None and started.watched
        return rows or [
            [("hooks run no tests" if watched else "the tests have not run yet", "dim")]
        ]

    @property
    def _shown(self) -> GateFinished | None:
        """The displayed result."""
        if self.chosen is not None:
            return self.span.gate if self.span is not None else None
        return self.state.gate.last

    def _before(self, last: GateFinished) -> GateFinished | None:
        """The previous result; None if a comparison is impossible."""
        spans = self.state.timeline.spans
        span = next((s for s in reversed(spans) if s.gate is last), None)
        return None if span is None else gate_before(span, self.state)

    def subtitle(self, width: int) -> Line:
        """Show the command, without its program's folders."""
        started = self.state.run.started
        command = self.state.gate.command or (started.command if started else "") or ""
        shown = _INTERPRETER.sub("", flat(command), count=1) if command.startswith("/") else command
        return [(middle(flat(shown), width), "dim")] if command else []


def _verdict(last: GateFinished) -> tuple[str, str]:
    if last.ok:
        return PASSED.label, "good"
    return FAILED.label, "bad" if last.error or last.timed_out else "warn"


def _counts(last: GateFinished) -> Line:
    """Draw ``29 failing, 37 passed``."""
    parts = [
        (last.failed, "failing", "warn"),
        (last.errors, "error" if last.errors == 1 else "errors", "bad"),
        (last.passed or 0, "passed", "good" if last.ok else "text"),
        (last.skipped, "skipped", "dim"),
    ]
    line: Line = []
    for number, word, style in parts:
        if number:
            line += [(", ", "dim")] if line else []
            line.append((f"{number} {word}", style))
    return line or [("no tests ran", "warn")]


def _result(last: GateFinished, before: GateFinished | None, width: int) -> list[Line]:
    glyph, style = _verdict(last)
    head: Line = [(f"{glyph[0]} ", f"{style} strong")]
    if last.passed is None:
        head.append((f"completion command {glyph[2:]}", f"{style} strong"))
    else:
        head += _counts(last)
    where = place(last.iteration) if last.iteration else "before iteration 1"
    when = f"  {last.ended} · {duration(last.duration_s)} · {where}, {clock(last.at)}"
    fits = cells(head) + cells([(when, "dim")]) <= width
    rows: list[Line] = [[*head, (when, "dim")]] if fits else [head, [(when, "dim")]]
    if wrong := last.error or (last.broken and f"build broken: {flat(last.broken, 1000)}"):
        rows += [
            [(f"{WARNING.glyph} ", "warn"), (piece, "warn")] for piece in wrap(wrong, width - 2, 4)
        ]
    rows += _changed(last, before, width)
    rows += [
        [(f"{FAILED.glyph} ", "warn"), (name_of_test(flat(name, 4000), width - 2), "text")]
        for name in last.failing[:NAMED]
    ]
    unnamed = last.unnamed + max(0, len(last.failing) - NAMED)
    if last.failing and unnamed:
        rows.append([(f"  and {unnamed} more, not listed", "dim")])
    if last.tail:
        rows.append([("─" * width, "faint")])
        rows += [
            [(clip(line.expandtabs(4), width), "dim")] for line in last.tail.rstrip().split("\n")
        ]
    return rows


def _changed(last: GateFinished, before: GateFinished | None, width: int) -> list[Line]:
    """Draw the tests that newly pass or fail, if all relevant names are known."""
    if before is None or before is last or before.passed is None or last.passed is None:
        return []
    if before.broken or last.broken:
        return []  # a broken build reports no test counts
    then, now = set(before.failing), set(last.failing)
    # Otherwise some tests may be gone.
    whole = not last.unnamed and (last.total or 0) >= (before.total or 0)
    passes = [name for name in before.failing if name not in now] if whole else []
    fails = [name for name in last.failing if name not in then] if not before.unnamed else []
    rows: list[Line] = []
    for words, names, style in (("passing", passes, "good"), ("failing", fails, "bad")):
        if names:
            row: Line = [(f"newly {words}: ", style)]
            room = max(8, width - cells(row))
            shown = [name_of_test(flat(name, 4000), 4000).partition(" (")[0] for name in names]
            more = f"and {len(names) - CHANGED} more" if len(names) > CHANGED else ""
            more = "and others" if words == "passing" and before.unnamed else more
            pieces = _packed(shown[:CHANGED], more, room)
            rows += [[*(row if not n else [("  ", "")]), (p, "text")] for n, p in enumerate(pieces)]
    return rows


def _packed(names: Sequence[str], more: str, width: int) -> list[str]:
    """Fit names into as few rows as possible; a name too long for a row is cut in the middle."""
    rows = [""]
    for last, name in zip([False] * (len(names) - 1) + [True], names, strict=True):
        part = middle(name, width - 1) + ("" if last else ",")
        if rows[-1] and len(rows[-1]) + 1 + cell_len(part) > width:
            rows.append("")
        rows[-1] += f" {part}" if rows[-1] else part
    if more and cell_len(rows[-1]) + 1 + len(more) <= width:
        rows[-1] += f" {more}"
    elif more:
        rows.append(more)
    return rows
