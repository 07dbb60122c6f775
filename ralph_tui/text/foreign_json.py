"""Parser for all JSON from outside: records, agents, commands, servers, the user's files.

The only error is ``ValueError``, for any input. Python's own parser raises a different error for
deep nesting, and can return values that its serializer and recursive code cannot handle. Only the
standard library is used, because quick commands import this.
"""

import json
from typing import Any

DEEPEST = 100
"""Maximum nesting depth of arrays and objects; real data stays far below it."""

_NESTING = {dict, list}
_DECODER = json.JSONDecoder()
_YIELDING = json.JSONDecoder(object_hook=lambda value: value)
"""Lets other threads run after each object: otherwise they wait until the parser has finished."""
_LARGE = 1 << 20
"""Length in characters at which parsing would noticeably freeze a screen."""


def parse_json(text: str | bytes) -> Any:
    """Parse JSON text, replacing undecodable bytes. Raises ``ValueError``."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "replace")
    try:
        decoder = _YIELDING if len(text) > _LARGE else _DECODER
        return bounded(decoder.decode(text))
    except RecursionError:
        raise ValueError(f"nested deeper than {DEEPEST}") from None


def parse_json_at(text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins at `start`, and its end position. Raises ``ValueError``."""
    try:
        value, end = _DECODER.raw_decode(text, start)
        return bounded(value), end
    except RecursionError:
        raise ValueError(f"nested deeper than {DEEPEST}") from None


def bounded(value: Any) -> Any:
    """Return the value unchanged. Raises ``ValueError`` if it is nested too deeply."""
    level = [value] if type(value) in _NESTING else []
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _NESTING  # isinstance takes twice as long, and there may be millions
        ]
        if not level:
            return value
    raise ValueError(f"nested deeper than {DEEPEST}")
