"""The protocol of the command socket: one JSON object per line, each with a version.

    request   {"version": 1, "command": {"name": "guide", "text": "...", "by": "..."}}
    answer    {"version": 1, "accepted": 123}    the number of the first event it caused
              {"version": 1, "refused": "why"}   one sentence; nothing has happened

A request to a fleet also names a loop: {"version": 1, "loop": "3a", "command": {...}}.

Standard library only, so that a command from another terminal takes no longer than starting Python.
"""

import json
from collections.abc import Mapping

from ralph_tui.base.errors import RalphError
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import clip, one_line

VERSION = 1
LIMIT = 2 << 20
"""Maximum size of a request in bytes: room for 100,000 characters of twelve bytes each in JSON."""
ANSWER_LIMIT = 1 << 16
"""Maximum size of an answer, in bytes."""
REASON_LIMIT = 500
"""Maximum length of a refusal, in characters."""


class RefusedError(RalphError):
    """The run has received a command but refused it; the text says why."""


def request_line(command: Mapping[str, object], loop: str | None = None) -> bytes:
    """Return a command's fields as a request; `loop` is the loop that it is for, in a fleet."""
    return _line({"command": command} | ({} if loop is None else {"loop": loop}))


def accepted_line(seq: int) -> bytes:
    """Return the answer to an accepted command; `seq` is that of the first event it caused."""
    return _line({"accepted": seq})


def refused_line(reason: str) -> bytes:
    """Return the answer to any other request."""
    return _line({"refused": clip(one_line(reason), REASON_LIMIT)})


def read_answer(line: bytes) -> int:
    """Return the `seq` of an acceptance.

    Raises ``RefusedError``, or ``ValueError`` if the line is not an answer in this version.
    """
    fields = parse_json(line)
    if not isinstance(fields, dict) or not is_version(fields.get("version")):
        raise ValueError("not an answer in this version")
    match fields:
        case {"accepted": int(seq)}:
            return seq
        case {"refused": str(reason)}:
            raise RefusedError(clip(one_line(reason), REASON_LIMIT))
    raise ValueError("neither accepted nor refused")


def is_version(value: object) -> bool:
    """True if this is our version of the protocol (to Python, true is 1)."""
    return type(value) is int and value == VERSION


def _line(fields: Mapping[str, object]) -> bytes:
    return json.dumps({"version": VERSION, **fields}, ensure_ascii=False).encode() + b"\n"
