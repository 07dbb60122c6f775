"""The header's fields: progress, activity, time and cost. Pure.

Rule: the fields and their widths depend only on the screen's width and the digits of its totals, so
nothing moves. A field without content leaves its cells empty.
"""

from datetime import datetime
from typing import NamedTuple

from ralph_tui.analysis.context import level
from ralph_tui.events.run import UNRESTRICTED
from ralph_tui.state import RunState
from ralph_tui.text.format import count, duration, filled, percent
from ralph_tui.text.terms import BEST, CONTEXT_TONES, ROLLED_BACK
from ralph_tui.tui.draw.spans import Line, cells, clip, clip_line, flat
from ralph_tui.tui.draw.words import bar, cost, elapsed, short_duration, since, spark, tokens

SOURCES = {"tests": "tests", "plan": "items", "agent": "claimed", "estimate": "estimate"}
"""The unit or source shown for each source of completion."""
FREE_MODES = ("skip", "bypassPermissions", UNRESTRICTED)
"""Names of the modes that permit everything."""
RIGHTS = {"edits": "may edit files", "acceptEdits": "may edit files", "ask": "asks for more"}
"""Labels of other permission modes."""
BADGE = " unrestricted "
WHO = 22
"""Width in cells of agent and model on a wide screen."""
SHORTEST_ITEM = 16
"""Minimum number of free cells for showing the plan's item."""
GAUGE = 6
"""Width of the context bar in cells."""
CONTEXT = 13
"""Width in cells of ``context 100 %``."""
CONTEXT_FROM = 80
"""Minimum screen width that shows the context; narrower screens use its place for activity."""
GAP = 2


class Slot(NamedTuple):
    """A field with its width."""

    key: str
    size: int
    line: Line
    right: bool = False
    """True to align right."""

    @property
    def cells(self) -> Line:
        """The field in exactly `size` cells."""
        line = clip_line(self.line, self.size)
        pad = (" " * (self.size - cells(line)), "")
        return [pad, *line] if self.right else [*line, pad]


# the first row ------------------------------------------------------------------------------------


def place_size(state: RunState) -> int:
    """Return the width of the iteration field, with room for the last iteration."""
    digits = len(str(max(10, state.run.max_iterations)))
    return len("iteration ") + 2 * digits + 1


def place(state: RunState) -> Line:
    """Draw the iteration and the maximum or, after the end, the number of iterations."""
    run = state.run
    if run.finished is not None:
        number, _, word = count(run.iteration, "iteration").partition(" ")
        return [(number, "strong"), (f" {word}", "dim")]
    return [("iteration ", "dim"), (f"{run.iteration}/{run.max_iterations}", "strong")]


def rights(state: RunState, width: int) -> Line:
    """Draw the agent's permissions; unrestricted ones are always shown."""
    run = state.run
    asks = state.needs.mode == "ask"  # to the agent, this mode is the same as `edits`
    mode = "ask" if asks else flat(run.permission_mode or "", 40)
    if run.permission_mode in FREE_MODES or state.needs.mode in FREE_MODES:
        return [(BADGE, "bad badge")]
    return [(RIGHTS.get(mode, mode), "dim")] if width >= 140 else []


def who(state: RunState) -> Line:
    """Draw agent and model."""
    run = state.run
    agent = flat(state.roster.working, 40)
    return [(f"{agent} {flat(run.model or '', 40)}".strip(), "dim")]


def item(state: RunState, room: int) -> Line:
    """Draw the plan's current item if at least a few words fit into `room` cells."""
    said = flat(state.gate.readings[-1].next_item) if state.gate.readings else ""
    if not (said and state.run.live) or room < SHORTEST_ITEM:
        return []
    return [("  → ", "dim"), (clip(said, room - 4), "text")]


# the second row -----------------------------------------------------------------------------------

MEASURES = ("done", "counts", "spark", "best", "cost", "time", "context", "signs")
"""In display order; the first four are on the left, the others on the right."""
LEFT = 4

