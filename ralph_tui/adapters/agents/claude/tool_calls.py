"""Tool calls of one session: begun, answered, denied, each told once."""

from collections.abc import Mapping
from dataclasses import dataclass

from ralph_tui.adapters.agents.permissions import rules_for_denied
from ralph_tui.adapters.agents.tools import (
    SessionTools,
    describe_input,
    describe_result,
    tool_denied,
)
from ralph_tui.events import Event
from ralph_tui.events.agent import Prevented
from ralph_tui.text.json_fields import as_map, as_text, content_text

Json = Mapping[str, object]

_NAMED_IN_RULES = ("command", "url", "file_path", "notebook_path", "path")
_LONGEST = 4000


@dataclass
class _Call:
    """A tool at work."""

    started: float
    tool: str
    input: Json
    """What a permission depends on."""


class ToolCalls(SessionTools):
    """Makes events of content blocks, and of what is said of them."""

    def __init__(self, iteration: int, root: str) -> None:
        super().__init__(iteration, root)
        self._running: dict[str, _Call] = {}
        self._denied: set[str] = set()
        self._asked: set[str] = set()
        """Calls with a question that was not answered."""
        self._refusals: dict[str, str] = {}
        """What failed calls of this turn were told: older versions say in the result which of
        them were denied, and not in which words."""

    def command_of(self, tool_id: str) -> str:
        """The command that a tool at work runs; empty where it runs none."""
        call = self._running.get(tool_id)
        return "" if call is None else as_text(call.input.get("command"))

    def asked(self, request: Json) -> None:
        """The program asks whether a tool may be used."""
        self._asked.add(as_text(request.get("tool_use_id")) or self._asked_for(request))

    def decided(self, request: Json, now: float, *, refused: bool) -> None:
        """A tool was asked about: it takes its time from the answer on, or does no work."""
        tool_id = as_text(request.get("tool_use_id")) or self._asked_for(request)
        self._asked.discard(tool_id)
        if call := self._running.get(tool_id):
            call.started = now
        if refused:
            self._denied.add(tool_id)

    def _asked_for(self, request: Json) -> str:
        """Older versions do not name the call: it is the one with this input."""
        tool, arguments = as_text(request.get("tool_name")), as_map(request.get("input"))
        same = (tool, _kept(arguments))
        calls = reversed(list(self._running.items()))
        return next((key for key, call in calls if (call.tool, call.input) == same), "")

    def turn_ended(self) -> None:
        """What has not answered never will."""
        self._running.clear()
        self._refusals.clear()

    def started(self, block: Json, parent: str | None) -> list[Event]:
        """A ``tool_use`` block; of one that is repeated, only the first is told."""
        tool_id = as_text(block.get("id"))
        if tool_id in self._running:
            return []
        tool = as_text(block.get("name")) or "tool"
        arguments = as_map(block.get("input"))
        self._running[tool_id] = _Call(self.now, tool, _kept(arguments))
        return [self._start(tool_id, tool, describe_input(tool, arguments, self.roots), parent)]

    def finished(self, block: Json, structured: object) -> list[Event]:
        """A ``tool_result`` block, with what the agent's program says of it."""
        tool_id = as_text(block.get("tool_use_id"))
        call = self._running.pop(tool_id, None)
        began = self.now if call is None else call.started
        ok = block.get("is_error") is not True
        because: Prevented = ""
        if tool_id in self._denied:
            because = "denied"
        elif self.interrupted or tool_id in self._asked:
            because = "interrupted"
        if not ok and not because:
            self._refusals[tool_id] = content_text(block.get("content"))[:_LONGEST]
        summary = describe_result(block.get("content"), structured, ok=ok)
        return [self._finish(tool_id, began, because, summary, ok=ok)]

    def denied(self, fields: Json) -> list[Event]:
        """A denial, as an event of its own or in a result's list.

        A call is listed there, too, if its question was broken off: nobody denied it.
        """
        tool_id = as_text(fields.get("tool_use_id"))
        if tool_id and tool_id in self._denied | self._asked:
            return []
        self._denied.add(tool_id)
        call = self._running.get(tool_id)
        tool = as_text(fields.get("tool_name")) or (call.tool if call else "tool")
        arguments = as_map(fields.get("tool_input")) or (call.input if call else {})
        refusal = self._refusals.pop(tool_id, None)
        if refusal is not None:
            self.errors -= 1
        message = as_text(fields.get("message")) or refusal or ""
        reason = as_text(fields.get("decision_reason_type"))
        lines = rules_for_denied(tool, arguments, message, reason, self.roots)
        return [tool_denied(self._iteration, tool, tool_id, message, lines)]


def _kept(arguments: Json) -> Json:
    return {name: as_text(arguments.get(name))[:_LONGEST] for name in _NAMED_IN_RULES}
