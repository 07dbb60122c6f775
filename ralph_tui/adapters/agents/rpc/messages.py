"""Line-delimited JSON-RPC: parsing and writing messages. Pure.

Parsing is lenient: ``jsonrpc`` may be missing, parameters may have any shape, and any other line is
noise, never an error. Both sides number their requests from 0, so an id alone does not say whose
request it is.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.json_fields import as_map, as_text
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]
Id = int | str

NO_METHOD = -32601
"""Error code for a request with an unknown method."""
SHOWN = 80
"""Maximum number of characters to show from a line that is not a message."""


@dataclass(frozen=True)
class Request:
    """A request from the other side, which expects an answer."""

    id: Id
    method: str
    params: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Notification:
    """A message from the other side that needs no answer."""

    method: str
    params: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """Why a request was refused."""

    code: int = 0
    message: str = ""
    data: object = None
    """Data added by the other side: often an object, sometimes a string."""


@dataclass(frozen=True)
class Response:
    """The answer to one of our requests."""

    id: Id
    result: object = None
    failure: Failure | None = None
    """Set if the request was refused."""


@dataclass(frozen=True)
class Noise:
    """A line that is not a message."""

    shown: str
    """Its beginning, for display."""


Message = Request | Notification | Response | Noise


def read_message(line: str) -> Message:
    """Parse one line; never raises."""
    try:
        fields = as_map(parse_json(line))
    except ValueError:
        fields = {}
    identifier = _id(fields.get("id"))
    if method := as_text(fields.get("method")):
        params = as_map(fields.get("params"))
        if identifier is None:
            return Notification(method, params)
        return Request(identifier, method, params)
    if identifier is not None and fields.get("error") is not None:
        return Response(identifier, failure=_failure(fields["error"]))
    if identifier is not None and "result" in fields:
        return Response(identifier, fields["result"])
    return Noise(shorten(line, SHOWN))


def written(version: str, **fields: object) -> bytes:
    """Return a message as a line; `version` is its ``jsonrpc`` field, omitted if empty."""
    message = {"jsonrpc": version, **fields} if version else fields
    # ASCII, so that lone surrogates of a file name in a prompt survive as escapes.
    return json.dumps(message).encode("ascii") + b"\n"


def _id(value: object) -> Id | None:
    return value if type(value) in (int, str) else None  # type: ignore[return-value]


def _failure(error: object) -> Failure:
    fields = as_map(error)
    code = fields.get("code")
    message = as_text(fields.get("message")) or as_text(error)
    return Failure(code if type(code) is int else 0, message, fields.get("data"))