GROWTH: tuple[tuple[str, int, int], ...] = (
    ("context", CONTEXT, CONTEXT_FROM),
    ("best", 11, 0),
    ("spark", 5, 0),
    ("best", 15, 0),
    ("signs", 12, 0),
    ("signs", 19, 0),
    ("signs", 24, 100),
    ("signs", 33, 100),
    ("counts", 15, 100),
    ("best", 19, 100),
    ("time", 7, 140),
    ("cost", 8, 100),
    ("spark", 16, 140),
    ("context", CONTEXT + 1 + GAUGE, 140),
    ("tokens", 12, 160),
)
"""Field, its width, and the minimum screen width; the most important first."""
SMALLER = (("signs", 12, 0), ("signs", 19, 0))
"""Precedes `GROWTH` on screens too narrow for the context."""


def sizes(width: int, inner: int, digits: int) -> dict[str, int]:
    """Return the cells of each field in the second row; hidden fields are missing."""
    got = {"done": 7, "counts": max(11, 2 * digits + 7), "cost": 6, "time": 3}
    for name, size, least in GROWTH if width >= CONTEXT_FROM else (*SMALLER, *GROWTH):
        wider = {**got, name: max(size, got.get(name, 0))}
        if width >= least and sum(wider.values()) + GAP * (len(wider) - 1) <= inner:
            got = wider
    return got


def measures(
    state: RunState, now: datetime, width: int, inner: int, *, lost: bool | str = False
) -> tuple[Line, Line]:
    """Draw progress on the left, and cost, time and activity on the right.

    `lost` if the run's process is gone, so that the time since its last output is unknown.
    """
    digits = len(str(state.run.total or 0))
    cut = sizes(width, inner, digits)
    if state.run.finished is not None:
        _widen_time(cut, len(duration(elapsed(state, now))))
    signs = [] if lost else _activity_age(state, now, cut.get("signs", CONTEXT - 1))
    window = context(state, cut.get("context", 0)) if state.run.finished is None else []
    if "signs" not in cut and not state.context.reports_tokens:
        window = signs  # the agent reports no context, so its place is free
    made = {
        "done": Slot("done", 0, _done(state)),
        "counts": Slot("counts", 0, _counts(state, cut["counts"])),
        "spark": Slot("spark", 0, _spark(state, cut.get("spark", 0))),
        "best": Slot("best", 0, _best(state, cut.get("best", 0))),
        "cost": Slot("cost", 0, _cost(state, cut["cost"]), right=True),
        "time": Slot("time", 0, _time(state, now, cut["time"]), right=True),
        "tokens": Slot("tokens", 0, _tokens(state), right=True),
        "context": Slot("context", 0, window),
        "signs": Slot("signs", 0, signs),
    }
    slots = [slot._replace(size=cut[name]) for name, slot in made.items() if name in cut]
    left = [slot for slot in slots if slot.key in MEASURES[:LEFT]]
    return row_of(left), row_of([slot for slot in slots if slot not in left])


def _widen_time(cut: dict[str, int], size: int) -> None:
    """Widen the time, using cells that an ended run no longer needs."""
    for name in ("context", "signs"):
        more = size - cut["time"]
        if 0 < more < cut.get(name, 0):
            cut["time"] += more
            cut[name] -= more


def row_of(slots: list[Slot]) -> Line:
    """Join the fields, each padded to its width."""
    row: Line = []
    for slot in slots:
        row += [(" " * GAP, "")] if row else []
        row += slot.cells
    return row


def _done(state: RunState) -> Line:
    run = state.run
    if run.completion is None:
        return [("— %", "dim")]
    text = percent(run.completion, run.best)
    mark = f" {ROLLED_BACK.glyph}" if state.oversight.stale and len(text) <= 5 else ""
    return [(text, "strong"), (mark, "warn")]


