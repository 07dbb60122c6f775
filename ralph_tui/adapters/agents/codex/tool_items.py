"""The items of one session that are tools, as events: begun, over, each told once. Pure."""

from collections.abc import Iterator, Mapping

from ralph_tui.adapters.agents.codex.items import result_of, succeeded, summary_of, tool_of
from ralph_tui.adapters.agents.json_fields import as_text
from ralph_tui.events import Event, ToolFinished, ToolStarted
from ralph_tui.events.agent import Prevented
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]

MOST_KEPT = 1000
"""Items at work at once that are remembered; the oldest go first."""


class ToolItems:
    """Takes items as they begin and as they are over."""

    def __init__(self, iteration: int, root: str) -> None:
        self.calls = 0
        self.errors = 0
        self.interrupted = False
        """Whether we end the turn: what fails from now on is no failure of a tool."""
        self.roots = [root]
        self._iteration = iteration
        self._running: dict[str, tuple[Json, float]] = {}
        self._over: dict[str, None] = {}
        """Those that were told to be over: what comes later changes nothing."""

    def item(self, item_id: str) -> Json:
        """One that is at work; empty where there is none."""
        return self._running.get(item_id, ({}, 0.0))[0]

    def work_in(self, folder: str) -> None:
        """The folder as the agent calls it, links followed: paths in it are told relative to it."""
        if folder and folder not in self.roots:
            self.roots = [self.roots[0], folder]

    def started(self, item: Json, parent: str | None, offset: int, now: float) -> Iterator[Event]:
        """One begins, or is told anew; only the first is told on."""
        tool, item_id = tool_of(item), as_text(item.get("id"))
        if not tool or item_id in self._running or item_id in self._over:
            return
        if len(self._running) >= MOST_KEPT:
            del self._running[next(iter(self._running))]
        self._running[item_id] = (item, now)
        self.calls += 1
        yield ToolStarted(
            iteration=self._iteration,
            tool_id=shorten(item_id),
            tool=shorten(tool, 80),
            summary=summary_of(item, self.roots),
            parent=parent,
            offset=offset,
        )

    def finished(self, item: Json, parent: str | None, offset: int, now: float) -> Iterator[Event]:
        """One is over; what was never told to begin began now."""
        item_id = as_text(item.get("id"))
        if not tool_of(item) or item_id in self._over:
            return
        if item_id not in self._running:
            yield from self.started(item, parent, offset, now)
        _, began = self._running.pop(item_id)
        ok = succeeded(item)
        because: Prevented = ""
        if as_text(item.get("status")) == "declined":
            because = "denied"
        elif self.interrupted:
            because = "interrupted"
        self.errors += not ok and not because
        yield self._told(item_id, because, result_of(item), now - began, offset, ok=ok)

    def ended(self, offset: int, now: float) -> Iterator[Event]:
        """What is still at work is ended with the session."""
        running, self._running = self._running, {}
        for item_id, (_, began) in running.items():
            yield self._told(item_id, "interrupted", "", now - began, offset, ok=False)

    def _told(
        self, item_id: str, because: Prevented, words: str, took: float, offset: int, *, ok: bool
    ) -> ToolFinished:
        if len(self._over) >= MOST_KEPT:
            del self._over[next(iter(self._over))]
        self._over[item_id] = None
        return ToolFinished(
            iteration=self._iteration,
            tool_id=shorten(item_id),
            ok=ok,
            prevented="" if ok else because,
            summary=(not ok and because) or shorten(words),
            duration_s=round(max(0.0, took), 3),
            offset=offset,
        )
