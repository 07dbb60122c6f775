"""One HTTP request: bounded in time and size, its failures told in sentences without secrets.

httpx is imported here, when something is sent. Redirects are never followed: a token stays with
the host it was meant for.
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
"""Bytes of an answer that are read."""
LONGEST_PAUSE = 3600.0
"""Seconds that a server may ask to wait."""
_TOO_LONG = "takes longer than {:g} s to answer"

Then = Literal["retry", "mend", "drop"]


class UndeliveredError(Exception):
    """A message did not get through; the text is one sentence, without secrets."""

    def __init__(self, text: str, then: Then, after_s: float | None = None) -> None:
        """`then`: try again soon, not before the set-up is mended, or never.

        `after_s`: the seconds the server asked for.
        """
        super().__init__(text)
        self.then = then
        self.after_s = after_s


@dataclass(frozen=True)
class HttpResponse:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes | None
    """None: larger than what is read."""

    def json(self) -> object:
        """The body as JSON; None when it is none."""
        try:
            return parse_json(self.body or b"")
        except ValueError:
            return None

    def object(self) -> dict[str, Any]:
        """The body as a JSON object; empty when it is none."""
        value = self.json()
        return value if isinstance(value, dict) else {}

    def explanation(self) -> str:
        """What the server says is wrong, in parentheses; empty when it says nothing."""
        said = self.object().get("message")
        return f" ({clip(one_line(said), 200)})" if isinstance(said, str) and said else ""


@dataclass(frozen=True)
class Timeouts:
    """Seconds."""

    connect_s: float = 5.0
    silence_s: float = 10.0
    """Between two parts of an answer."""
    total_s: float = 15.0
    """For connecting and the whole answer."""


USUAL = Timeouts()


@dataclass(frozen=True)
class HttpService:
    """Requests to one service."""

    place: str
    """The service as sentences name it."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Never part of a sentence."""
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
        """Send one request; any answer but a "later" (408, 429, 5xx) is given back.

        Raises ``UndeliveredError``.
        """
        try:
            import httpx  # noqa: PLC0415  only who sends something pays for it
        except ImportError as error:
            raise UndeliveredError(
                f"httpx is not installed; {install_hint('notify')}", "mend"
            ) from error
        for name in ("httpx", "httpcore"):  # their log lines hold addresses and headers
            logging.getLogger(name).setLevel(logging.CRITICAL)
        limits = self.timeouts
        timeout = httpx.Timeout(limits.silence_s, connect=limits.connect_s)
        try:
            with (
                _Deadline(limits.total_s) as deadline,
                httpx.Client(timeout=timeout, verify=_trusted(), follow_redirects=False) as client,
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
            text = f"did not take a connection within {limits.connect_s:g} s"
            raise self._later(text) from error
        except httpx.TimeoutException as error:
            raise self._later(f"did not answer within {limits.silence_s:g} s") from error
        except (httpx.ConnectError, OSError) as error:
            reason = re.sub(r"\[[^]]*\] ?", "", str(error)) or type(error).__name__
            raise self._later(f"cannot be reached ({reason})") from error
        except httpx.HTTPError as error:
            if deadline.passed:
                raise self._later(_TOO_LONG.format(limits.total_s)) from error
            raise self._later(f"broke the connection off ({type(error).__name__})") from error
        except (ValueError, httpx.InvalidURL) as error:
            raise UndeliveredError(
                f"{self.place} cannot be spoken to: look at its address in the settings and at "
                "the proxy variables of the environment",
                "mend",
            ) from error
        if deadline.passed:
            raise self._later(_TOO_LONG.format(limits.total_s))
        return self._unless_later(answer)

    def _unless_later(self, answer: HttpResponse) -> HttpResponse:
        status, pause = answer.status, _asked_pause(answer.headers)
        if status in (408, 429) or (status == 403 and pause is not None):
            raise self._later(f"asks to wait (HTTP {status})", pause)
        if status >= 500:
            raise self._later(f"has a fault of its own (HTTP {status})", pause)
        return answer

    def _later(self, what: str, after_s: float | None = None) -> UndeliveredError:
        return UndeliveredError(self.safe(f"{self.place} {what}"), "retry", after_s)

    def safe(self, text: str) -> str:
        """One short line without our secrets, whatever a server put into it."""
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
def _trusted() -> "ssl.SSLContext":
    """The certificates that are trusted; reading them costs more than a request."""
    import httpx  # noqa: PLC0415  as above

    return httpx.create_ssl_context()


class _Deadline:
    """Ends a connection whose answer never ends: httpx counts its timeouts from byte to byte."""

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
        """See every step of the connection."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._socket = info["return_value"].get_extra_info("socket")
            if self.passed:  # a name's address may take its time to be found
                self._end()

    def _end(self) -> None:
        self.passed = True
        if self._socket is not None:
            with suppress(OSError):  # it has just ended by itself
                # Not the TLS socket's own: that one first forgets what its reader still needs.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _asked_pause(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server wants to be left alone for; None when it does not say."""
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
