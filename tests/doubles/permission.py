"""The stub's questions about tools: asked over the stream, one after the other, answered there.

As the real binary does with ``--permission-prompt-tool stdio``: what is answered in no known form
fails closed, a closed input too, and an interrupt takes the question back.
"""

import uuid
from dataclasses import dataclass, field

from tests.doubles.inbox import Inbox
from tests.doubles.scenario import ToolUse
from tests.doubles.wire import Json, Wire

CLOSED = "AbortError: Tool permission stream closed before response received"
INVALID = "The permission prompt tool returned an invalid permission result"
CHOICE = "AskUserQuestion"


@dataclass
class Permission:
    """The result of a permission request."""

    allowed: bool
    message: str = ""
    input: Json = field(default_factory=dict)


class Asker:
    """Asks, and remembers what was allowed for the session."""

    def __init__(self, wire: Wire, inbox: Inbox) -> None:
        self.rules: list[str] = []
        """``Bash(git push *)``, allowed for the session."""
        self._wire = wire
        self._inbox = inbox
        self._open = ""
        self._responses: list[Json] = []

    def on_response(self, line: Json) -> None:
        """A ``control_response``."""
        response = line.get("response", {})
        if response.get("request_id") == self._open:
            self._responses.append(response)

    def cancel(self) -> None:
        """The turn is interrupted: what is asked is asked no more."""
        if self._open:
            self._wire.put_bare("control_cancel_request", request_id=self._open)
            self._open = ""

    def ask(self, tool: ToolUse, tool_id: str, reason: str, about: Json) -> Permission:
        """Wait for the answer without a timeout."""
        self._open, self._responses = str(uuid.uuid4()), []
        request: Json = {"subtype": "can_use_tool", "tool_name": tool.name, "input": tool.input}
        suggested = self._suggested(tool)
        if suggested:
            request["permission_suggestions"] = suggested
        if self._wire.modern:
            request |= {"display_name": tool.name, "tool_use_id": tool_id}
            if tool.name == CHOICE:
                request["requires_user_interaction"] = True
            else:
                request |= {"decision_reason": reason, "decision_reason_type": "other"}
            if "agent_id" in about:
                request["agent_id"] = about["agent_id"]
        self._wire.put_bare("control_request", request_id=self._open, request=request)
        self._inbox.wait(None, lambda: self._responses or self._inbox.input_ended)
        self._open = ""
        if not self._responses:
            return Permission(allowed=False, message=CLOSED)
        response = self._responses[0]
        if response.get("subtype") == "error":
            return Permission(False, f"Tool permission request failed: {response.get('error')}")
        return self._parse_answer(response.get("response") or {}, tool)

    def _parse_answer(self, answer: Json, tool: ToolUse) -> Permission:
        if answer.get("behavior") == "deny" and answer.get("message"):
            return Permission(allowed=False, message=str(answer["message"]))
        if answer.get("behavior") != "allow":
            return Permission(allowed=False, message=INVALID)
        for update in answer.get("updatedPermissions", ()):
            assert update["destination"] == "session", "it would write into the project"
            for rule in update.get("rules", ()):
                self.rules.append(f"{rule['toolName']}({rule.get('ruleContent', '')})")
        return Permission(allowed=True, input=answer.get("updatedInput") or tool.input)

    def _suggested(self, tool: ToolUse) -> list[Json]:
        if tool.name != "Bash":
            return []
        words = str(tool.input.get("command", "")).split()[:2]
        rule = {"toolName": "Bash", "ruleContent": f"{' '.join(words)} *"}
        return [
            {
                "type": "addRules",
                "rules": [rule],
                "behavior": "allow",
                "destination": "localSettings",
            }
        ]


def chosen(questions: Json) -> str:
    """The result of a question that was answered."""
    said = ", ".join(f'"{q}"="{a}"' for q, a in questions.get("answers", {}).items())
    return f"User has answered your questions: {said}. You can now continue."
