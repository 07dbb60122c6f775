"""A recorded run that was found, beside the run that goes on behind it."""

from ralph_tui.ports.source import Source
from ralph_tui.text.terms import NEEDS_YOU
from ralph_tui.tui.app import SideScreen
from ralph_tui.tui.cockpit.screen import CockpitScreen
from ralph_tui.tui.draw.spans import clip, flat


class RecordedScreen(SideScreen, CockpitScreen):
    """The cockpit of a replay; to leave it leads back and ends nothing."""

    ALONE = False
    HINT = "found by a search: esc leads back, {search} to what was found"
    """What is said when it opens."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._note = source.note

    def on_mount(self) -> None:
        """Say how it ends; Textual begins it, as of any class below."""
        self.say(self.ralph.keys.told(self.HINT))

    def action_unzoom(self) -> None:
        """All panes again, else back."""
        if self.body.zoomed is not None or self.body.ended:
            super().action_unzoom()
        else:
            self.ralph.back()

    def called(self, text: str) -> None:
        told = f"{NEEDS_YOU.glyph} {clip(flat(text), 100)} (esc)"
        self.source.note = told if text else self._note


class LoopScreen(RecordedScreen):
    """The cockpit of a loop of a fleet, alive or over."""

    HINT = "esc leads back to the fleet"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.body.end.esc = "leads back to the fleet"

    def action_unzoom(self) -> None:
        """All panes again, else back, at once also where its end stands before a pane."""
        if self.body.zoomed is not None:
            super().action_unzoom()
        else:
            self.ralph.back()

    def called(self, text: str) -> None:
        """See `BaseScreen`; what this very loop asks stands on its screen already."""
        if not text or self.state.needs.question is None:
            super().called(text)
