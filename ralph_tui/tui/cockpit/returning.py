"""A cockpit that somebody comes back to: it opens with what happened meanwhile."""

from collections.abc import Callable
from datetime import UTC, datetime

from ralph_tui.analysis.away import is_news, while_away
from ralph_tui.ports.source import Source
from ralph_tui.tui.cockpit.looks import is_lost
from ralph_tui.tui.cockpit.screen import CockpitScreen
from ralph_tui.tui.modals.away import Away


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
        told = while_away(state, by, seen, lost=lost, sign=sign)
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
        """See `ReturningCockpit`."""
        goes_on = self.state.run.live and not self.source.lost
        told = not goes_on and super().tell()
        if told:
            self.looks.key()
        self.looks.hung_up()
        if not told:
            self._film()
        return told

    def was_told(self) -> None:
        """See `ReturningCockpit`."""
        self._film()
