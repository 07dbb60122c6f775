"""Tool calls of one session: starts, results and denials, each reported once."""

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
from ralph_tui.text.git_diff import last_changed_line
from ralph_tui.text.json_fields import as_map, as_text, content_text

Json = Mapping[str, object]

_NAMED_IN_RULES = ("command", "url", "file_path", "notebook_path", "path")
_LONGEST = 4000


@dataclass
class _Call:
    """A running tool call."""

    started: float
    tool: str
    input: Json
    """The fields on which a permission depends."""


class ToolCalls(SessionTools):
    """The session's tool calls, from content blocks, permission requests and denials."""

    def __init__(self, iteration: int, root: str) -> None:
        super().__init__(iteration, root)
        self._running: dict[str, _Call] = {}
        self._denied: set[str] = set()
        self._unanswered: set[str] = set()
        """Calls with an unanswered permission request."""
        self._refusals: dict[str, str] = {}
        """Texts of failed calls in this turn; older versions list denials without a text."""

    def command_of(self, tool_id: str) -> str:
        """Return the command that a running tool call executes, or ""."""
        call = self._running.get(tool_id)
        return "" if call is None else as_text(call.input.get("command"))

    def asked(self, request: Json) -> None:
        """Record a permission request for a call."""
        self._unanswered.add(as_text(request.get("tool_use_id")) or self._find_call(request))

    def record_decision(self, request: Json, now: float, *, refused: bool) -> None:
        """Record the answer to a request: the call starts now, or never runs."""
        tool_id = as_text(request.get("tool_use_id")) or self._find_call(request)
        self._unanswered.discard(tool_id)
        if call := self._running.get(tool_id):
            call.started = now
        if refused:
            self._denied.add(tool_id)

    def _find_call(self, request: Json) -> str:
        """Find the call with this input, as older versions do not name the call."""
        tool, arguments = as_text(request.get("tool_name")), as_map(request.get("input"))
        same = (tool, _rule_arguments(arguments))
        calls = reversed(list(self._running.items()))
        return next((key for key, call in calls if (call.tool, call.input) == same), "")

    def turn_ended(self) -> None:
        """Forget unfinished calls: their results will not arrive."""
        self._running.clear()
        self._refusals.clear()

    def started(self, block: Json, parent: str | None) -> list[Event]:
        """Handle a ``tool_use`` block; a repeated block is ignored."""
        tool_id = as_text(block.get("id"))
        if tool_id in self._running:
            return []
        tool = as_text(block.get("name")) or "tool"
        arguments = as_map(block.get("input"))
        self._running[tool_id] = _Call(self.now, tool, _rule_arguments(arguments))
        return [
            self._start(
                tool_id, tool, describe_input(tool, arguments, self.roots), arguments, parent
            )
        ]

    def finished(self, block: Json, structured: object) -> list[Event]:
        """Handle a ``tool_result`` block and the program's structured result."""
        tool_id = as_text(block.get("tool_use_id"))
        call = self._running.pop(tool_id, None)
        began = self.now if call is None else call.started
        ok = block.get("is_error") is not True
        because: Prevented = ""
        if tool_id in self._denied:
            because = "denied"
        elif self.interrupted or tool_id in self._unanswered:
            because = "interrupted"
        if not ok and not because:
            self._refusals[tool_id] = content_text(block.get("content"))[:_LONGEST]
        summary = describe_result(block.get("content"), structured, ok=ok)
        output, line = content_text(block.get("content")), last_changed_line(structured)
        return [self._finish(tool_id, began, because, summary, output, ok=ok, last_line=line)]

    def denied(self, fields: Json) -> list[Event]:
        """Handle a denial, from its own event or from a result's list.

        The list also contains calls whose request was interrupted; these are not denials.
        """
        tool_id = as_text(fields.get("tool_use_id"))
        if tool_id and tool_id in self._denied | self._unanswered:
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


def _rule_arguments(arguments: Json) -> Json:
    return {name: as_text(arguments.get(name))[:_LONGEST] for name in _NAMED_IN_RULES}
