"""A cockpit that somebody comes back to: it opens with what happened meanwhile, to read and close.

Rule: that dialog takes no key that means something on the screen below; such a key closes it and is
obeyed.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content

from ralph_tui.analysis.away import Told, is_news, while_away
from ralph_tui.ports.source import Source
from ralph_tui.tui.cockpit.looks import is_lost
from ralph_tui.tui.cockpit.screen import CockpitScreen
from ralph_tui.tui.draw.spans import wrap
from ralph_tui.tui.modals.modal import Pair
from ralph_tui.tui.modals.text_dialog import TextDialog

HELPED = ("question_mark", "f1", "q")
"""Keys that work in every dialog."""
TITLE = "while you were away"
BELOW = "  └ "
WIDTH, MOST_ROWS = 68, 5
"""Of what stands below an entry: cells in the dialog, and rows."""


class Away(TextDialog):
    """Any of enter, esc and space closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "close", show=False)]

    def __init__(self, told: Sequence[Told], clock: Callable[[], float] = monotonic) -> None:
        super().__init__(TITLE, [Content("\n").join(_row(line) for line in told)], clock)

    def pairs(self) -> Sequence[Pair]:
        return (("↑", ""), ("↓", "scroll"), ("enter", "close"))

    def take_key(self, event: events.Key) -> bool:
        """See `Modal`: a key of the screen below closes this, and is handed on."""
        if event.key in self.active_bindings or event.key in HELPED:
            return False
        app, key = self.app, event.key
        self.dismiss(None)
        app.call_later(app.simulate_key, key)
        return True


def _row(line: Told) -> Content:
    style = "bold" if line.tone in ("warn", "bad") else "dim" if line.below else ""
    if not line.below:
        return Content.assemble((line.text, style))
    first, *more = wrap(line.text, WIDTH - len(BELOW), MOST_ROWS)
    rest = "".join(f"\n{' ' * len(BELOW)}{row}" for row in more)
    return Content.assemble(BELOW, (f"{first}{rest}", style))


class ReturningCockpit(CockpitScreen):
    """As any cockpit; before its questions it tells once what happened."""

    KEEPS_SEEN = True
    _told = False

    def came(self) -> None:
        """See `CockpitScreen`; the record is there at once, or grows until it is."""
        if self._told or not self.in_front:
            return
        player = self.source.player
        whole = player is None or self.state.seq >= player.length
        if self.state.run.started is not None and whole:
            self._told = True
            self.tell()

    def tell(self) -> bool:
        """What happened, where there is any news; whether there is."""
        state, record = self.state, self.source.record
        seen = record.seen() if record is not None else None
        lost = is_lost(self.source, state)
        now = self.source.clock(state)
        if not is_news(state, now, seen, lost=lost):
            return False
        sign = record.last_sign() if record is not None and lost else None
        # What is over or gone stands still on the screen; how long it has been so grows.
        by = datetime.now(UTC) if lost or not state.run.live else now
        told = while_away(state, by, seen, lost=self.source.lost or lost, sign=sign)
        self.app.push_screen(Away(told, self.ralph.monotonic), lambda _: self.was_told())
        return True

    def was_told(self) -> None:
        """It is closed."""


class FilmedCockpit(ReturningCockpit):
    """A replay of a run that was left: what came of it, once it is over, and then the film.

    What is seen in the film is no news: only what was told is put down.
    """

    def __init__(self, source: Source, film: Callable[[], None]) -> None:
        """`film` plays it from its beginning."""
        super().__init__(source)
        self._film = film

    def tell(self) -> bool:
        goes_on = self.state.run.live and not self.source.lost
        told = not goes_on and super().tell()
        if told:
            self.looks.key()
        self.looks.hung_up()
        if not told:
            self._film()
        return told

    def was_told(self) -> None:
        self._film()
