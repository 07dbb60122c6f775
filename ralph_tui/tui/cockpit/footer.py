"""The bottom rows: what the keys do now, a notice when there is one, and the end of the run.

Rule: keys come from the table of actions alone; what cannot be done now is dim.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from ralph_tui.events.base import EPOCH
from ralph_tui.ports.player import Player
from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.text.format import clock, count, duration, ending_reason, percent
from ralph_tui.text.terms import OUTCOME_TONES, OUTCOMES, PHASES, SEVERITIES, WARNING
from ralph_tui.tui.actions import ACTIONS, BY_NAME, Action, in_footer
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clickable, clip, clip_line, flat, spread
from ralph_tui.tui.draw.words import cost, elapsed, level_mark, tokens

NOTICE_S = 5.0
"""How long a notice stands."""


def verb(action: Action, state: RunState, player: Player | None) -> str:
    """What the footer calls an action in this state."""
    if action.name == "pause" and (state.run.paused or state.run.pause_requested):
        return "go on"
    if action.name == "play" and player is not None and player.playing:
        return "hold"
    return action.verb


def keys_line(state: RunState, source: Source, width: int) -> Line:
    """Keys and verbs on one row; where room is short, what cannot be done now is left out first,
    then what can be spared, then verbs, from the right.
    """
    over = state.run.finished is not None or state.run.crash is not None
    actions = [
        a for a in ACTIONS if in_footer(a, live=source.live) and not (over and a.where == "live")
    ]
    able = [a for a in actions if a.refusal(state) is None]
    spans = _keys([a for a in actions if a in able or not a.urgent], 0, state, source.player)
    if cells(spans) > width:
        spans = _keys(able, 0, state, source.player)
    if cells(spans) > width:
        able = [a for a in able if not a.spare]
    bare = 0
    while cells(spans) > width and bare <= len(able):
        spans = _keys(able, bare, state, source.player)
        bare += 1
    return clip_line(spans, width)


def _keys(actions: Sequence[Action], bare: int, state: RunState, player: Player | None) -> Line:
    """The actions in a row, the last `bare` of them without their verbs."""
    spans: Line = [(" ", "")]
    for index, action in enumerate(actions):
        able = action.refusal(state) is None
        here: Line = [(action.shown_key, "key" if able else "dim")]
        if index < len(actions) - bare:
            style = "warn" if action.urgent else "text" if able else "dim"
            here.append((f" {verb(action, state, player)}", style))
        spans += [*clickable(here, action.keys.split(",")[0]), ("  ", "")]
    return spans[:-1]


class Footer(LineWidget):
    """One row: the keys, or for a few seconds a notice."""

    def __init__(self, source: Source, monotonic: Callable[[], float]) -> None:
        super().__init__(id="footer")
        self._source = source
        self._monotonic = monotonic
        self._notice = ""
        self._until = 0.0
        self._state = RunState()
        self._stamp: object = None

    def say(self, text: str) -> None:
        """Show a sentence in place of the keys for a few seconds."""
        self._notice, self._until = flat(text), self._monotonic() + NOTICE_S
        self.repaint()

    def hush(self) -> None:
        """Another key is pressed: what was said before it is over."""
        if self._notice:
            self._notice = ""
            self.repaint()

    @property
    def notice(self) -> str:
        """The sentence that stands now, or nothing."""
        return self._notice

    def sync(self, state: RunState) -> None:
        """Follow the state; draws only when a key has changed its meaning."""
        if self._notice and self._monotonic() >= self._until:
            self._notice = ""
            self.repaint()
        player = self._source.player
        # How full the window is does not change a key; whether it may be rolled over does.
        rolls = BY_NAME["roll_over"].refusal(state)
        revisions = (state.run.revision, state.needs.revision)
        stamp = (revisions, rolls, player is not None and player.playing)
        if state is not self._state or stamp != self._stamp:
            self._state, self._stamp = state, stamp
            self.repaint()

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        if self._notice:
            return [(" ▸ ", "warn"), (clip(self._notice, width - 4), "text")]
        return keys_line(self._state, self._source, width)


def summary(state: RunState, now: datetime) -> list[Line]:
    """The end of the run in two rows; none while it goes on."""
    run = state.run
    if run.crash is not None:
        return [
            [(PHASES["crashed"].label, "bad strong"), (f"  {flat(run.crash.error)}", "text")],
            [("this is a bug of ralph-tui; the agent was stopped", "dim")],
        ]
    if run.finished is None:
        return []
    end = run.finished
    where = f"in iteration {end.best_iteration}" if end.best_iteration else "at the start"
    parts = [
        count(end.iterations, "iteration"),
        percent(end.completion, end.best),
        f"best {percent(end.best, end.completion)} {where}",
        duration(end.duration_s or elapsed(state, now)),
        *([cost(state)] if run.cost_known else []),
    ]
    used = end.tokens or run.tokens
    if used:
        parts.append(f"{tokens(used)} tok")
    return [
        [
            (OUTCOMES[end.outcome].label, f"{OUTCOME_TONES[end.outcome]} strong"),
            (f"  {flat(ending_reason(end.outcome, end.reason))}", "text"),
        ],
        [(" · ".join(parts), "text")],
    ]


class Banner(LineWidget):
    """The summary of a run that is over; it stays until the owner leaves."""

    def __init__(self) -> None:
        super().__init__(id="banner")
        self.rows: list[Line] = []

    def sync(self, state: RunState, now: datetime) -> None:
        """Appear when the run is over, vanish when a replay goes back before its end."""
        rows = summary(state, now)
        if rows != self.rows:
            self.rows = rows
            self.set_class(bool(rows), "-shown")
            self.repaint()

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        if y >= len(self.rows):
            return []
        hint: Line = [("q", "key"), (" leaves ", "dim")] if y == 0 else []
        return spread([(" ", ""), *self.rows[y]], hint, width)


class Note(LineWidget):
    """One sentence about the record itself."""

    def __init__(self, text: str) -> None:
        super().__init__(id="note", classes="-shown" if text else "")
        self._text = flat(text)

    def say(self, text: str) -> None:
        """Another sentence, or none."""
        if flat(text) != self._text:
            self._text = flat(text)
            self.set_class(bool(text), "-shown")
            self.repaint()

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        return [(f" {WARNING.glyph} ", "warn"), (clip(self._text, width - 4), "text")]


class Scrubber(LineWidget, can_focus=True):
    """Where a replay stands; focused at the start, so that arrows move in time."""

    def __init__(self, player: Player) -> None:
        super().__init__(id="scrubber")
        self.lit = False
        self._player = player
        self._state = RunState()
        self._now = EPOCH
        self._stamp: object = None

    def on_focus(self) -> None:
        """Its colour tells it."""
        self.lit = True
        self.repaint()

    def on_blur(self) -> None:
        """Its colour tells it."""
        self.lit = False
        self.repaint()

    def sync(self, state: RunState, now: datetime) -> None:
        """Follow the player."""
        player = self._player
        stamp = (player.position, player.playing, player.speed, player.length, int(now.timestamp()))
        self._state, self._now = state, now
        if stamp != self._stamp:
            self._stamp = stamp
            self.repaint()

    def line(self, y: int, width: int) -> Line:
        """See `LineWidget`."""
        player = self._player
        speed = f"{player.speed}x" if player.speed else "instant"
        sign = "▶" if player.playing else PHASES["paused"].glyph
        style = "focus" if self.lit else "dim"
        left: Line = [(f" {sign} ", f"{style} strong"), (f"{speed:<7} ", "text")]
        at_end = player.position == player.length
        right: Line = [(f"  {clock(self._now, seconds=True)} ", "text")]
        if width >= 70:
            right.append((f" {player.position}/{player.length} ", "dim"))
        if at_end and self._state.run.live:
            right = [("  no end was recorded ", "warn"), *right]
        room = width - cells(left) - cells(right)
        return [*left, *self._bar(max(1, room), style), *right]

    def _bar(self, room: int, style: str) -> Line:
        player = self._player
        length = max(1, player.length)
        here = min(room - 1, player.position * room // length)
        track = [("━", style) if i < here else ("─", "faint") for i in range(room)]
        for position, severity in player.marks:
            column = min(room - 1, position * room // length)
            track[column] = level_mark(SEVERITIES[severity])
        track[here] = ("●", "focus" if self.lit else "text")
        spans: Line = []
        for glyph, name in track:
            if spans and spans[-1][1] == name:
                spans[-1] = (spans[-1][0] + glyph, name)
            else:
                spans.append((glyph, name))
        return spans
