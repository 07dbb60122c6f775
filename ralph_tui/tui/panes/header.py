"""Two rows that always answer: alive, where, how far, at what cost, and does it need me.

Rule: they never wrap. Every field knows shorter ways to say itself; the least important gives way
first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from ralph_tui.events.base import EPOCH
from ralph_tui.state import RunState
from ralph_tui.tui.ink import Ink
from ralph_tui.tui.spans import Line, cells, clip, clip_line, flat, spread
from ralph_tui.tui.verdict import Verdict, verdict
from ralph_tui.tui.words import (
    PHASES,
    SHORT_PHASES,
    bar,
    context_level,
    cost,
    duration,
    elapsed,
    percent,
    short_duration,
    since,
    spark,
    tokens,
)

GAP: Line = [("  ", "")]


@dataclass
class Field:
    """Something the header says, from its longest form to its shortest; the last may be empty."""

    forms: list[Line]
    rank: int
    """Higher ranks are shortened later."""
    whole: int = 0
    """How many forms say all of it; 0: every form that is not empty."""


def fit(fields: list[Field], width: int) -> list[Line]:
    """One form per field, together at most `width` cells where their shortest forms allow it.

    Everything is shortened before anything is left out; low ranks first.
    """
    chosen = [0] * len(fields)
    while True:
        forms = [field.forms[choice] for field, choice in zip(fields, chosen, strict=True)]
        if cells(join(forms)) <= width:
            return forms
        able = [i for i, field in enumerate(fields) if chosen[i] + 1 < len(field.forms)]
        if not able:
            return forms
        chosen[min(able, key=lambda i: _loss(fields[i], chosen[i]))] += 1


def _loss(field: Field, choice: int) -> tuple[bool, int, int]:
    """How much it would hurt to take the next shorter form."""
    whole = field.whole or sum(1 for form in field.forms if form)
    return (choice + 1 >= whole, field.rank, choice)


def join(forms: list[Line]) -> Line:
    """The fields on one row, two blanks between them."""
    row: Line = []
    for form in forms:
        if form:
            row += (GAP if row else []) + form
    return row


def header_lines(state: RunState, now: datetime, width: int) -> tuple[Line, Line]:
    """Both rows, each of exactly `width` cells."""
    inner = max(1, width - 2)
    says = verdict(state, now)
    name: Line = [("ralph-tui  ", "accent strong")] if width >= 100 else []
    title: Line = [*name, (clip(_objective(state), inner), "strong")]
    right = join(fit(_where(state), max(1, inner - min(cells(title), inner // 2) - 2)))
    first = spread(title, right, inner)
    left_fields = _how_far(state)
    forms = fit([*left_fields, *_alive(state, now, says, width)], inner)
    split = len(left_fields)
    second = spread(join(forms[:split]), join(forms[split:]), inner)
    return _row(first, width), _row(second, width)


def _row(spans: Line, width: int) -> Line:
    spans = clip_line([(" ", ""), *spans], width)
    return [*spans, (" " * (width - cells(spans)), "")]


def _objective(state: RunState) -> str:
    return "waiting for the run" if state.run.started is None else flat(state.run.started.objective)


def _where(state: RunState) -> list[Field]:
    run = state.run
    glyph, words = PHASES[run.phase]
    style = {"agent": "good", "paused": "owner", "crashed": "bad"}.get(run.phase, "accent")
    style = "dim" if run.phase in ("finished", "starting") else style
    short = SHORT_PHASES.get(run.phase, words)
    step: Line = []
    if run.step and run.live:
        step = [(f" · step {run.step} {clip(flat(run.step_name), 24)}", "dim")]
    where = f"{run.iteration}/{run.max_iterations}"
    phase: Line = [(f"{glyph} ", style), (words, style)]
    brief: Line = [(f"{glyph} ", style), (short, style)]
    brief_step: Line = [(f" · {run.step}/17", "dim")] if step else []
    fields = [
        Field([[("iteration ", "dim"), (where, "strong")], [("it ", "dim"), (where, "strong")]], 3),
        Field([[*phase, *step], [*phase, *brief_step], [*brief, *brief_step], brief], 2, whole=3),
    ]
    if run.started is not None:
        fields.append(Field([*_who(state), []], 1))
    return fields


def _who(state: RunState) -> list[Line]:
    """Agent, model, permissions; what may do everything is never hidden."""
    run = state.run
    agent = clip(flat(run.started.agent if run.started else ""), 20)
    model = clip(flat(run.model or ""), 24)
    mode = clip(flat(run.permission_mode or ""), 12)
    free = mode in ("skip", "bypassPermissions")
    rights: Line = [(" skip permissions ", "bad badge")] if free else [(mode, "dim")]
    denied: Line = [(f" · {run.denied} denied", "warn")] if run.denied else []
    full: Line = [(f"{agent} {model}".strip(), "text"), (" · ", "dim"), *rights, *denied]
    lean: Line = [*([(agent, "text"), (" ", "")] if agent else []), *rights, *denied]
    least = [*rights, *denied] if free or denied else []
    return [full, lean, least]


def _how_far(state: RunState) -> list[Field]:
    run = state.run
    if run.completion is None:
        return [Field([[("— %", "dim"), (" not measured yet", "dim")], [("— %", "dim")]], 9)]
    history = ([run.baseline] if run.baseline is not None else []) + run.completions
    done: Line = [(percent(run.completion), "strong"), *([(" held", "warn")] if run.held else [])]
    fields = [Field([done], 9)]
    if len(history) > 1:
        fields.append(Field([*([(spark(history, size), "output")] for size in (16, 8, 5)), []], 3))
    source = {"tests": "tests", "plan": "plan items", "agent": "agent's claim"}.get(
        run.source or "", "estimate"
    )
    if run.passed is not None and run.total is not None:
        counts: Line = [(f"{run.passed}/{run.total}", "text")]
        fields.append(Field([[*counts, (f" {source}", "dim")], counts], 6, whole=1))
    else:
        fields.append(Field([[(source, "dim")]], 6))
    if run.best_iteration == run.iteration and run.completions:
        fields.append(Field([[("★ best now", "good")], [("★", "good")], []], 2))
    elif run.completions:
        best = f"{percent(run.best)}"
        fields.append(
            Field(
                [
                    [(f"best {best} ", "dim"), (f"iteration {run.best_iteration}", "dim")],
                    [(f"★{best}", "dim")],
                    [],
                ],
                2,
            )
        )
    return fields


def _alive(state: RunState, now: datetime, says: Verdict, width: int) -> list[Field]:
    run = state.run
    fields = [_context(state), *_cost(state)]
    if run.started_at is not None:
        whole = elapsed(state, now)
        fields.append(
            Field([[(duration(whole), "text")], [(short_duration(whole), "text")], []], 4)
        )
    if run.live:
        out, change, gate = (
            since(then, now) for then in (run.last_output_at, run.last_change_at, run.last_gate_at)
        )
        signs = (
            (("output ", "out ", "o "), out),
            (("file ", "file ", "f "), change),
            (("gate ", "gate ", "g "), gate),
        )
        ages = [_signs(signs, form, joint) for form, joint in enumerate((" · ", " ", " "))]
        ages.append([("out ", "dim"), (out, "text")])
        fields.append(Field(ages, 5, whole=2))
    return [*fields, _verdict(says)] if width >= 100 else fields


def _signs(signs: Sequence[tuple[tuple[str, ...], str]], form: int, joint: str) -> Line:
    """Ages of the signs of life, each under its name."""
    spans: Line = []
    for names, age in signs:
        spans += [((joint if spans else "") + names[form], "dim"), (age, "text")]
    return spans


def _verdict(says: Verdict) -> Field:
    """The sentence where there is room; what is wrong keeps at least its word."""
    sentence: Line = [(f"{says.glyph} {clip(says.text, 60)}", says.style)]
    word: Line = [(f"{says.glyph} {says.word}", f"{says.style} strong")]
    wrong = says.style in ("warn", "bad", "owner")
    return Field([sentence, word] if wrong else [sentence, word, []], 1)


def _context(state: RunState) -> Field:
    filled = state.run.context_percent
    if filled is None:
        return Field([[("ctx —", "dim")], []], 3)
    level, style = context_level(filled)
    text = f"{filled:.0f} %"
    return Field(
        [
            [("ctx ", "dim"), (text, "text"), (f" {bar(filled / 100, 6)} ", style), (level, style)],
            [("ctx ", "dim"), (text, "text"), (f" {level}", style)],
            [(f"{level} {filled:.0f}", style)],
        ],
        4,
    )


def _cost(state: RunState) -> list[Field]:
    run = state.run
    used = f"{tokens(run.tokens)}" if run.tokens else "—"
    return [
        Field([[(cost(state), "text")]], 6),
        Field([[(f"{used} tok", "dim")], [(used, "dim")], []], 3),
    ]


class Header(Ink):
    """The two rows at the top."""

    key: ClassVar[str] = "header"

    def __init__(self) -> None:
        super().__init__(id=self.key)
        self.state = RunState()
        self.now = EPOCH
        self._stamp: object = None
        self._key: object = None
        self._lines: tuple[Line, Line] = ([], [])

    def sync(self, state: RunState, now: datetime) -> None:
        """Show this state."""
        stamp = (state.run.revision, state.control.revision, int(now.timestamp()))
        if state is self.state and stamp == self._stamp:
            return
        self._stamp, self.state, self.now = stamp, state, now
        self.repaint()

    def line(self, y: int, width: int) -> Line:
        """See `Ink`."""
        key = (self._stamp, width)
        if key != self._key:
            self._lines, self._key = header_lines(self.state, self.now, width), key
        return self._lines[y] if y < 2 else []


class VerdictLine(Header):
    """The run in one sentence, for narrow screens."""

    key: ClassVar[str] = "verdict"

    def line(self, y: int, width: int) -> Line:
        """See `Ink`."""
        says = verdict(self.state, self.now)
        return [(f" {says.glyph} ", says.style), (clip(says.text, width - 4), says.style)]


class OneLine(Header):
    """All that fits where there is no room for a cockpit."""

    key: ClassVar[str] = "status"

    def line(self, y: int, width: int) -> Line:
        """See `Ink`."""
        run = self.state.run
        says = verdict(self.state, self.now)
        done = percent(run.completion) if run.completion is not None else "— %"
        return clip_line(
            [
                (f"{says.glyph} ", says.style),
                (f"{run.iteration}/{run.max_iterations} ", "text"),
                (f"{done} ", "strong"),
                (clip(says.text, max(1, width - 14)), says.style),
            ],
            width,
        )
