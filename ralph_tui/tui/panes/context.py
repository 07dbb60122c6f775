"""The context window's use, now and in each iteration, and handoffs. Pure.

Rule: thresholds, level and forecast come from `analysis.context`; an unknown context window is
reported as unknown.
"""

from ralph_tui.analysis import context as known
from ralph_tui.events import HandoffWritten
from ralph_tui.layers.context.levels import Thresholds, level_of
from ralph_tui.state import ContextUse, IterationSpan, RunState
from ralph_tui.text.format import clock, count, filled
from ralph_tui.text.terms import (
    COMPACTED,
    CONTEXT_LEVELS,
    CONTEXT_TONES,
    NOT_RECORDED,
    ROLLOVER,
    Tone,
)
from ralph_tui.tui.draw.spans import Line, flat, flat_name, wrap
from ralph_tui.tui.draw.words import tokens
from ralph_tui.tui.panes.recorded_text import text_rows

WIDEST = 50
"""Maximum width of a bar in cells."""
LABEL = 9
"""Width in cells of a statement's label."""
ROWS = 4
"""Maximum number of rows for one statement."""


def context_rows(
    state: RunState, width: int, *, scarce: bool, most: int | None = None
) -> list[Line]:
    """Draw the running session and the peaks of the last `most` iterations.

    If rows are `scarce`, explanations available elsewhere are omitted.
    """
    return [*_present(state, width, scarce=scarce), *_peaks(state, width, most, scarce=scarce)]


def past_context_rows(state: RunState, span: IterationSpan | None, width: int) -> list[Line]:
    """Draw the context use of an earlier iteration."""
    use = known.use_of(state, span) if span is not None else None
    if use is None:
        return [[("no session ran in this iteration", "dim")]]
    rows = [_bar_row(use, known.thresholds(state), 3, width), _sessions(use)]
    if not known.handoffs_of(state, span):
        rows.append([("no handoff in this iteration", "dim")])
    return rows


def _peaks(state: RunState, width: int, most: int | None, *, scarce: bool) -> list[Line]:
    history = state.context.history
    if not history:
        return []
    shown, digits = history[-most:] if most else history, len(str(history[-1].iteration))
    head: Line = [("peak use per iteration", "dim")]
    if len(shown) < len(history):
        head.append((f", the last {len(shown)} of {len(history)}", "dim"))
    limits = known.thresholds(state)
    gap: list[Line] = [] if scarce else [[]]
    return [*gap, head, *(_bar_row(use, limits, digits, width) for use in shown)]


def handoff_rows(
    state: RunState, handoff: HandoffWritten, read: tuple[str, str], width: int
) -> list[Line]:
    """Draw a handoff's facts and its full text, or its recorded fields if the text is missing.

    `read` holds the text, and the reason if the text is missing.
    """
    full = "" if handoff.percent is None else f" at {filled(handoff.percent)}"
    head = f"{ROLLOVER.glyph} handoff {handoff.number} of iteration {handoff.iteration}"
    waits = handoff is state.context.handoff
    rows: list[Line] = [
        [(head, "accent strong"), (f"  {clock(handoff.at)}{full}", "dim")],
        *_wrapped(_origin(handoff), width, "dim"),
        *_wrapped(flat_name(handoff.path, 120), width, "dim"),
        *([[("not yet passed to a session", "warn")]] if waits else []),
    ]
    text, problem = read
    if text:
        return [*rows, *text_rows(text.rstrip(), width)]
    return [*rows, *_recorded(handoff, width), *_wrapped(problem, width, "dim")]


def context_totals(state: RunState) -> Line:
    """Draw the handoffs and compactions of the whole run."""
    history = state.context.history
    handoffs, compacted = (
        sum(use.rollovers for use in history),
        sum(use.compactions for use in history),
    )
    parts = [f"{ROLLOVER.glyph} {count(handoffs, 'handoff')}"] if handoffs else []
    parts += [f"{COMPACTED.label} {count(compacted, 'time')}"] if compacted else []
    return [(" · ".join(parts), "dim")] if parts else []


# the running session ------------------------------------------------------------------------------


def _present(state: RunState, width: int, *, scarce: bool) -> list[Line]:
    share, level = state.context.percent, known.level(state)
    use = state.context.use
    if share is None or level is None:
        rows = _unknown(state, width)
    else:
        term, tone = CONTEXT_LEVELS[level], CONTEXT_TONES[level]
        window = tokens(state.context.window or 0)
        left = tokens(state.context.tokens_left or 0)
        rows = [
            [
                (filled(share), "strong"),
                (f" of {window} · {left} left · ", "text"),
                (term.label, f"{tone} strong"),
            ],
            _bar(share, known.thresholds(state), min(width, WIDEST), tone),
            *([] if scarce else _wrapped(_limits(state), width, "dim")),
            *_wrapped(known.forecast(state), width, "text"),
        ]  # fmt: skip
    if words := known.handing_off_words(state):
        rows += _wrapped(f"handing off: {words}", width, "warn")
    for compacted in state.context.compactions:
        rows += _wrapped(f"{COMPACTED.label}{compacted.shrunk}", width, "warn")
    rows += _item(state, width)
    return rows + ([_sessions(use)] if use is not None and use.sessions > 1 else [])


