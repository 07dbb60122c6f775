"""A cockpit that somebody comes back to: it opens with what happened meanwhile."""

from ralph_tui.analysis.away import is_news, while_away
from ralph_tui.tui.cockpit.looks import is_lost
from ralph_tui.tui.cockpit.screen import CockpitScreen
from ralph_tui.tui.modals.away import Away


class ReturningCockpit(CockpitScreen):
    """As any cockpit; before its questions it tells once what happened."""

    KEEPS_SEEN = True
    _told = False

    def tick(self) -> None:
        """See `CockpitScreen`; the record is there at once, or grows until it is."""
        if not self._told and self.in_front:
            self.state = self.source.poll(self.state, self.ralph.monotonic())
            player = self.source.player
            whole = player is None or self.state.seq >= player.length
            if self.state.run.started is not None and whole:
                self._told = True
                self._tell()
        super().tick()

    def _tell(self) -> None:
        state, record = self.state, self.source.record
        now = self.source.clock(state)
        seen = record.seen() if record is not None else None
        lost = is_lost(self.source, state)
        if is_news(state, now, seen, lost=lost):
            told = while_away(state, now, seen, lost=lost)
            self.app.push_screen(Away(told, self.ralph.monotonic))
