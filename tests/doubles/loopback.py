"""Base of the scripted services: a loopback server, and how it sends answers."""

import json
import threading
from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Generic, Self, TypeVar

from tests.doubles.scenario import Json

LONGEST_REQUEST = 64 << 20

S = TypeVar("S", bound="Service")


class Service:
    """A service that runs as long as its context is open."""

    PATH = ""
    """Suffix of its address."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int = 0) -> None:
        """`handler` answers its requests; `port`: 0 for one that is free."""
        self.lock = threading.Lock()
        """Guards the script, as requests arrive concurrently."""
        self.ended = threading.Event()
        """Ends every silence."""
        self._server = _Server(("127.0.0.1", port), handler)
        self._server.service = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def url(self) -> str:
        """The address given to clients."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{self.PATH}"

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


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    service: Service

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect."""


class Handler(BaseHTTPRequestHandler, Generic[S]):
    """One request to a service."""

    protocol_version = "HTTP/1.1"
    server: _Server
    NOT_FOUND: Json = {"error": {"message": "Not found"}}

    @property
    def service(self) -> S:
        return self.server.service  # type: ignore[return-value]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep standard error clean."""

    def do_GET(self) -> None:
        """Refuse everything else."""
        self.send(404, self.NOT_FOUND)

    def do_HEAD(self) -> None:
        """Agents look whether the service is there."""
        self.send(200, {})

    def do_POST(self) -> None:
        self.post()

    def post(self) -> None:
        """Answer a call."""
        raise NotImplementedError

    def read_body(self) -> bytes:
        """The body of the request."""
        length = min(int(self.headers.get("content-length", "0")), LONGEST_REQUEST)
        return self.rfile.read(length)

    def further_headers(self) -> Mapping[str, str]:
        """Headers of every answer besides content type and length."""
        return {}

    def stream(self, pieces: Iterable[bytes | None], stall_s: float = 0.0) -> None:
        """Server-sent events in chunks; None among them is where a stall comes."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self._send_further()
        self.end_headers()
        for data in pieces:
            if data is None:
                self.service.ended.wait(stall_s)
                continue
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def send(self, status: int, body: Json, headers: Mapping[str, str] | None = None) -> None:
        """An answer in one piece."""
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self._send_further(headers)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_further(self, headers: Mapping[str, str] | None = None) -> None:
        for name, value in {**self.further_headers(), **(headers or {})}.items():
            self.send_header(name, value)


def event(fields: Json) -> bytes:
    """An event that is named by its ``type``, as it goes over the wire."""
    return f"event: {fields['type']}\ndata: {json.dumps(fields)}\n\n".encode()
