"""A cockpit that opens with a summary of what happened since the user's last visit.

Rule: a key that means something on the screen below closes the summary and is passed on.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content

from ralph_tui.analysis.away import ToneLine, is_news, while_away
from ralph_tui.ports.source import Source
from ralph_tui.tui.cockpit.screen import CockpitScreen
from ralph_tui.tui.cockpit.view_log import PRESENT_S, is_lost
from ralph_tui.tui.draw.spans import wrap
from ralph_tui.tui.modals.modal import Pair
from ralph_tui.tui.modals.text_dialog import TextDialog

MODAL_KEYS = ("question_mark", "f1", "q")
"""Keys that work in every dialog."""
TITLE = "while you were away"
BELOW = "  └ "
WIDTH, MAX_ROWS = 68, 5
"""Width in cells of the details below an entry, and their maximum rows."""


class AwaySummary(TextDialog):
    """The summary; enter, esc and space close it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "close", show=False)]

    def __init__(self, news: Sequence[ToneLine], clock: Callable[[], float] = monotonic) -> None:
        super().__init__(TITLE, [Content("\n").join(_row(line) for line in news)], clock)

    def pairs(self) -> Sequence[Pair]:
        return (("↑", ""), ("↓", "scroll"), ("enter", "close"))

    def accept_key(self, event: events.Key) -> bool:
        """Close on a key that the screen below handles, and pass it on."""
        if event.key in self.active_bindings or event.key in MODAL_KEYS:
            return False
        app, key = self.app, event.key
        self.dismiss(None)
        app.call_later(app.simulate_key, key)
        return True


def _row(line: ToneLine) -> Content:
    style = "bold" if line.tone in ("warn", "bad") else "dim" if line.below else ""
    if not line.below:
        return Content.assemble((line.text, style))
    first, *more = wrap(line.text, WIDTH - len(BELOW), MAX_ROWS)
    rest = "".join(f"\n{' ' * len(BELOW)}{row}" for row in more)
    return Content.assemble(BELOW, (f"{first}{rest}", style))


class AwayCockpit(CockpitScreen):
    """A cockpit that shows the summary once, before any question."""

    RECORDS_VIEWS = True
    _is_shown = False

    def on_state(self) -> None:
        """Show the summary once the whole record is loaded, which may take several ticks."""
        if self._is_shown or not self.in_front:
            return
        player = self.source.player
        whole = player is None or self.state.seq >= player.length
        if self.state.run.started is not None and whole:
            self._is_shown = True
            self.show_summary()

    def show_summary(self) -> bool:
        """Show the summary if there is news; return whether it was shown."""
        state, record = self.state, self.source.record
        seen = record.seen() if record is not None else None
        lost = is_lost(self.source, state)
        now = self.source.clock(state)
        present = seen is not None and 0 <= (now - seen.at).total_seconds() < PRESENT_S
        if present and state.run.live and not lost:
            return False  # the user is here, or in another terminal
        if not is_news(state, now, seen, lost=lost):
            return False
        sign = record.last_sign() if record is not None and lost else None
        # The state of a finished or lost run no longer changes, but the time since then grows.
        by = datetime.now(UTC) if lost or not state.run.live else now
        news = while_away(state, by, seen, lost=self.source.lost or lost, sign=sign)
        self.app.push_screen(
            AwaySummary(news, self.ralph.monotonic), lambda _: self.summary_closed()
        )
        return True

    def summary_closed(self) -> None:
        """Handle the closing of the summary."""


class AwayReplay(AwayCockpit):
    """A replay of a run that the user had left: a summary if the run has ended, then playback.

    Only the summary is recorded as seen, not the playback.
    """

    def __init__(self, source: Source, play: Callable[[], None]) -> None:
        """`play` starts playback from the beginning."""
        super().__init__(source)
        self._play = play

    def show_summary(self) -> bool:
        is_live = self.state.run.live and not self.source.lost
        news = not is_live and super().show_summary()
        if news:
            self.view_log.key()
        self.view_log.disable()
        if not news:
            self._play()
        return news

    def summary_closed(self) -> None:
        self._play()
