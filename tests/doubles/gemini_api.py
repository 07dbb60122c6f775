"""A scripted Gemini service on the loopback: plays a scenario's answers to a real binary.

Calls without tools are side calls (which model is to answer, what a turn was about): they get an
answer, but take none from the script.
"""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from tests.doubles.scenario import Answer, Json, Script

SIDE_ANSWER = Answer(text='{"complexity_reasoning": "plain", "complexity_score": 10}')
REFUSALS = {
    "401": (401, "UNAUTHENTICATED", "API key not valid."),
    "404": (404, "NOT_FOUND", "models/nosuch is not found."),
    "429": (429, "RESOURCE_EXHAUSTED", "Too many requests."),
    "500": (500, "INTERNAL", "An internal error has occurred."),
}
DAILY = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
}


class GeminiApi:
    """The running service; use it as a context."""

    def __init__(self, *answers: Answer) -> None:
        self._script = Script(answers, time.time())
        self._lock = threading.Lock()
        self.prompts: list[str] = []
        """The last words of each call that was answered from the script."""
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.api = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def url(self) -> str:
        """The value for ``GOOGLE_GEMINI_BASE_URL``."""
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
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def answer(self, body: Json) -> Answer:
        """What this call gets."""
        if not body.get("tools"):
            return SIDE_ANSWER
        with self._lock:
            self.prompts.append(json.dumps(body.get("contents", [])[-1:])[-2000:])
            return self._script.next(time.time())


def chunk(answer: Answer) -> Json:
    """An answer as the service gives it, in one piece."""
    parts: list[Json] = [{"text": answer.text}] if answer.text else []
    parts += [{"functionCall": {"name": use.name, "args": use.input}} for use in answer.tools]
    total = answer.input_tokens + answer.output_tokens
    return {
        "candidates": [
            {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {
            "promptTokenCount": answer.input_tokens,
            "candidatesTokenCount": answer.output_tokens,
            "totalTokenCount": total,
        },
    }


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    api: GeminiApi

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep standard error clean."""

    def do_GET(self) -> None:
        """Nothing else is served."""
        self._send(404, {})

    def do_POST(self) -> None:
        """Content, streamed or not, and counting its tokens."""
        body: Json = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
        path = self.path.partition("?")[0]
        method = path.rpartition(":")[2].lower()
        if method == "counttokens":
            self._send(200, {"totalTokens": 1000})
            return
        answer = self.server.api.answer(body)
        if answer.fault:
            status, name, words = REFUSALS[answer.fault.partition(" ")[0]]
            details = [DAILY] if answer.fault.endswith("daily") else []
            error = {"code": status, "status": name, "message": words, "details": details}
            self._send(status, {"error": error})
        elif method.startswith("stream"):
            self._stream(iter([chunk(answer)]))
        else:
            self._send(200, chunk(answer))

    def _stream(self, events: Iterator[Json]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            data = f"data: {json.dumps(event)}\r\n\r\n".encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _send(self, status: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
