"""HTTP requests bounded in time and size, with errors that contain no secrets.

httpx is imported only when something is sent. Redirects are never followed, so that a token stays
with its host.
"""

import logging
import re
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Self

from ralph_tui import __version__
from ralph_tui.base.errors import install_hint
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.secrets import HIDDEN

if TYPE_CHECKING:
    import ssl

    import httpx

LARGEST_ANSWER = 1 << 20
"""Maximum size of an answer in bytes."""
LONGEST_PAUSE = 3600.0
"""Maximum pause in seconds that a server may request."""
_TOO_LONG = "takes longer than {:g} s to answer"

NextStep = Literal["retry", "mend", "drop"]


class UndeliveredError(Exception):
    """A message was not delivered; the text is one sentence without secrets."""

    def __init__(self, text: str, then: NextStep, after_s: float | None = None) -> None:
        """`then` says whether to retry soon, wait until the set-up is fixed, or drop the message.

        `after_s` is the pause in seconds that the server requested.
        """
        super().__init__(text)
        self.then = then
        self.after_s = after_s


@dataclass(frozen=True)
class HttpResponse:
    """A server's answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes | None
    """None if it is too large."""

    def json(self) -> object:
        """Return the body as JSON; None if it is not valid JSON."""
        try:
            return parse_json(self.body or b"")
        except ValueError:
            return None

    def object(self) -> dict[str, Any]:
        """Return the body as a JSON object; empty if it is not one."""
        value = self.json()
        return value if isinstance(value, dict) else {}

    def explanation(self) -> str:
        """Return the server's error message in parentheses; empty if there is none."""
        said = self.object().get("message")
        return f" ({clip(one_line(said), 200)})" if isinstance(said, str) and said else ""


@dataclass(frozen=True)
class Timeouts:
    """Timeouts in seconds."""

    connect_s: float = 5.0
    silence_s: float = 10.0
    """Maximum wait between two parts of an answer."""
    total_s: float = 15.0
    """Maximum time for the connection and the whole answer."""


USUAL = Timeouts()


@dataclass(frozen=True)
class HttpService:
    """Requests to one service."""

    place: str
    """The service's name in messages."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts that must never appear in a message."""
    timeouts: Timeouts = USUAL

    def call(
        self,
        method: str,
        url: str,
        *,
        body: object = None,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> HttpResponse:
        """Send one request and return the answer, unless it means "later" (408, 429, 5xx).

        Raises ``UndeliveredError``.
        """
        try:
            import httpx  # noqa: PLC0415  only senders need it
        except ImportError as error:
            raise UndeliveredError(
                f"httpx is not installed; {install_hint('notify')}", "mend"
            ) from error
        for name in ("httpx", "httpcore"):  # their log lines contain addresses and headers
            logging.getLogger(name).setLevel(logging.CRITICAL)
        limits = self.timeouts
        timeout = httpx.Timeout(limits.silence_s, connect=limits.connect_s)
        try:
            with (
                _Deadline(limits.total_s) as deadline,
                httpx.Client(
                    timeout=timeout, verify=_load_certificates(), follow_redirects=False
                ) as client,
                client.stream(
                    method,
                    url,
                    json=body,
                    params=params,
                    headers={
                        "User-Agent": f"ralph-tui/{__version__}",
                        "Accept-Encoding": "identity",
                        **self.headers,
                        **(headers or {}),
                    },
                    extensions={"trace": deadline.watch},
                ) as response,
            ):
                answer = HttpResponse(response.status_code, response.headers, _read(response))
        except httpx.ConnectTimeout as error:
            text = f"did not accept a connection within {limits.connect_s:g} s"
            raise self._retry_error(text) from error
        except httpx.TimeoutException as error:
            raise self._retry_error(f"did not answer within {limits.silence_s:g} s") from error
        except (httpx.ConnectError, OSError) as error:
            reason = re.sub(r"\[[^]]*\] ?", "", str(error)) or type(error).__name__
            raise self._retry_error(f"cannot be reached ({reason})") from error
        except httpx.HTTPError as error:
            if deadline.passed:
                raise self._retry_error(_TOO_LONG.format(limits.total_s)) from error
            raise self._retry_error(f"closed the connection ({type(error).__name__})") from error
        except (ValueError, httpx.InvalidURL) as error:
            raise UndeliveredError(
                f"{self.place} cannot be reached; check its address in the settings and the "
                "proxy environment variables",
                "mend",
            ) from error
        if deadline.passed:
            raise self._retry_error(_TOO_LONG.format(limits.total_s))
        return self._check_later(answer)

    def _check_later(self, answer: HttpResponse) -> HttpResponse:
        status, pause = answer.status, _requested_pause(answer.headers)
        if status in (408, 429) or (status == 403 and pause is not None):
            raise self._retry_error(f"asks to wait (HTTP {status})", pause)
        if status >= 500:
            raise self._retry_error(f"has a server error (HTTP {status})", pause)
        return answer

    def _retry_error(self, what: str, after_s: float | None = None) -> UndeliveredError:
        return UndeliveredError(self.safe(f"{self.place} {what}"), "retry", after_s)

    def safe(self, text: str) -> str:
        """Return text from a server as one short line without our secrets."""
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        return clip(one_line(text), 500)


def _read(response: "httpx.Response") -> bytes | None:
    body = b""
    for part in response.iter_raw():
        body += part
        if len(body) > LARGEST_ANSWER:
            return None
    return body


@cache
def _load_certificates() -> "ssl.SSLContext":
    """Return the trusted certificates; reading them takes longer than a request."""
    import httpx  # noqa: PLC0415  as above

    return httpx.create_ssl_context()


class _Deadline:
    """Ends a connection whose answer never ends; httpx restarts its timeout with each byte."""

    def __init__(self, seconds: float) -> None:
        self.passed = False
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """Note the connection's socket as soon as it exists."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._socket = info["return_value"].get_extra_info("socket")
            if self.passed:  # resolving a name may take a long time
                self._end()

    def _end(self) -> None:
        self.passed = True
        if self._socket is not None:
            with suppress(OSError):  # the connection has just ended
                # Not the TLS socket's own shutdown, which first drops state that its reader still
                # needs.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _requested_pause(headers: Mapping[str, str]) -> float | None:
    """Return the pause in seconds that the server requests; None if it requests none."""
    wanted = headers.get("retry-after", "").strip()
    pause: float | None = None
    if wanted.isascii() and wanted.isdigit():
        pause = float(wanted[:9])
    elif wanted:
        try:
            until = parsedate_to_datetime(wanted)
        except ValueError:
            return None
        pause = until.timestamp() - datetime.now(UTC).timestamp()
    elif headers.get("x-ratelimit-remaining") == "0":
        reset = headers.get("x-ratelimit-reset", "")
        if reset.isascii() and reset.isdigit():
            pause = float(reset[:12]) - datetime.now(UTC).timestamp()
    return None if pause is None else min(max(pause, 1.0), LONGEST_PAUSE)
