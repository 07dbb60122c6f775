"""The uses of tools of one session as events: begun, over, denied, each told once."""

from collections.abc import Iterator, Mapping

from ralph_tui.adapters.agents.acp.permission import denied
from ralph_tui.adapters.agents.acp.quirks import Quirks
from ralph_tui.adapters.agents.acp.tool_use import ToolUse
from ralph_tui.adapters.agents.json_fields import as_text
from ralph_tui.events import Event, ToolFinished, ToolStarted
from ralph_tui.events.agent import Prevented
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]

OVER = ("completed", "failed")
_MOST_KEPT = 20_000
"""Uses that are known to be over; an agent that goes on for longer is told twice of some."""


class ToolCalls:
    """Takes the pieces in which uses are told; `root` is the worktree."""

    def __init__(self, iteration: int, root: str, quirks: Quirks) -> None:
        self.calls = 0
        self.errors = 0
        self.interrupted = False
        """Whether we end the turn: what fails from now on is no failure of a tool."""
        self.quirks = quirks
        self._iteration = iteration
        self._root = root
        self._uses: dict[str, ToolUse] = {}
        self._began: dict[str, float] = {}
        """When those that were told of began."""
        self._over: dict[str, None] = {}
        self._refused: set[str] = set()

    @property
    def running(self) -> bool:
        """Whether any use is told of and not over."""
        return bool(self._began)

    def use(self, tool_id: str) -> ToolUse | None:
        """What is known of a use that is not over."""
        return self._uses.get(shorten(tool_id))

    def refused(self, tool_id: str) -> None:
        """It was not permitted: that it fails is no failure of the tool. Any thread may say so."""
        self._refused.add(shorten(tool_id))

    def take(self, piece: Json, offset: int, now: float, *, asked: bool = False) -> Iterator[Event]:
        """A piece of a use; `asked`: its permission is asked for, so that all is told of it."""
        tool_id = shorten(as_text(piece.get("toolCallId")))
        if not tool_id or (tool_id in self._over and not asked):
            return
        use = self._uses.get(tool_id)
        if use is None:
            use = ToolUse(first_title_names_tool=self.quirks.first_title_names_tool)
            self._uses[tool_id] = use
        use.update(piece)
        if tool_id not in self._began and (asked or use.begun()):
            self._began[tool_id] = now
            self.calls += 1
            yield ToolStarted(
                iteration=self._iteration,
                tool_id=tool_id,
                tool=shorten(use.name, 80),
                summary=use.subject([self._root]),
                offset=offset,
            )
        if use.status in OVER and not asked:
            yield from self._finished(tool_id, use, offset, now)

    def turn_ended(self, offset: int, now: float) -> Iterator[Event]:
        """What is not over never will be."""
        for tool_id in list(self._began):
            yield from self._finished(tool_id, self._uses[tool_id], offset, now)
        self._uses.clear()

    def _finished(self, tool_id: str, use: ToolUse, offset: int, now: float) -> Iterator[Event]:
        began = self._began.pop(tool_id, now)
        self._uses.pop(tool_id, None)
        self._over[tool_id] = None
        if len(self._over) > _MOST_KEPT:
            del self._over[next(iter(self._over))]
        because: Prevented = ""
        by_rule = self._denied_by_rule(use)
        if by_rule:
            yield denied(self._iteration, use, tool_id, self._root)
        if by_rule or tool_id in self._refused:
            because = "denied"
        elif self.interrupted or use.status not in OVER:
            because = "interrupted"
        ok = use.ok() and not self.interrupted
        if not ok and not because:
            self.errors += 1
        yield ToolFinished(
            iteration=self._iteration,
            tool_id=tool_id,
            ok=ok,
            prevented="" if ok else because,
            summary=(not ok and because) or shorten(use.result()),
            duration_s=round(max(0.0, now - began), 3),
            offset=offset,
        )

    def _denied_by_rule(self, use: ToolUse) -> bool:
        """Whether a rule of ours that the agent keeps itself has denied it."""
        words = self.quirks.denied_by_rule
        return bool(words) and use.status == "failed" and use.said().startswith(words)
