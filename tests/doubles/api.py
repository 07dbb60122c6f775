"""A scripted Messages service on the loopback: plays a scenario to a real binary.

Requests that offer no tools, or ask for a summary, are side calls: they get an answer, but take
none from the script. Subagents are known by their first message.
"""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from tests.doubles import answering
from tests.doubles.answering import REFUSALS
from tests.doubles.scenario import Answer, Json, Scenario, Script

LONGEST_REQUEST = 64 << 20
COMPACTING = "will be rejected and you will fail the task"
"""Ends the last message of a request for a summary, which offers tools as any other."""
SIDE_ANSWER = Answer(text="<summary>The work so far.</summary>", output_tokens=10)


@dataclass(frozen=True)
class Request:
    """What the service was asked, and what it gave."""

    path: str
    stream: bool
    tools: int
    first: str
    last: str
    answer: str
    system: str = ""
    """The end of the system prompt."""


class Api:
    """The running service; use it as a context."""

    def __init__(self, scenario: Scenario, session: int = 0, *, port: int = 0) -> None:
        began = time.time()
        self._script = Script(scenario.answers(session), began)
        self._subagents = {key: Script(value, began) for key, value in scenario.subagents.items()}
        self._scenario = scenario
        self.asked: dict[str, int] = {}
        """How often each of the scripted questions was asked."""
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        self.ended = threading.Event()
        """Ends every silence."""
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.api = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def url(self) -> str:
        """The value for ``ANTHROPIC_BASE_URL``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

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

    def answer(self, path: str, body: Json) -> tuple[Answer, Script]:
        """What this request gets."""
        texts = [answering.text_of(message) for message in body.get("messages", [])] or [""]
        first = texts[0]
        script = next((s for key, s in self._subagents.items() if key in first), self._script)
        with self._lock:
            key = None if body.get("tools") else self._scenario.question("\n".join(texts))
            side = not body.get("tools") or COMPACTING in texts[-1]
            if key is not None:
                self.asked[key] = self.asked.get(key, 0) + 1
                answer = self._scenario.nth_answer(key, self.asked[key])
            elif side and not script.overflows:
                answer = SIDE_ANSWER
            else:
                answer = script.next(time.time())
            told = answer.fault or answer.text or "tools"
            self.requests.append(
                Request(
                    path,
                    bool(body.get("stream")),
                    len(body.get("tools", [])),
                    first[-200:],
                    texts[-1][-200:],
                    told,
                    json.dumps(body.get("system", ""))[-8000:],
                )
            )
        return answer, script


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    api: Api

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep standard error clean."""

    def do_HEAD(self) -> None:
        """Binaries look whether the service is there."""
        self._send(200, {})

    def do_GET(self) -> None:
        """Nothing else is served."""
        self._send(404, answering.refusal("not_found_error", "Not found"))

    def do_POST(self) -> None:
        """Messages, and counting their tokens."""
        length = min(int(self.headers.get("content-length", "0")), LONGEST_REQUEST)
        raw = self.rfile.read(length)
        body: Json = json.loads(raw or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._send(200, {"input_tokens": len(raw) // 4})
        elif path.endswith("/messages"):
            self._answer(path, body)
        else:
            self._send(404, answering.refusal("not_found_error", "Not found"))

    def _answer(self, path: str, body: Json) -> None:
        api = self.server.api
        answer, script = api.answer(path, body)
        api.ended.wait(answer.delay_s)
        if answer.fault == "drop":
            self.close_connection = True
            return
        if answer.fault and answer.fault != "error_event":
            status, kind, text = REFUSALS[answer.fault]
            headers = {"retry-after": answer.retry_after} if answer.retry_after else {}
            if answer.resets_in_s:
                headers |= answering.limit_headers(script.resets_at(answer))
            self._send(status, answering.refusal(kind, text), headers)
            return
        model = str(body.get("model", "model"))
        if not body.get("stream"):
            if answer.fault:
                self._send(529, answering.refusal("overloaded_error", "Overloaded"))
                return
            self._send(200, answering.message(answer, model))
            return
        self._stream(answering.events(answer, model), answer.stall_s)

    def _stream(self, events: Iterator[Json | None], stall_s: float) -> None:
        """Server-sent events in chunks; None among them is where a stall comes."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("request-id", answering.new_id("req"))
        self.end_headers()
        for event in events:
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
        self.send_header("request-id", answering.new_id("req"))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
