"""What the header says: where the run is, how far, at what cost, and whether it is alive. Pure.

Rule: what needs the owner is shortened last, and never left out.
"""

from collections.abc import Sequence
from datetime import datetime

from ralph_tui.analysis.context import level
from ralph_tui.analysis.verdict import Verdict
from ralph_tui.state import RunState
from ralph_tui.text.format import duration, filled, money, percent
from ralph_tui.text.terms import (
    ASKED,
    BEST,
    CONTEXT_TONES,
    DISCONNECTED,
    HEALTH,
    NEEDS_YOU,
    PHASES,
    ROLLED_BACK,
    WAITS,
)
from ralph_tui.tui.draw.fitting import Field
from ralph_tui.tui.draw.spans import Line, clip, flat
from ralph_tui.tui.draw.words import (
    bar,
    cost,
    countdown,
    elapsed,
    short_duration,
    since,
    spark,
    tokens,
)

HEALTH_STYLES = {
    "healthy": "good",
    "warning": "warn",
    "critical": "bad",
    "paused": "owner",
    "aborted": "bad",
}
SOURCES = {"tests": "tests", "plan": "plan items", "agent": "agent's claim"}
SHORTEST_ITEM = 16
"""Cells below which a plan's item is not named."""
GAUGE = 6
"""Cells of the bar that shows how full the window is."""
FREE_MODES = ("skip", "bypassPermissions")
"""Names of the permission to do everything."""


def where(
    state: RunState, now: datetime, *, lost: bool = False, recorded: bool = False
) -> list[Field]:
    """Iteration, what the loop is doing, who works with which rights."""
    run = state.run
    place = f"{run.iteration}/{run.max_iterations}"
    fields = [
        Field([[("iteration ", "dim"), (place, "strong")], [("it ", "dim"), (place, "strong")]], 3),
        Field([[(DISCONNECTED.label, "bad strong")]], 9)
        if lost
        else _limit(state, now) or _phase(state),
    ]
    if state.needs.question is not None and not lost:
        word = ASKED.word if recorded else NEEDS_YOU.word
        fields.insert(0, Field([[(f" {word} ", "warn badge")]], 9))
    if run.started is not None:
        fields += [Field([*_who(state), []], 1), *_rights(state)]
    return fields


def _phase(state: RunState) -> Field:
    run = state.run
    term = PHASES[run.phase]
    glyph, words = term.glyph, term.word
    style = {"agent": "good", "paused": "owner", "crashed": "bad"}.get(run.phase, "accent")
    style = "dim" if run.phase in ("finished", "starting") else style
    step: Line = []
    asked = state.intelligence.asked
    if run.step and run.live:
        doing = f"a model is asked: {asked.purpose}" if asked is not None else flat(run.step_name)
        step = [(f" · step {run.step} {clip(doing, 28)}", "dim")]
    phase: Line = [(f"{glyph} ", style), (words, style)]
    brief: Line = [(f"{glyph} ", style), (term.brief, style)]
    brief_step: Line = [(f" · {run.step}/17", "dim")] if step else []
    return Field([[*phase, *step], [*phase, *brief_step], [*brief, *brief_step], brief], 2, whole=3)


def _limit(state: RunState, now: datetime) -> Field | None:
    """What is waited for, and how long still."""
    wait = state.needs.wait
    if wait is None:
        return None
    term = WAITS[wait.cause]
    glyph, cause = term.glyph, term.word
    left = countdown(wait.until, now)
    full: Line = [(f"{glyph} waiting: {cause}", "warn"), (f" · {left or 'for room'}", "strong")]
    lean: Line = [(f"{glyph} {cause} ", "warn"), (left, "strong")]
    return Field([full, lean, [(f"{glyph} {term.brief} ", "warn"), (left, "strong")]], 8)


def _who(state: RunState) -> list[Line]:
    """Agent, model, and where the bill goes."""
    run = state.run
    agent = clip(flat(run.started.agent if run.started else ""), 20)
    model = clip(flat(run.model or ""), 24)
    name: Line = [(f"{agent} {model}".strip(), "text")]
    bill: Line = [(f" · {clip(flat(run.billing), 30)}", "dim")] if run.billing else []
    return [[*name, *bill], name, [(agent, "text")] if agent else []]


def _rights(state: RunState) -> list[Field]:
    """What the agent may do; that it may do everything is never hidden."""
    run = state.run
    mode = clip(flat(run.permission_mode or ""), 12)
    if mode in FREE_MODES or state.needs.mode in FREE_MODES:
        badge = "bad badge"
        fields = [Field([[(" skip permissions ", badge)], [(" skip ", badge)]], 7, whole=1)]
    else:
        fields = [Field([[(mode, "dim")], []], 1)] if mode else []
    if run.denied:
        fields.append(Field([[(f"{run.denied} denied", "warn")]], 5))
    return fields


