"""Run screens that are opened on top of another screen."""

from ralph_tui.ports.source import Source
from ralph_tui.text.terms import NEEDS_YOU
from ralph_tui.tui.app import SideScreen
from ralph_tui.tui.cockpit.screen import CockpitScreen
from ralph_tui.tui.draw.spans import clip, flat


class RecordedScreen(SideScreen, CockpitScreen):
    """The cockpit of a recorded run; leaving it goes back without ending anything."""

    ALONE = False
    HINT = "opened from a search: esc goes back, {search} returns to the results"
    """The notice shown when the screen opens."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._note = source.note

    def on_mount(self) -> None:
        """Show the hint; Textual calls the base class's `on_mount` as well."""
        self.report(self.ralph.keys.expand(self.HINT))

    def action_unzoom(self) -> None:
        if self.body.zoomed is not None or self.body.ended:
            super().action_unzoom()
        else:
            self.ralph.back()

    def show_alert(self, text: str) -> None:
        notice = f"{NEEDS_YOU.glyph} {clip(flat(text), 100)} (esc)"
        self.source.note = notice if text else self._note


class LoopScreen(RecordedScreen):
    """The cockpit of a fleet's loop, live or finished."""

    HINT = "esc returns to the fleet"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.body.end.esc = "returns to the fleet"

    def action_unzoom(self) -> None:
        """Like the base class, but go back even if the end summary is open."""
        if self.body.zoomed is not None:
            super().action_unzoom()
        else:
            self.ralph.back()

    def show_alert(self, text: str) -> None:
        """Ignore a question from this loop, which its own screen already shows."""
        if not text or self.state.needs.question is None:
            super().show_alert(text)
