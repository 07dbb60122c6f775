"""The one way to read JSON of others: records, agents, commands, servers, files of the owner.

Whatever stands there, the only error is a ``ValueError``. Python's own reader raises another one
for what is nested deeply, and gives back values that its writer and its recursive readers fail on.
Standard library only: quick commands use it.
"""

import json
from typing import Any

DEEPEST = 100
"""Arrays and objects within each other; what people and programs write stays far below it."""

_NESTING = {dict, list}
_DECODER = json.JSONDecoder()


def parse_json(text: str | bytes) -> Any:
    """The value that a text is; bytes that are no text are replaced. Raises ``ValueError``."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "replace")
    try:
        return bounded(_DECODER.decode(text))
    except RecursionError:
        raise ValueError(f"nested deeper than {DEEPEST}") from None


def parse_json_at(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at `start`, and where it ends. Raises ``ValueError``."""
    try:
        value, end = _DECODER.raw_decode(text, start)
        return bounded(value), end
    except RecursionError:
        raise ValueError(f"nested deeper than {DEEPEST}") from None


def bounded(value: Any) -> Any:
    """The value, as it was read: raises ``ValueError`` for one that is nested deeply."""
    level = [value] if type(value) in _NESTING else []
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _NESTING  # there may be millions: isinstance takes twice as long
        ]
        if not level:
            return value
    raise ValueError(f"nested deeper than {DEEPEST}")
