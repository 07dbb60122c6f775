"""The language of the command socket: one JSON object per line, a version in each.

    request   {"version": 1, "command": {"name": "guide", "text": "...", "by": "..."}}
    answer    {"version": 1, "accepted": 123}    the number of the first event that it caused
              {"version": 1, "refused": "why"}   one sentence; nothing has happened

A request to a fleet names a loop beside: {"version": 1, "loop": "3a", "command": {...}}.

Standard library only: a command of another terminal is as fast as Python starts.
"""

import json
from collections.abc import Mapping

from ralph_tui.base.errors import RalphError
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import clip, one_line

VERSION = 1
LIMIT = 2 << 20
"""Bytes of a request: 100 000 characters fit, even where JSON spells each with twelve."""
ANSWER_LIMIT = 1 << 16
"""Bytes of an answer."""
REASON_LIMIT = 500
"""Characters of a refusal."""


class RefusedError(RalphError):
    """The run heard a command and did not obey; the text says why."""


def request_line(command: Mapping[str, object], loop: str | None = None) -> bytes:
    """A command's fields as a request; `loop`: of a fleet, whom it is for."""
    return _line({"command": command} | ({} if loop is None else {"loop": loop}))


def accepted_line(seq: int) -> bytes:
    """The answer to a command that was obeyed; `seq` of the first event that it caused."""
    return _line({"accepted": seq})


def refused_line(reason: str) -> bytes:
    """The answer to everything else."""
    return _line({"refused": clip(one_line(reason), REASON_LIMIT)})


def read_answer(line: bytes) -> int:
    """The `seq` of an acceptance.

    Raises ``RefusedError``, or ``ValueError`` when this is no answer of this version.
    """
    fields = parse_json(line)
    if not isinstance(fields, dict) or not is_version(fields.get("version")):
        raise ValueError("no answer of this version")
    match fields:
        case {"accepted": int(seq)}:
            return seq
        case {"refused": str(reason)}:
            raise RefusedError(clip(one_line(reason), REASON_LIMIT))
    raise ValueError("neither accepted nor refused")


def is_version(value: object) -> bool:
    """Whether this is the version spoken here (to Python, true is 1)."""
    return type(value) is int and value == VERSION


def _line(fields: Mapping[str, object]) -> bytes:
    return json.dumps({"version": VERSION, **fields}, ensure_ascii=False).encode() + b"\n"