def _counts(state: RunState, size: int) -> Line:
    """Draw the unit of completion, or its source if nothing is counted."""
    run = state.run
    if run.completion is None:
        return [("unmeasured", "dim")]
    if accepted := flat(state.gate.accepted):
        return [(accepted if len(accepted) <= size else "accepted", "dim")]
    if state.gate.unmeasured:
        return [("unmeasured", "warn")]
    last = state.gate.readings[-1] if state.gate.readings else None
    if last is not None and last.uncounted and run.completion < 100:
        gate = state.gate.last
        return [("uncounted" if gate is None else "passes" if gate.ok else "fails", "dim")]
    if run.held:
        return [("unchanged", "warn")]
    source = SOURCES.get(run.source or "", "estimate")
    if run.passed is not None and run.total is not None:
        return [(f"{run.passed}/{run.total}", "text"), (f" {source}", "dim")]
    if run.source == "tests" and run.completion >= 100:
        source = "passed"  # the completion command counts nothing
    if last is not None and last.promised:
        source = "promised"
    return [(source, "dim")]


def _spark(state: RunState, size: int) -> Line:
    run = state.run
    history = ([run.baseline] if run.baseline is not None else []) + run.completions
    return [(spark(history, size), "output")] if len(history) > 1 else []


def _best(state: RunState, size: int) -> Line:
    run = state.run
    if not run.completions:
        return []
    at = f" ({run.best_iteration or 'start'})"
    text = f"{BEST.word} {percent(run.best, run.completion or 0.0)}"
    return [(text, "dim"), (at if cells([(text + at, "")]) <= size else "", "dim")]


def _cost(state: RunState, size: int) -> Line:
    """Draw the cost, without cents if space is short; a dash if it is not reported."""
    if not state.run.cost_known:
        return [("cost —" if state.roster.worked else "", "dim")]
    text = cost(state)
    return [(text if len(text) <= size else clip(text.partition(".")[0], size), "text")]


def _time(state: RunState, now: datetime, size: int) -> Line:
    if state.run.started_at is None:
        return []
    whole = elapsed(state, now)
    text = duration(whole)  # same format as the end panel, if it fits
    return [(text if len(text) <= size else short_duration(whole), "text")]


def _tokens(state: RunState) -> Line:
    run = state.run
    used = tokens(run.tokens, partial=run.tokens_partial)
    return [(f"{used} tokens", "dim")] if run.tokens else []


def context(state: RunState, size: int) -> Line:
    """Draw the session's context use: a dash until known, empty if the agent cannot report it."""
    share, reached = state.context.percent, level(state)
    if (
        state.context.window is not None
        and state.context.tokens is None
        and state.context.reports_tokens
    ):
        return [("context ", "dim"), (f"{'—':>5}", "dim")]
    if share is None or reached is None:
        return []
    style = CONTEXT_TONES[reached]
    line: Line = [("context ", "dim"), (f"{filled(share):>5}", "text" if style == "dim" else style)]
    return [*line, (f" {bar(share / 100, GAUGE)}", style)] if size > CONTEXT else line


def _activity_age(state: RunState, now: datetime, size: int) -> Line:
    """Draw the time since the last output and file change; empty while no agent works."""
    run = state.run
    waits = run.paused or run.phase == "verifying" or state.needs.wait is not None
    if not run.live or waits:
        return []
    output_at, changed = run.last_output_at, run.last_change_at
    if size >= 24:
        full = size >= 33
        age = _age("last output " if full else "output ", output_at, now, end=full)
        comma: Line = [(", " if output_at and changed else "  ", "dim")]
        return [*age, *comma, *_age("file ", changed, now, end=True)]
    return _age("last output " if size >= 19 else "last ", output_at, now, end=True)


def _age(name: str, then: datetime | None, now: datetime, *, end: bool) -> Line:
    """Draw ``file 9s ago``, or the same number of blanks if it never happened."""
    ago = " ago" if end else ""
    if then is None:
        return [(" " * (len(name) + 3 + len(ago)), "")]
    return [(name, "dim"), (f"{since(then, now):>3}", "text"), (ago, "dim")]
