"""Three rows that always answer: does it need me, is it alive, how far, at what cost.

Rule: the first says what the run is about and what it does now, the second how far it is, the third
is the verdict; they never wrap, and no field ever moves.
"""

from datetime import datetime
from typing import ClassVar

from ralph_tui.analysis.next_steps import refusal_to_go_on
from ralph_tui.analysis.verdict import Verdict, verdict
from ralph_tui.events.base import EPOCH
from ralph_tui.keys import DEFAULTS, Keys
from ralph_tui.state import RunState
from ralph_tui.text.format import percent
from ralph_tui.text.terms import NEEDS_YOU
from ralph_tui.tui.actions import BY_NAME
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clickable, clip, clip_line, flat, spread
from ralph_tui.tui.panes.header_doing import doing
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
    """The three rows, each of exactly `width` cells.

    `recorded`: of a run that nobody can command; `replay`: it is played again; `keys`: see
    `verdict`.
    """
    inner = max(1, width - 2)
    says = verdict(state, now, lost=lost, recorded=recorded, keys=keys)
    left, right = measures(state, now, width, inner, lost=lost)
    second = spread(left, right, inner, gap=GAP)
    rows = (_about(state, now, width, inner, lost=lost, replay=replay), second)
    first, second = (_row([(" ", ""), *row], width) for row in rows)
    return first, second, _row(_verdict(state, says, width), width)


def _about(
    state: RunState, now: datetime, width: int, inner: int, *, lost: bool | str, replay: bool
) -> Line:
    """The objective; the iteration, and what the run does now."""
    iteration = Slot("place", place_size(state), place(state))
    left = max(1, inner - iteration.size - 2 * GAP)
    wish = 22 if width < 100 else 34 if width < 120 else 40
    room = min(wish, left // 2)
    right = [iteration, Slot("doing", room, doing(state, now, room, lost=lost))]
    may = rights(state, width)
    if may:
        size = max(cells(may), len(" unrestricted ") if width >= 140 else 0)
        right.insert(0, Slot("rights", size, may))
    if width >= 140:
        right.insert(0, Slot("who", WHO, who(state)))
    badge: Line = [(_badge(state, width), "accent badge"), (" ", "")] if replay else []
    told = row_of(right)
    room = max(1, inner - cells(told) - GAP - cells(badge))
    title: Line = [(clip(_objective(state), room), "strong")]
    if width >= 140:
        title += item(state, room - cells(title))
    return spread([*badge, *title], told, inner, gap=GAP)


def _badge(state: RunState, width: int) -> str:
    """That it is a replay, and of what, where that is no run of ours."""
    tool = flat(state.foreign.tool, 20)
    if not tool:
        return REPLAY
    return f"{REPLAY}imported from {tool} " if width >= 100 else f"{REPLAY}{tool} "


def _verdict(state: RunState, says: Verdict, width: int) -> Line:
    """The sentence, and in the room that it leaves how many tools were denied."""
    line = clip_line(_sentence(says), width)
    denied = f"{state.needs.denials} denied " if state.needs.denials else ""
    fits = denied and len(denied) <= width - cells(line) - GAP
    return spread(line, [(denied, "warn")] if fits else [], width, gap=GAP)


def _sentence(says: Verdict) -> Line:
    """That the run needs somebody is seen from across the room."""
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
        """`recorded`: of a run that nobody can command; `replay`: it is played again."""
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
        """Show this state; `lost`: of a run whose process is gone; `keys`: no dialog has them."""
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
        """See `LineWidget`."""
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
    """All that fits where there is no room for a cockpit, and the one key that matters most."""

    key: ClassVar[str] = "status"

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        run = self.state.run
        key = self._what_matters()
        says = verdict(
            self.state,
            self.now,
            lost=self.lost,
            recorded=self._recorded,
            keys=None if key else self._keys,
        )
        done = percent(run.completion) if run.completion is not None else "— %"
        told: Line = [
            (f"{says.glyph} ", says.tone),
            (f"{run.iteration}/{run.max_iterations} ", "text"),
            (f"{done} ", "strong"),
        ]
        # The figures come first, then the key, then what it does.
        key = next((k for k in (key, key[:1]) if cells(told) + GAP + cells(k) < width), [])
        room = width - cells(told) - (cells(key) + GAP if key else 0)
        told.append((clip(says.text, max(1, room)), says.tone))
        return clip_line(spread(told, key, width, gap=GAP) if key else told, width)

    def _what_matters(self) -> Line:
        """The key of what its user would do next."""
        state, keys = self.state, self._keys
        if keys is None:
            return []
        wanted = ["resume", "report"]
        if not (self._recorded or self.lost):
            wanted = ["decide", *(["pause"] if state.run.paused else []), "retry", *wanted]
        refused = {name: BY_NAME[name].refusal(state) for name in wanted}
        if self.lost:
            refused["resume"] = refusal_to_go_on("resume", state, gone=True)
        able = (BY_NAME[name] for name in wanted if refused[name] is None)
        action = next(able, None) if state.run.started is not None else None
        if action is None:
            return []
        verb = "go on" if action.name == "pause" else action.verb
        return clickable(
            [(keys.shown(action.name), "key"), (f" {verb}", "text")], keys.of(action.name)[0]
        )


HEADS = (OneLine, Header)
"""From top to bottom; the size says which of them is seen."""
