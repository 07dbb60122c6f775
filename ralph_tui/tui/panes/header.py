"""Three rows for the main questions: does it need me, is it alive, how far is it, at what cost?

Rule: the first row shows the objective and the current activity, the second the progress, and the
third the verdict. They never wrap, and no field moves.
"""

import re
from datetime import datetime
from typing import ClassVar

from ralph_tui.analysis.next_steps import explain_refusal
from ralph_tui.analysis.verdict import Verdict, lost_word, verdict
from ralph_tui.events.base import EPOCH
from ralph_tui.state import RunState
from ralph_tui.text.format import percent
from ralph_tui.text.keys import DEFAULTS, Keys
from ralph_tui.text.terms import ASKED, NEEDS_YOU, OUTCOMES, PHASES, WAITS, in_words
from ralph_tui.text.tool_kinds import action_type
from ralph_tui.tui.actions import BY_NAME
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clickable, clip, clip_line, flat, spread
from ralph_tui.tui.draw.words import countdown, since
from ralph_tui.tui.panes.header_fields import (
    GAP,
    WHO,
    Slot,
    item,
    measures,
    place,
    place_size,
    rights,
    row_of,
    who,
)

ROOM = 1000
SHORTEST = 6
"""Minimum width of a shortened command or tool call in cells; with less room, it is omitted."""
_INTERPRETER = re.compile(r"^\S*python[\d.]*\s+-m\s+(?=\S)")


def activity(state: RunState, now: datetime, room: int = ROOM, *, lost: bool | str = False) -> Line:
    """Draw the run's current activity and its duration, in about `room` cells."""
    run = state.run
    if lost:
        return [(lost_word(lost).label, "bad strong")]
    if run.finished is not None:
        return [(OUTCOMES[run.finished.outcome].label, "dim")]
    if (waits := state.needs.wait) is not None:
        left = countdown(waits.until, now)
        term = WAITS[waits.cause]
        return [(f"{term.glyph} {left or 'waiting'}: {term.word}", "warn")]
    asked = state.needs.question
    if asked is not None and (asked.request is not None or not run.session_running):
        return [(f"{ASKED.glyph} awaiting an answer", "warn")]
    if run.live and (help_ := state.intelligence.asked) is not None:
        return [(f"{PHASES['thinking'].glyph} asking a model: {in_words(help_.purpose)}", "accent")]
    if (trouble := state.service.trouble) is not None:
        took = _elapsed(trouble.since, now).strip()
        return [(f"{PHASES['limited'].glyph} {took}: {trouble.word}", "warn")]
    term = PHASES[run.phase]
    match run.phase:
        case "agent" | "waiting":
            return _agent(state, now, room)
        case "verifying":
            took = _elapsed(state.gate.running_since, now)
            command = _short(state.gate.command)
            return _work_line(f"{term.glyph} {term.word}", "accent", took, command, room)
    style = {"paused": "owner", "crashed": "bad"}.get(run.phase, "dim")
    return [(term.label, style)]


def _agent(state: RunState, now: datetime, room: int) -> Line:
    """Draw the running tool call and its time; between calls, the session's time."""
    call = state.agent.running
    # An agent that replaces the chosen one is named at any width.
    who = flat(state.roster.working, 16) if state.roster.fallback_cause else "agent"
    if state.run.phase == "waiting":
        took = _elapsed(state.agent.began_at, now)
        return _work_line(f"{PHASES['waiting'].glyph} {who}", "dim", took, "starts", room)
    head = f"{PHASES['agent'].glyph} {who}"
    if call is None:
        return _work_line(head, "good", _elapsed(state.agent.began_at, now), "", room)
    text = flat(call.text)
    what = text if action_type(call.tool) == "bash" else f"{flat(call.tool, 40)} {text}"
    return _work_line(head, "good", _elapsed(call.ran_from or call.at, now), _short(what), room)


