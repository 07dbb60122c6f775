"""A scripted Responses service on the loopback: plays a scenario to Codex itself.

The tools of a scenario are those of the model it was written for; here they become what Codex
offers: a command, or a patch.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path

from tests.doubles.answering import REFUSALS, new_id
from tests.doubles.loopback import Handler, Service, event
from tests.doubles.patches import PATCHES, command_of, patch_of
from tests.doubles.scenario import Answer, Json, Scenario, Script, ToolUse


class Responses(Service):
    """The running service; use it as a context."""

    PATH = "/v1"

    def __init__(self, scenario: Scenario, root: Path, session: int = 0) -> None:
        """`root` is the project: patches name whole lines of its files."""
        super().__init__(_Handler)
        self.root = root
        self._script = Script(scenario.answers(session), time.time())
        self.bodies: list[Json] = []

    def answer(self, body: Json) -> tuple[Answer, Script]:
        """The response to a request."""
        with self.lock:
            self.bodies.append(body)
            return self._script.next(time.time()), self._script


def limit_headers(resets_at: int) -> dict[str, str]:
    """Headers of a subscription's windows; the first window is used up."""
    return {
        "x-codex-primary-used-percent": "100",
        "x-codex-primary-window-minutes": "300",
        "x-codex-primary-reset-at": str(resets_at),
    }


def refusal(fault: str, resets_at: int) -> Json:
    """The body of an error."""
    _, kind, text = REFUSALS[fault]
    if fault == "overflow":
        kind = "context_length_exceeded"
    if resets_at:
        kind = "usage_limit_reached"
    fields: Json = {"type": kind, "code": kind, "message": text}
    return {"error": {**fields, "resets_at": resets_at} if resets_at else fields}


def events(answer: Answer, root: Path) -> Iterator[Json | None]:
    """An answer as events; None stands where a stall comes."""
    about = {"id": new_id("resp"), "object": "response", "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": about}
    yield None
    output = list(_items(answer, root))
    for index, item in enumerate(output):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        if item["type"] == "message":
            delta = {"item_id": item["id"], "content_index": 0, "delta": answer.text}
            yield {"type": "response.output_text.delta", "output_index": index, **delta}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    tokens = answer.input_tokens + answer.cached_tokens
    usage = {
        "input_tokens": tokens,
        "input_tokens_details": {"cached_tokens": answer.cached_tokens},
        "output_tokens": answer.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens + answer.output_tokens,
    }
    completed = {**about, "status": "completed", "output": output, "usage": usage}
    yield {"type": "response.completed", "response": completed}


def _items(answer: Answer, root: Path) -> Iterator[Json]:
    if answer.text:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        about = {"type": "message", "role": "assistant", "status": "completed"}
        yield {"id": new_id("msg"), **about, "content": content}
    for tool in answer.tools:
        yield _call(tool, root)


def _call(tool: ToolUse, root: Path) -> Json:
    number = {"id": new_id("fc"), "call_id": new_id("call"), "status": "completed"}
    if tool.name in PATCHES:
        patch = patch_of(tool, root)
        return {**number, "type": "custom_tool_call", "name": "apply_patch", "input": patch}
    arguments = {"cmd": command_of(tool), **tool.input.get("codex", {})}
    given = {"name": "exec_command", "arguments": json.dumps(arguments)}
    return {**number, "type": "function_call", **given}


class _Handler(Handler[Responses]):
    def post(self) -> None:
        """A call of the model."""
        body: Json = json.loads(self.read_body() or b"{}")
        api = self.service
        answer, script = api.answer(body)
        api.ended.wait(answer.delay_s)
        if answer.fault == "drop":
            self.close_connection = True
            return
        if answer.fault:
            resets_at = script.resets_at(answer) if answer.resets_in_s else 0
            headers = limit_headers(resets_at) if resets_at else {}
            if answer.retry_after:
                headers["retry-after"] = answer.retry_after
            self.send(REFUSALS[answer.fault][0], refusal(answer.fault, resets_at), headers)
            return
        pieces = (event(one) if one else None for one in events(answer, api.root))
        self.stream(pieces, answer.stall_s)
