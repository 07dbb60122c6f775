"""The bottom rows: a notice, if there is one, and the keys.

Rule: keys come from the table of actions alone; unavailable ones are dim.
"""

from collections.abc import Callable, Sequence
from functools import partial

from ralph_tui.ports.player import Player
from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.text.keys import DEFAULTS, Keys
from ralph_tui.text.terms import WARNING
from ralph_tui.tui.actions import ACTIONS, BY_NAME, Action, is_in_footer
from ralph_tui.tui.draw.feedback_rows import NOTICE_S, bottom_line
from ralph_tui.tui.draw.fitting import fitted
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, cells, clickable, clip, flat

Refused = Callable[[Action], str | None]
"""Returns why an action is unavailable now; None if it is available."""

WHOLE_FROM = 80
"""Minimum width in columns at which every key in the footer has its verb."""


def verb(action: Action, state: RunState, player: Player | None) -> str:
    """Return the footer's verb for an action in this state."""
    if action.name == "pause" and (state.run.paused or state.run.pause_requested):
        return "unpause"
    if action.name == "play" and player is not None and player.playing:
        return "pause"
    return action.verb


def keys_line(
    state: RunState,
    source: Source,
    width: int,
    refused: Refused | None = None,
    keys: Keys = DEFAULTS,
) -> Line:
    """Return the keys and their verbs in one row.

    If space is short, drop unavailable actions first, then spare ones. After that, drop whole keys
    from the right on screens of `WHOLE_FROM` columns or more, and only verbs on narrower ones.
    `refused` replaces the state's own check if the screen knows more.
    """
    why = refused if refused is not None else lambda action: action.refusal(state)
    over = state.run.finished is not None or state.run.crash is not None or source.lost
    actions = [a for a in ACTIONS if is_in_footer(a, live=source.live)]
    able = [a for a in actions if why(a) is None]
    started = state.run.started
    foreign = started is not None and (started.imported or started.watched)
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
    spare = [a for a in able if not (a.urgent or _is_essential(a))]
    while spare and width >= WHOLE_FROM and cells(row(able, able, 0)) > width:
        able.remove(spare.pop())  # keep all verbs; `?` and the palette list the other keys
    if cells(spans) <= width:
        return spans
    return fitted(able, lambda left, bare: row(left, left, bare), width, _is_essential)


def _is_essential(action: Action) -> bool:
    """True for the actions that stay even if nothing else fits."""
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
    """Return the actions in a row, the last `bare` of them without their verbs."""
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
    """Two rows: a notice for a few seconds, and the keys."""

    def __init__(
        self,
        source: Source,
        monotonic: Callable[[], float],
        refused: Refused | None = None,
        keys: Keys = DEFAULTS,
    ) -> None:
        super().__init__(id="footer")
        self._refused, self._keys = refused, keys
        self._source = source
        self._monotonic = monotonic
        self._notice = ""
        self._until = 0.0
        self._state = RunState()
        self._stamp: object = None

    def report(self, text: str) -> None:
        """Show a notice above the keys for a few seconds."""
        self._notice, self._until = flat(text), self._monotonic() + NOTICE_S
        self.repaint()

    def clear_notice(self) -> None:
        """Clear the notice: another key was pressed."""
        if self._notice:
            self._notice = ""
            self.repaint()

    def expire(self) -> None:
        """Clear the notice once its time is up."""
        if self._notice and self._monotonic() >= self._until:
            self._notice = ""
            self.repaint()

    @property
    def notice(self) -> str:
        """The current notice, or an empty string."""
        return self._notice

    def sync(self, state: RunState) -> None:
        """Follow the state; redraw only if a key has changed its meaning."""
        self.expire()
        player = self._source.player
        # The context's fill level affects no key, but whether a handoff is possible does.
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
    """A row for one sentence about the record itself."""

    def __init__(self, text: str) -> None:
        super().__init__(id="note", classes="-shown" if text else "")
        self._text = flat(text)

    def report(self, text: str) -> None:
        """Replace the sentence; an empty one hides the row."""
        if flat(text) != self._text:
            self._text = flat(text)
            self.set_class(bool(text), "-shown")
            self.repaint()

    def line(self, y: int, width: int) -> Line:
        return [(f" {WARNING.glyph} ", "warn"), (clip(self._text, width - 4), "text")]