def _work_line(head: str, style: str, took: str, what: str, room: int) -> Line:
    detail = f": {what}" if what else ""
    left = room - len(f"{head} {took}: ")
    if left < min(len(what), SHORTEST):
        detail = ""  # a few letters of it would be meaningless
    return [(f"{head} ", style), (took, "text"), (detail, "text")]


def _elapsed(began: datetime | None, now: datetime) -> str:
    return f"{since(began, now):>3}"


def _short(command: str) -> str:
    """Return a command without its leading folder and interpreter."""
    text = _INTERPRETER.sub("", flat(command))
    first, blank, rest = text.partition(" ")
    return f"{first.rsplit('/', 1)[-1] if first.startswith('/') else first}{blank}{rest}"


REPLAY = " REPLAY "


def header_lines(
    state: RunState,
    now: datetime,
    width: int,
    *,
    lost: bool | str = False,
    recorded: bool = False,
    replay: bool = False,
    keys: Keys | None = DEFAULTS,
) -> tuple[Line, Line, Line]:
    """Draw the three rows, each exactly `width` cells wide.

    `recorded` means that the run accepts no commands, `replay` that it is being replayed. For
    `keys`, see `verdict`.
    """
    inner = max(1, width - 2)
    says = verdict(state, now, lost=lost, recorded=recorded, keys=keys)
    left, right = measures(state, now, width, inner, lost=lost)
    second = spread(left, right, inner, gap=GAP)
    rows = (_title_line(state, now, width, inner, lost=lost, replay=replay), second)
    first, second = (_row([(" ", ""), *row], width) for row in rows)
    return first, second, _row(_verdict(state, says, width), width)