def how_far(state: RunState) -> list[Field]:
    """The measured completion, its course, and where it comes from."""
    run = state.run
    if run.completion is None:
        return [Field([[("— %", "dim"), (" not measured yet", "dim")], [("— %", "dim")]], 9)]
    history = ([run.baseline] if run.baseline is not None else []) + run.completions
    mark = f" before {ROLLED_BACK.glyph}" if state.oversight.stale else " held" if run.held else ""
    done: Line = [
        (percent(run.completion, run.best), "strong"),
        *([(mark, "warn")] if mark else []),
    ]
    fields = [Field([done], 9)]
    if len(history) > 1:
        fields.append(Field([*([(spark(history, size), "output")] for size in (16, 8, 5)), []], 3))
    source = flat(state.gate.accepted) or SOURCES.get(run.source or "", "estimate")
    if run.passed is not None and run.total is not None:
        counts: Line = [(f"{run.passed}/{run.total}", "text")]
        fields.append(Field([[*counts, (f" {source}", "dim")], counts], 6, whole=1))
    else:
        fields.append(Field([[(source, "dim")]], 6))
    if run.best_iteration == run.iteration and run.completions:
        fields.append(Field([[(f"{BEST.label} now", "good")], [(BEST.glyph, "good")], []], 2))
    elif run.completions:
        best = percent(run.best, run.completion)
        where = f"iteration {run.best_iteration}" if run.best_iteration else "at the start"
        fields.append(
            Field(
                [
                    [(f"best {best} ", "dim"), (where, "dim")],
                    [(f"{BEST.glyph}{best}", "dim")],
                    [],
                ],
                2,
            )
        )
    return fields


def item(state: RunState, room: int) -> Line:
    """The plan's current item, where at least a few words of it fit into `room` cells."""
    said = flat(state.gate.readings[-1].next_item) if state.gate.readings else ""
    if not (said and state.run.live) or room < SHORTEST_ITEM:
        return []
    return [("  → ", "dim"), (clip(said, room - 4), "text")]


def alive(state: RunState, now: datetime, says: Verdict, width: int) -> list[Field]:
    """Context, cost, time, and the signs of life: of fixed sizes, so that none moves another."""
    run = state.run
    fields = [gauge(state, width), *_cost(state, width)]
    if run.started_at is not None:
        whole = elapsed(state, now)
        told = f"{duration(whole):>7}" if width >= 160 else f"{short_duration(whole):>3}"
        fields.append(Field([[(told, "text")], []], 4))
    if run.live:
        out, change, gate = (
            f"{since(then, now):>3}"
            for then in (run.last_output_at, run.last_change_at, run.last_gate_at)
        )
        signs = (
            (("output ", "out ", "o "), out),
            (("file ", "file ", "f "), change),
            (("gate ", "gate ", "g "), gate),
        )[: 3 if width >= 160 else 2]
        ages = [_signs(signs, form, joint) for form, joint in enumerate((" · ", " ", " "))]
        ages.append([("out ", "dim"), (out, "text")])
        fields.append(Field(ages, 5, whole=2))
    return [*fields, _headline(says), *health(state, says)] if width >= 100 else fields


def health(state: RunState, says: Verdict) -> list[Field]:
    """The overseer's word, when nothing more urgent is said and it has looked."""
    if not says.calm or not state.oversight.checks:
        return []
    status = state.oversight.status
    style = HEALTH_STYLES[status]
    return [Field([[(HEALTH[status].label, f"{style} strong")], []], 2)]


def _signs(signs: Sequence[tuple[tuple[str, ...], str]], form: int, joint: str) -> Line:
    """Ages of the signs of life, each under its name."""
    spans: Line = []
    for names, age in signs:
        spans += [((joint if spans else "") + names[form], "dim"), (age, "text")]
    return spans


def _headline(says: Verdict) -> Field:
    """The sentence where there is room; what is wrong keeps at least its word."""
    sentence: Line = [(f"{says.glyph} {clip(says.text, 60)}", says.tone)]
    word: Line = [(f"{says.glyph} {says.word}", f"{says.tone} strong")]
    wrong = says.tone in ("warn", "bad", "owner")
    return Field([sentence, word] if wrong else [sentence, word, []], 1)


def gauge(state: RunState, width: int) -> Field:
    """How full the window of the session is: of one size and form, whatever it says.

    What it holds depends on the screen's width alone, so that no number jumps while one looks.
    """
    share, reached = state.context.percent, level(state)
    name, size = ("context ", 26) if width >= 140 else ("ctx ", 19 if width >= 100 else 8)
    if share is None or reached is None:
        fresh = state.context.window is not None and state.context.tokens is None
        return Field([[(name, "dim"), (f"{'empty' if fresh else 'unknown':<{size}}", "dim")]], 4)
    style = CONTEXT_TONES[reached]
    spans: Line = [(name, "dim"), (f"{filled(share):>5}", "text"), (f" {reached}", style)]
    if width >= 140:
        spans.append((f" {bar(share / 100, GAUGE)}", style))
    if width >= 100:
        spans.append((f" {tokens(state.context.tokens_left or 0):>5} left", "dim"))
    return Field([spans], 4)


def _extra(line: Line, rank: int = 0) -> Field:
    """What is said where there is room: to leave it out is no more than to shorten it."""
    return Field([line, []], rank, whole=2)


def _cost(state: RunState, width: int) -> list[Field]:
    run = state.run
    used = f"{tokens(run.tokens) if run.tokens else '—':>5}"
    fields = [Field([[(f"{cost(state):>6}", "text")]], 6)]
    if run.live and width >= 140:
        known = run.cost_known and run.iteration_cost_usd > 0
        here = money(run.iteration_cost_usd, known=known, estimated=run.cost_estimated)
        fields.append(_extra([(f"iteration {here:>6}", "dim")], 2))
    if width < 160:  # beside what is left of the window it would read like that
        return fields
    return [*fields, Field([[(f"{used} tok", "dim")], [(used, "dim")], []], 3)]