def _unknown(state: RunState, width: int) -> list[Line]:
    if state.foreign.tool:
        return _wrapped(NOT_RECORDED, width, "dim")
    if not state.context.reports_tokens:
        words = "unknown: this agent does not report its context usage"
        return _wrapped(f"{words}; automatic handoff is off", width, "text")
    lacks = "its context usage"
    if state.context.tokens is not None:
        lacks = "the size of its context window"
    if state.context.window and state.context.tokens is None:
        return _wrapped("the session has just started; its window is empty", width, "text")
    words = f"unknown so far: the agent has not reported {lacks}"
    return _wrapped(f"{words}; until it does, there is no automatic handoff", width, "text")


def _limits(state: RunState) -> str:
    """Return ``70 warns · 85 hands off · 95 stops``."""
    warn, checkpoint, stop = known.thresholds(state)
    if not known.hands_off(state.run.started):
        return f"{warn:g} warns; no automatic handoff: context.rollover is off"
    return f"{warn:g} warns · {checkpoint:g} hands off · {stop:g} stops"


def _item(state: RunState, width: int) -> list[Line]:
    """Draw the plan's current item and its estimated context use."""
    item = state.context.item
    if item is None or not item.item:
        return []
    done = f" · {item.done} of {item.total} done" if item.total else ""
    return _labelled("item", f"{item.words}{done}", width)


def _sessions(use: ContextUse) -> Line:
    """Draw ``2 sessions in iteration 3 · 1 handoff``."""
    parts = [f"{count(max(1, use.sessions), 'session')} in iteration {use.iteration}"]
    parts += [count(use.rollovers, "handoff")] if use.rollovers else []
    parts += [f"{COMPACTED.word} {count(use.compactions, 'time')}"] if use.compactions else []
    return [(" · ".join(parts), "dim")]


# bars ---------------------------------------------------------------------------------------------


def _bar(share: float, limits: Thresholds, width: int, tone: Tone) -> Line:
    """Draw a bar with a mark at each threshold that has not been reached."""
    full = int(min(100.0, max(0.0, share)) / 100 * width)
    marks = {min(width - 1, int(limit / 100 * width)) for limit in limits}
    rest = "".join("┊" if i in marks else "▱" for i in range(full, width))
    return [("▰" * full, "output" if tone == "dim" else tone), (rest, "faint")]


def _bar_row(use: ContextUse, limits: Thresholds, digits: int, width: int) -> Line:
    """Draw ``3 ▰▰▰▰▰▰▰▱▱▱┊▱▱┊▱┊▱ 62 % ⟳``."""
    number: Line = [(f"{use.iteration:>{digits}} ", "dim")]
    marks: Line = []
    if use.rollovers:
        marks.append((f" {ROLLOVER.glyph * min(3, use.rollovers)}", "accent"))
    if use.compactions:
        marks.append((f" {COMPACTED.label}", "warn"))
    if use.peak_percent is None:
        return [*number, ("unknown", "dim"), *marks]
    tone = CONTEXT_TONES[level_of(use.peak_percent, limits)]
    room = max(1, min(WIDEST, width - digits - 20))
    bar = _bar(use.peak_percent, limits, room, tone)
    style = "text" if tone == "dim" else f"{tone} strong"
    return [*number, *bar, (f" {filled(use.peak_percent):>5}", style), *marks]


# handoffs -----------------------------------------------------------------------------------------


def _origin(handoff: HandoffWritten) -> str:
    """Return the handoff's cause, and how it was written."""
    how = flat(handoff.written, 80)
    return f"{known.CAUSES[handoff.cause]}{f' · {how}' if how else ''}"


def _recorded(handoff: HandoffWritten, width: int) -> list[Line]:
    """Draw the handoff's fields from the journal."""
    progress = f" ({handoff.progress})" if handoff.item and handoff.progress else ""
    rows = _labelled("doing", handoff.summary, width)
    rows += _labelled("item", f"{handoff.item}{progress}", width)
    for done in dict.fromkeys([*handoff.done, *handoff.parts_done]):
        rows += _labelled("done", done, width)
    for file in handoff.files:
        lines = f", lines {file.lines}" if file.lines else ""
        last = f", last edited at line {file.last_line}" if file.last_line else ""
        status = f" ({file.status})" if file.status else ""
        about = f": {file.description}" if file.description else ""
        rows += _labelled("file", f"{file.path}{lines}{last}{about}{status}", width)
    rows += _labelled("next", handoff.next_step or handoff.focus, width)
    for said in handoff.guidance:
        rows += _labelled("you said", said, width)
    return rows


def _labelled(label: str, text: str, width: int) -> list[Line]:
    if not text:
        return []
    label = f"{label:<{LABEL}}"
    pieces = wrap(flat(text, 1000), max(1, width - len(label)), ROWS)
    first: Line = [(label, "dim"), (pieces[0], "text")]
    return [first, *([(" " * len(label), ""), (piece, "text")] for piece in pieces[1:])]


def _wrapped(text: str, width: int, style: str) -> list[Line]:
    return [[(piece, style)] for piece in wrap(text, width, ROWS)] if text else []
