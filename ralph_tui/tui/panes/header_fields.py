"""What the header says: where the run is, what it does, how far, at what cost. Pure.

Rule: which fields there are and how many cells each has depends on the screen's width and on the
digits of its totals alone, so that nothing moves while one looks; a field that has nothing to say
leaves its cells empty.
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
"""What completion is counted in, or where it comes from."""
FREE_MODES = ("skip", "bypassPermissions", UNRESTRICTED)
"""Names of the permission to do everything."""
RIGHTS = {"edits": "may edit files", "acceptEdits": "may edit files", "ask": "asks for more"}
"""The others that have a word of their own."""
BADGE = " unrestricted "
WHO = 22
"""Cells of agent and model, on a wide screen."""
SHORTEST_ITEM = 16
"""Cells below which a plan's item is not named."""
GAUGE = 6
"""Cells of the bar that shows how full the window is."""
CONTEXT = 13
"""Cells of ``context 100 %``."""
CONTEXT_FROM = 80
"""Columns from which the context has a place; below, the signs of life have it."""
GAP = 2


class Slot(NamedTuple):
    """A field in its place."""

    key: str
    size: int
    line: Line
    right: bool = False
    """It stands at the right end of its cells."""

    @property
    def cells(self) -> Line:
        """Exactly `size` cells."""
        line = clip_line(self.line, self.size)
        pad = (" " * (self.size - cells(line)), "")
        return [pad, *line] if self.right else [*line, pad]


# the first row ------------------------------------------------------------------------------------


def place_size(state: RunState) -> int:
    """Cells of the iteration: room for the last one."""
    digits = len(str(max(10, state.run.max_iterations)))
    return len("iteration ") + 2 * digits + 1


def place(state: RunState) -> Line:
    """Which iteration of how many; of a run that is over, how many it took."""
    run = state.run
    if run.finished is not None:
        number, _, word = count(run.iteration, "iteration").partition(" ")
        return [(number, "strong"), (f" {word}", "dim")]
    return [("iteration ", "dim"), (f"{run.iteration}/{run.max_iterations}", "strong")]


def rights(state: RunState, width: int) -> Line:
    """What the agent may do; that it may do everything is never hidden."""
    run = state.run
    asks = state.needs.mode == "ask"  # its own name for that is the one of `edits`
    mode = "ask" if asks else flat(run.permission_mode or "", 40)
    if run.permission_mode in FREE_MODES or state.needs.mode in FREE_MODES:
        return [(BADGE, "bad badge")]
    return [(RIGHTS.get(mode, mode), "dim")] if width >= 140 else []


def who(state: RunState) -> Line:
    """Agent and model."""
    run = state.run
    agent = flat(state.roster.working, 40)
    return [(f"{agent} {flat(run.model or '', 40)}".strip(), "dim")]


def item(state: RunState, room: int) -> Line:
    """The plan's current item, where at least a few words of it fit into `room` cells."""
    said = flat(state.gate.readings[-1].next_item) if state.gate.readings else ""
    if not (said and state.run.live) or room < SHORTEST_ITEM:
        return []
    return [("  → ", "dim"), (clip(said, room - 4), "text")]


# the second row -----------------------------------------------------------------------------------

MEASURES = ("done", "counts", "spark", "best", "cost", "time", "context", "signs")
"""In their order; the first four stand at the left, the others at the right."""
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
"""What a field gets as soon as there is room, and from which width on, the most wanted first."""
SMALLER = (("signs", 12, 0), ("signs", 19, 0))
"""What comes before that where the context has no place."""


def sizes(width: int, inner: int, digits: int) -> dict[str, int]:
    """Cells of every field of the second row; fields that are not in it have none."""
    got = {"done": 7, "counts": max(11, 2 * digits + 7), "cost": 6, "time": 3}
    for name, size, least in GROWTH if width >= CONTEXT_FROM else (*SMALLER, *GROWTH):
        wider = {**got, name: max(size, got.get(name, 0))}
        if width >= least and sum(wider.values()) + GAP * (len(wider) - 1) <= inner:
            got = wider
    return got


def measures(
    state: RunState, now: datetime, width: int, inner: int, *, lost: bool | str = False
) -> tuple[Line, Line]:
    """How far, and at what cost: what stands at the left, and what at the right.

    `lost`: the run's process is gone, and nobody knows for how long.
    """
    digits = len(str(state.run.total or 0))
    cut = sizes(width, inner, digits)
    if state.run.finished is not None:
        _widen_time(cut, len(duration(elapsed(state, now))))
    signs = [] if lost else _signs(state, now, cut.get("signs", CONTEXT - 1))
    window = context(state, cut.get("context", 0)) if state.run.finished is None else []
    if "signs" not in cut and not state.context.tells:
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
    """Give the whole time the cells of what a run that is over does not tell any more."""
    for name in ("context", "signs"):
        more = size - cut["time"]
        if 0 < more < cut.get(name, 0):
            cut["time"] += more
            cut[name] -= more


def row_of(slots: list[Slot]) -> Line:
    """The fields side by side, each in all of its cells."""
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
    """What it is counted in; where nothing is counted, where it comes from."""
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
        source = "passed"  # the completion command, which counts nothing
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
    """Without its cents where those have no room; a dash where who worked does not tell it."""
    if not state.run.cost_known:
        return [("cost —" if state.roster.worked else "", "dim")]
    text = cost(state)
    return [(text if len(text) <= size else clip(text.partition(".")[0], size), "text")]


def _time(state: RunState, now: datetime, size: int) -> Line:
    if state.run.started_at is None:
        return []
    whole = elapsed(state, now)
    text = duration(whole)  # as the end panel has it, wherever that fits
    return [(text if len(text) <= size else short_duration(whole), "text")]


def _tokens(state: RunState) -> Line:
    run = state.run
    used = tokens(run.tokens, partial=run.tokens_partial)
    return [(f"{used} tokens", "dim")] if run.tokens else []


def context(state: RunState, size: int) -> Line:
    """How full the window of the session is; a dash until it is told, empty where nobody can."""
    share, reached = state.context.percent, level(state)
    if state.context.window is not None and state.context.tokens is None and state.context.tells:
        return [("context ", "dim"), (f"{'—':>5}", "dim")]
    if share is None or reached is None:
        return []
    style = CONTEXT_TONES[reached]
    told: Line = [("context ", "dim"), (f"{filled(share):>5}", "text" if style == "dim" else style)]
    return [*told, (f" {bar(share / 100, GAUGE)}", style)] if size > CONTEXT else told


def _signs(state: RunState, now: datetime, size: int) -> Line:
    """How long ago the agent was heard, and a file changed; while none works that is no sign."""
    run = state.run
    waits = run.paused or run.phase == "verifying" or state.needs.wait is not None
    if not run.live or waits:
        return []
    heard, changed = run.last_output_at, run.last_change_at
    if size >= 24:
        full = size >= 33
        told = _age("last output " if full else "output ", heard, now, end=full)
        comma: Line = [(", " if heard and changed else "  ", "dim")]
        return [*told, *comma, *_age("file ", changed, now, end=True)]
    return _age("last output " if size >= 19 else "last ", heard, now, end=True)


def _age(name: str, then: datetime | None, now: datetime, *, end: bool) -> Line:
    """``file  9s ago``; as many blanks where it never was."""
    ago = " ago" if end else ""
    if then is None:
        return [(" " * (len(name) + 3 + len(ago)), "")]
    return [(name, "dim"), (f"{since(then, now):>3}", "text"), (ago, "dim")]
