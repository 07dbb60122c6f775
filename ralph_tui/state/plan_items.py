"""How much of the context window each finished plan item used."""

from ralph_tui.events import (
    ContextCompacted,
    EarlierWindowsRead,
    PlanItemBegan,
    SessionStarted,
    UsageReported,
)
from ralph_tui.events.context import ItemSize, SizeBasis
from ralph_tui.state.fold import Fold

KEPT = 100
"""Maximum number of finished items kept; the newest stay."""


class PlanItemsFold(Fold):
    """Adds up the growth of the window per plan item, across sessions.

    The window's contents at a session's start, and what a compaction frees, do not count.
    """

    def __init__(self) -> None:
        self.taken: list[tuple[ItemSize, SizeBasis, float]] = []
        """For each finished item: its size class, the basis for the class, and the points it used.

        Items that were ticked together count as one, with their mean. Items from earlier runs in
        this repository come first, so that the run's own outweigh them.
        """
        self.earlier = 0
        """How many of `taken` are from earlier runs."""
        self._item: PlanItemBegan | None = None
        self._points = 0.0
        self._tokens: int | None = None
        self._window: int | None = None

    def on_earlier_read(self, event: EarlierWindowsRead) -> None:
        self.taken = [(one.size, one.basis, one.points) for one in event.items][-KEPT:]
        self.earlier = len(self.taken)

    def on_session_started(self, _: SessionStarted) -> bool:
        self._tokens = None
        return False

    def on_compacted(self, event: ContextCompacted) -> bool:
        self._tokens = event.after
        return False

    def on_usage_reported(self, event: UsageReported) -> bool:
        self._window = event.context_window or self._window
        now, before = event.context_tokens, self._tokens
        if now:
            if before is not None and now > before and self._window:
                self._points += 100 * (now - before) / self._window
            self._tokens = now
        return False

    def on_item_began(self, event: PlanItemBegan) -> bool:
        item, points = self._item, self._points
        self._item, self._points = event, 0.0
        finished = event.done - item.done if item is not None and item.item else 0
        if item is None or finished <= 0 or points <= 0:
            return False
        taken = [*self.taken, (item.size, item.basis, points / finished)]
        self.earlier -= min(self.earlier, max(0, len(taken) - KEPT))  # the oldest go first
        self.taken = taken[-KEPT:]
        return True
