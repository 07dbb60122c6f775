"""A turn of the scripted agent: its messages, tool calls and cost."""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ralph_tui.demo.agent import tools
from ralph_tui.demo.agent.window import FullError, Window
from ralph_tui.demo.agent.wire import MODEL, Interrupted, Wire

PRICES = {"read": 0.3e-6, "written": 3.75e-6, "output": 15e-6}
"""Made-up dollars per token: nothing is billed."""

STEERING = ("# Guidance", "# Redirect")
"""Headings of the user's guidance, and of an approved redirect, in a prompt."""
REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


class Session:
    """Sends the agent's messages and counts the tokens and the cost of the session."""

    def __init__(self, wire: Wire, beat: float, window: Window) -> None:
        self.wire = wire
        self.prompt = ""
        """The message that began the turn."""
        self.beat = beat
        """Seconds between two actions of the agent."""
        self.guided = False
        self.turns = 1
        self._results = 0
        self._accepted: list[str] = []
        self._totals = {"inputTokens": 0, "outputTokens": 0, "cacheReadInputTokens": 0,
                        "cacheCreationInputTokens": 0}  # fmt: skip
        self._cost = 0.0
        self._window = window
        self._new_tokens = window.instructions
        self._open_tool = ""

    def begin(self, text: str, message_id: str | None) -> None:
        """Begin a turn with this message."""
        self.turns, self.prompt = 1, text
        self.wire.send("system", {
            "subtype": "init", "cwd": str(Path.cwd()), "model": MODEL,
            "tools": ["Bash", "Edit", "Grep", "Read", "Task"], "permissionMode": "acceptEdits",
            "apiKeySource": "nothing is billed", "claude_code_version": "demo",
        })  # fmt: skip
        self._replay(text, message_id)
        self.guided = self.guided or any(heading in text for heading in STEERING)

    def say(self, text: str, parent: str | None = None) -> None:
        """Send a text-only message."""
        self.wire.pause(self.beat * 1.5)
        self._message([{"type": "text", "text": text}], parent)

    def use(
        self,
        tool: str,
        arguments: Mapping[str, object],
        work: Callable[[str], tools.Answer],
        *,
        words: str = "",
        parent: str | None = None,
    ) -> tuple[bool, str]:
        """Use a tool, after a short message; return whether it succeeded, and its answer.

        `work` receives the id of the tool call.
        """
        self.wire.pause(self.beat)
        tool_id = f"toolu_{uuid.uuid4().hex[:20]}"
        said: list[Mapping[str, object]] = [{"type": "text", "text": words}] if words else []
        call: Mapping[str, object] = {
            "type": "tool_use",
            "id": tool_id,
            "name": tool,
            "input": arguments,
        }
        self._message([*said, call], parent)
        self._open_tool = tool_id
        try:
            self.wire.pause(self.beat)
            text, structured = work(tool_id)
        except tools.ToolError as error:
            self._answer(tool_id, str(error), f"Error: {error}", parent, failed=True)
            return False, str(error)
        self._answer(tool_id, text, structured, parent)
        if parent is None:
            self.read_messages()
        return True, text

    def read_messages(self) -> None:
        """Read messages that the user has sent meanwhile."""
        while not self.wire.messages.empty():
            message = self.wire.messages.get()
            if message is None:
                self.wire.messages.put(None)
                return
            self._replay(*message)
            self.guided = True
            self.say("You sent me a note; I will follow it from now on.")

    def end(self, text: str) -> None:
        """End the turn normally, with `text` as the result."""
        self._result({
            "subtype": "success", "is_error": False, "terminal_reason": "completed",
            "result": text, "stop_reason": "end_turn",
        })  # fmt: skip

    def refuse(self, resets_at: float) -> None:
        """End the turn with a usage limit that lasts until `resets_at` (wall clock)."""
        window = {"status": "rejected", "utilization": 1, "resetsAt": int(resets_at)}
        self.wire.send("rate_limit_event", {"rate_limit_info": {
            "status": "rejected", "rateLimitType": "five_hour", "resetsAt": int(resets_at),
            "unifiedWindows": {"five_hour": window},
        }})  # fmt: skip
        self._result({
            "subtype": "success", "is_error": True, "terminal_reason": "api_error",
            "result": "The usage limit of the demo is reached",
            "api_error": "usage_limit_reached", "api_error_status": 429,
        })  # fmt: skip

    def overflow(self) -> None:
        """End the turn because nothing more fits into the context window."""
        self._result({
            "subtype": "success", "is_error": True, "terminal_reason": "prompt_too_long",
            "result": "Prompt is too long",
        })  # fmt: skip

    def end_interrupted(self) -> None:
        """End the turn after an interruption."""
        reason = "aborted_tools" if self._open_tool else "aborted_streaming"
        if self._open_tool:
            self._answer(self._open_tool, REJECTED, f"Error: {REJECTED}", None, failed=True)
        self._result({
            "subtype": "error_during_execution", "is_error": True, "terminal_reason": reason,
            "errors": ["interrupted"],
        })  # fmt: skip

    def _replay(self, text: str, message_id: str | None) -> None:
        message = {"role": "user", "content": text}
        self.wire.send("user", {"message": message, "parent_tool_use_id": None, "isReplay": True})
        self._new_tokens += round(len(text) * self._window.per_prompt_character)
        if message_id is not None:
            self.wire.receipt(message_id, "started")
            self._accepted.append(message_id)

    def _message(self, blocks: Sequence[Mapping[str, object]], parent: str | None) -> None:
        text = json.dumps(blocks)
        output = len(text) // 4
        read, written = (self.wire.context, self._new_tokens) if parent is None else (6_000, 800)
        if parent is None:
            if read + written + 12 > self._window.size:
                raise FullError
            self.wire.context += written + 12
            self._new_tokens = output
        usage = {"input_tokens": 12, "cache_creation_input_tokens": written,
                 "cache_read_input_tokens": read, "output_tokens": 1}  # fmt: skip
        self._totals["inputTokens"] += 12
        self._totals["outputTokens"] += output
        self._totals["cacheReadInputTokens"] += read
        self._totals["cacheCreationInputTokens"] += written
        self._cost += read * PRICES["read"] + written * PRICES["written"]
        self._cost += output * PRICES["output"]
        message_id = f"msg_{uuid.uuid4().hex[:20]}"
        for block in blocks:
            self.wire.send("assistant", {
                "message": {"id": message_id, "type": "message", "role": "assistant",
                            "model": MODEL, "content": [block], "stop_reason": None,
                            "usage": usage},
                "parent_tool_use_id": parent,
            })  # fmt: skip

    def _answer(
        self,
        tool_id: str,
        text: str,
        structured: object,
        parent: str | None,
        *,
        failed: bool = False,
    ) -> None:
        self._open_tool = ""
        if parent is None:
            self.turns += 1
            self._new_tokens += self._window.per_result
            self._new_tokens += round(len(text) * self._window.per_result_character)
        content = {"tool_use_id": tool_id, "type": "tool_result", "content": text,
                   "is_error": failed}  # fmt: skip
        self.wire.send("user", {
            "message": {"role": "user", "content": [content]},
            "parent_tool_use_id": parent, "tool_use_result": structured,
        })  # fmt: skip

    def _result(self, ending: dict[str, object]) -> None:
        for message_id in self._accepted:
            self.wire.receipt(message_id, "completed")
        self._accepted.clear()
        self._open_tool = ""
        cost = round(self._cost, 6)
        used = {**self._totals, "costUSD": cost, "contextWindow": self._window.size}
        self.wire.send("result", {
            "api_error_status": None, **ending, "num_turns": self.turns, "total_cost_usd": cost,
            "permission_denials": [], "result_index": self._results,
            "modelUsage": {MODEL: used},
        })  # fmt: skip
        self._results += 1


__all__ = ["Interrupted", "Session"]