def _title_line(
    state: RunState, now: datetime, width: int, inner: int, *, lost: bool | str, replay: bool
) -> Line:
    """Draw the objective, the iteration, and the current activity."""
    iteration = Slot("place", place_size(state), place(state))
    left = max(1, inner - iteration.size - 2 * GAP)
    wish = 22 if width < 100 else 34 if width < 120 else 40
    room = min(wish, left // 2)
    right = [iteration, Slot("doing", room, activity(state, now, room, lost=lost))]
    may = rights(state, width)
    if may:
        size = max(cells(may), len(" unrestricted ") if width >= 140 else 0)
        right.insert(0, Slot("rights", size, may))
    if width >= 140:
        right.insert(0, Slot("who", WHO, who(state)))
    badge: Line = [(_badge(state, width), "accent badge"), (" ", "")] if replay else []
    right_row = row_of(right)
    room = max(1, inner - cells(right_row) - GAP - cells(badge))
    title: Line = [(clip(_objective(state), room), "strong")]
    if width >= 140:
        title += item(state, room - cells(title))
    return spread([*badge, *title], right_row, inner, gap=GAP)


def _badge(state: RunState, width: int) -> str:
    """Return the replay badge, which names the tool of an imported run."""
    tool = flat(state.foreign.tool, 20)
    if not tool:
        return REPLAY
    return f"{REPLAY}imported from {tool} " if width >= 100 else f"{REPLAY}{tool} "


def _verdict(state: RunState, says: Verdict, width: int) -> Line:
    """Draw the verdict and, if it fits, the number of denials."""
    line = clip_line(_sentence(says), width)
    denied = f"{state.needs.denials} denied " if state.needs.denials else ""
    fits = denied and len(denied) <= width - cells(line) - GAP
    return spread(line, [(denied, "warn")] if fits else [], width, gap=GAP)


def _sentence(says: Verdict) -> Line:
    """Draw the verdict's sentence, with a badge if the run needs the user."""
    if says.word != NEEDS_YOU.word:
        return [(f" {says.glyph} ", says.tone), (says.text, says.tone)]
    rest = says.text.removeprefix(says.word).lstrip(" ,:")
    return [(f" {says.glyph} {says.word} ", f"{says.tone} badge"), (f" {rest}", says.tone)]


def _row(spans: Line, width: int) -> Line:
    spans = clip_line(spans, width)
    return [*spans, (" " * (width - cells(spans)), "")]


def _objective(state: RunState) -> str:
    return "waiting for the run" if state.run.started is None else flat(state.run.started.objective)


class Header(LineWidget):
    """The three rows at the top."""

    key: ClassVar[str] = "header"

    def __init__(
        self, keys: Keys = DEFAULTS, *, recorded: bool = False, replay: bool = False
    ) -> None:
        """`recorded` means that the run accepts no commands, `replay` that it is being replayed."""
        super().__init__(id=self.key)
        self._set_keys = keys
        self._recorded, self._replay = recorded, replay
        self.state = RunState()
        self.now = EPOCH
        self.lost: bool | str = False
        self._keys: Keys | None = keys
        self._stamp: object = None
        self._key: object = None
        self._lines: tuple[Line, ...] = ()

    def sync(
        self, state: RunState, now: datetime, *, lost: bool | str = False, keys: bool = True
    ) -> None:
        """Show this state; `lost` if the process is gone, `keys` if no dialog is using the keys."""
        keys = keys or state.needs.question is None
        folds = (state.run, state.control, state.needs, state.oversight, state.intelligence)
        call = state.agent.running
        stamp = (
            *(fold.revision for fold in (*folds, state.context, state.gate)),
            None if call is None else call.seq,
            int(now.timestamp()),
            lost,
            keys,
        )
        if state is self.state and stamp == self._stamp:
            return
        self._stamp, self.state, self.now, self.lost = stamp, state, now, lost
        self._keys = self._set_keys if keys else None
        self.repaint()

    @property
    def says(self) -> Verdict:
        """The run in one sentence."""
        return verdict(
            self.state, self.now, lost=self.lost, recorded=self._recorded, keys=self._keys
        )

    def line(self, y: int, width: int) -> Line:
        key = (self._stamp, width)
        if key != self._key:
            self._lines = header_lines(
                self.state,
                self.now,
                width,
                lost=self.lost,
                recorded=self._recorded,
                replay=self._replay,
                keys=self._keys,
            )
            self._key = key
        return self._lines[y] if y < len(self._lines) else []


class OneLine(Header):
    """The header in one row for tiny terminals, including the most important key."""

    key: ClassVar[str] = "status"

    def line(self, y: int, width: int) -> Line:
        run = self.state.run
        key = self._next_key()
        says = verdict(
            self.state,
            self.now,
            lost=self.lost,
            recorded=self._recorded,
            keys=None if key else self._keys,
        )
        done = percent(run.completion) if run.completion is not None else "— %"
        message: Line = [
            (f"{says.glyph} ", says.tone),
            (f"{run.iteration}/{run.max_iterations} ", "text"),
            (f"{done} ", "strong"),
        ]
        # Figures come first, then the key, then its effect.
        key = next((k for k in (key, key[:1]) if cells(message) + GAP + cells(k) < width), [])
        room = width - cells(message) - (cells(key) + GAP if key else 0)
        message.append((clip(says.text, max(1, room)), says.tone))
        return clip_line(spread(message, key, width, gap=GAP) if key else message, width)

    def _next_key(self) -> Line:
        """Return the key for the user's most likely next action."""
        state, keys = self.state, self._keys
        if keys is None:
            return []
        wanted = ["resume", "report"]
        if not (self._recorded or self.lost):
            wanted = ["decide", *(["pause"] if state.run.paused else []), "retry", *wanted]
        refused = {name: BY_NAME[name].refusal(state) for name in wanted}
        if self.lost:
            refused["resume"] = explain_refusal("resume", state, gone=True)
        able = (BY_NAME[name] for name in wanted if refused[name] is None)
        action = next(able, None) if state.run.started is not None else None
        if action is None:
            return []
        verb = "unpause" if action.name == "pause" else action.verb
        return clickable(
            [(keys.shown(action.name), "key"), (f" {verb}", "text")], keys.of(action.name)[0]
        )


HEADS = (OneLine, Header)
"""From top to bottom; the terminal's size decides which one is visible."""
