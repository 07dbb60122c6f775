"""The bottom rows: a notice when there is one, and what the keys do now.

Rule: keys come from the table of actions alone; what cannot be done now is dim.
"""

from collections.abc import Callable, Sequence
from functools import partial

from ralph_tui.ports.player import Player
from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.text.keys import DEFAULTS, Keys
from ralph_tui.text.terms import WARNING
from ralph_tui.tui.actions import ACTIONS, BY_NAME, Action, in_footer
from ralph_tui.tui.draw.fitting import fitted
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clickable, clip, flat
from ralph_tui.tui.draw.told_rows import NOTICE_S, bottom_line

Refused = Callable[[Action], str | None]
"""Why an action cannot be done now; None: it can."""

WHOLE_FROM = 80
"""Columns from which every key that the footer names has its word."""


def verb(action: Action, state: RunState, player: Player | None) -> str:
    """What the footer calls an action in this state."""
    if action.name == "pause" and (state.run.paused or state.run.pause_requested):
        return "go on"
    if action.name == "play" and player is not None and player.playing:
        return "hold"
    return action.verb


def keys_line(
    state: RunState,
    source: Source,
    width: int,
    refused: Refused | None = None,
    keys: Keys = DEFAULTS,
) -> Line:
    """Keys and verbs on one row; where room is short, what cannot be done now is left out first,
    then what can be spared, then keys or, in little room, verbs, from the right.

    `refused`: why not, where the screen knows more than the state.
    """
    why = refused if refused is not None else lambda action: action.refusal(state)
    over = state.run.finished is not None or state.run.crash is not None or source.lost
    actions = [a for a in ACTIONS if in_footer(a, live=source.live)]
    able = [a for a in actions if why(a) is None]
    foreign = state.run.started is not None and state.run.started.imported
    of_fleet = over and source.record is not None and source.record.fleet is not None
    hidden = ["restore"] if foreign or of_fleet else []
    shown = [
        a
        for a in actions
        if a in able or not (a.urgent or (over and a.where == "live") or a.name in hidden)
    ]
    row = partial(_row, state=state, player=source.player, keys=keys)
    spans = row(shown, able, 0)
    if cells(spans) > width:
        spans = row(able, able, 0)
    if cells(spans) > width:
        able = [a for a in able if not a.spare]
    spare = [a for a in able if not (a.urgent or _goes_last(a))]
    while spare and width >= WHOLE_FROM and cells(row(able, able, 0)) > width:
        able.remove(spare.pop())  # no word is cut: `?` and the palette have the others
    if cells(spans) <= width:
        return spans
    return fitted(able, lambda left, bare: row(left, left, bare), width, _goes_last)


def _goes_last(action: Action) -> bool:
    """It is of use where nothing else fits."""
    return action.name in ("decide", "help", "leave")


def _row(
    actions: Sequence[Action],
    able: Sequence[Action],
    bare: int,
    *,
    state: RunState,
    player: Player | None,
    keys: Keys,
) -> Line:
    """The actions in a row, the last `bare` of them without their verbs."""
    spans: Line = [(" ", "")]
    for index, action in enumerate(actions):
        can = action in able
        here: Line = [(action.shown_key(keys), "key" if can else "dim")]
        if index < len(actions) - bare:
            style = "warn" if action.urgent and action.where == "live" else "text" if can else "dim"
            here.append((f" {verb(action, state, player)}", style))
        spans += [*clickable(here, keys.of(action.name)[0]), ("  ", "")]
    return spans[:-1]


class Footer(LineWidget):
    """Two rows: for a few seconds a notice, and the keys."""

    def __init__(
        self,
        source: Source,
        monotonic: Callable[[], float],
        refused: Refused | None = None,
        keys: Keys = DEFAULTS,
    ) -> None:
        """`refused`: see `keys_line`."""
        super().__init__(id="footer")
        self._refused, self._keys = refused, keys
        self._source = source
        self._monotonic = monotonic
        self._notice = ""
        self._until = 0.0
        self._state = RunState()
        self._stamp: object = None

    def say(self, text: str) -> None:
        """Show a sentence above the keys for a few seconds."""
        self._notice, self._until = flat(text), self._monotonic() + NOTICE_S
        self.repaint()

    def hush(self) -> None:
        """Another key is pressed: what was said before it is over."""
        if self._notice:
            self._notice = ""
            self.repaint()

    def expire(self) -> None:
        """A notice that stood long enough goes."""
        if self._notice and self._monotonic() >= self._until:
            self._notice = ""
            self.repaint()

    @property
    def notice(self) -> str:
        """The sentence that stands now, or nothing."""
        return self._notice

    def sync(self, state: RunState) -> None:
        """Follow the state; draws only when a key has changed its meaning."""
        self.expire()
        player = self._source.player
        # How full the window is does not change a key; whether it may be rolled over does.
        rolls = BY_NAME["roll_over"].refusal(state)
        revisions = (state.run.revision, state.needs.revision)
        going = player is not None and (player.playing, player.position >= player.length)
        stamp = (revisions, rolls, going, self._source.lost, self._source.record is None)
        if state is not self._state or stamp != self._stamp:
            self._state, self._stamp = state, stamp
            self.repaint()

    def line(self, y: int, width: int) -> Line:

        def keys(width: int) -> Line:
            return keys_line(self._state, self._source, width, self._refused, self._keys)

        return bottom_line(y, self.size.height, self._notice, keys, width)


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
        return [(f" {WARNING.glyph} ", "warn"), (clip(self._text, width - 4), "text")]
