"""A cockpit that somebody comes back to: it opens with what happened meanwhile."""

from ralph_tui.analysis.away import is_long, while_away
from ralph_tui.tui.cockpit.screen import CockpitScreen
from ralph_tui.tui.modals.away import Away


class ReturningCockpit(CockpitScreen):
    """As any cockpit; before its questions it tells once what happened."""

    _told = False

    def tick(self) -> None:
        """See `CockpitScreen`; the record is there at once, or not yet at all."""
        if not self._told and self.in_front:
            self.state = self.source.poll(self.state, self.ralph.monotonic())
            if self.state.run.started is not None:
                self._told = True
                now = self.source.clock(self.state)
                if is_long(self.state, now):
                    told = while_away(self.state, now, lost=self.source.lost)
                    self.app.push_screen(Away(told, self.ralph.monotonic))
        super().tick()
