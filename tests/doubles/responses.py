"""A scripted Responses service on the loopback: plays a scenario to Codex itself.

The tools of a scenario are those of the model it was written for; here they become what Codex
offers: a command, or a patch.
"""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.doubles.answering import REFUSALS, new_id
from tests.doubles.patches import PATCHES, command_of, patch_of
from tests.doubles.scenario import Answer, Json, Scenario, Script, ToolUse

LONGEST_REQUEST = 64 << 20


class Responses:
    """The running service; use it as a context."""

    def __init__(self, scenario: Scenario, root: Path, session: int = 0) -> None:
        """`root` is the project: patches name whole lines of its files."""
        self.root = root
        began = time.time()
        self._script = Script(scenario.answers(session), began)
        self._lock = threading.Lock()
        self.bodies: list[Json] = []
        """What was asked."""
        self.ended = threading.Event()
        """Ends every silence."""
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.api = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def url(self) -> str:
        """The value for ``base_url``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def answer(self, body: Json) -> tuple[Answer, Script]:
        """What this request gets."""
        with self._lock:
            self.bodies.append(body)
            return self._script.next(time.time()), self._script


def limit_headers(resets_at: int) -> dict[str, str]:
    """The headers of a subscription's windows, of which the first is used up."""
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
    told: Json = {"type": kind, "code": kind, "message": text}
    return {"error": {**told, "resets_at": resets_at} if resets_at else told}


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


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    api: Responses

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep standard error clean."""

    def do_GET(self) -> None:
        """Nothing else is served."""
        self._send(404, {"error": {"message": "Not found"}})

    def do_POST(self) -> None:
        """A call of the model."""
        length = min(int(self.headers.get("content-length", "0")), LONGEST_REQUEST)
        body: Json = json.loads(self.rfile.read(length) or b"{}")
        api = self.server.api
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
            self._send(REFUSALS[answer.fault][0], refusal(answer.fault, resets_at), headers)
            return
        self._stream(events(answer, api.root), answer.stall_s)

    def _stream(self, told: Iterator[Json | None], stall_s: float) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in told:
            if event is None:
                self.server.api.ended.wait(stall_s)
                continue
            data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _send(self, status: int, body: Json, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
