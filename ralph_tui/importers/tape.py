"""The transcript of an external run: the lines its sessions printed, each with the time it came.

It may hold one session, or all of them one after another. Where a session begins in it is told by
the session's first lines. Of a line no more is remembered than what it is known by, and its time.
"""

import re
from array import array
from collections.abc import Iterator
from hashlib import blake2b
from typing import BinaryIO

from ralph_tui.adapters.agents.json_fields import as_map
from ralph_tui.importers.fields import as_when
from ralph_tui.importers.folder import RunFiles
from ralph_tui.text.foreign_json import parse_json

MOST_LINES = 400_000
MOST_BYTES = 64 << 20
"""Of a transcript that are looked at for times."""
LONGEST_LINE = 4 << 20
FIRST = 3
"""Lines by which a session's beginning is found."""
LEAST = 2
"""Lines that a session must have to be found: sessions begin with the same one."""
SKIPPED = 6
"""Lines at a session's beginning that its transcript may lack: what is no event is not in it."""
NEAR = 40
"""Lines that an output may lack of its transcript at one place."""
_BLANKS = b" \t\r\n"
_STAMP = re.compile(
    rb',\s*"timestamp":\s*(?:"([^"\\]{1,40})"|(\d{1,16}))(?:,\s*"sessionId":\s*"[^"\\]{0,80}")?\s*\}$'
)
"""What the tool adds to the end of a line: when it came, and of which session it is."""
_UNKNOWN = 0.0


def key_of(line: bytes) -> int:
    """What a line is known by, whoever has written it down: blanks are left out."""
    told = line.translate(None, _BLANKS)
    return int.from_bytes(blake2b(told, digest_size=8).digest(), "big", signed=True)


class Tape:
    """Lines of a transcript by key and time."""

    def __init__(self, files: RunFiles, name: str, start: int = 0) -> None:
        """`start`: where in the file to begin, bytes."""
        self._keys = array("q")
        self._times = array("d")
        self._next = 0
        with files.opened(name) as file:
            if file is not None:
                file.seek(start)
                self._read(file)

    def _read(self, file: BinaryIO) -> None:
        left = MOST_BYTES
        while left > 0 and len(self._keys) < MOST_LINES:
            line = file.readline(LONGEST_LINE)
            if not line:
                return
            left -= len(line)
            if line.endswith(b"\n") and line.strip():
                bare, at = unstamped(line.rstrip())
                self._keys.append(key_of(bare))
                self._times.append(at)

    def times(self, keys: "array[int]") -> Iterator[float]:
        """Of a session with these lines when each came, epoch seconds; 0 where that is not known.

        Sessions are asked for in their order: each is looked for behind the one before it.
        """
        if len(keys) < LEAST:
            return
        windows = [list(keys[skip : skip + FIRST]) for skip in range(SKIPPED)]
        starts = map(self._find, [one for one in windows if len(one) >= min(FIRST, len(keys))])
        at = next((start for start in starts if start is not None), None)
        if at is None:
            return
        for key in keys:
            if (found := self._near(key, at)) is None:
                yield _UNKNOWN
            else:
                yield self._times[found]
                at = self._next = found + 1

    def _find(self, first: list[int]) -> int | None:
        """Where these lines stand one after the other, behind all sessions so far."""
        at = self._next
        while first:
            try:
                at = self._keys.index(first[0], at)
            except ValueError:
                return None
            if list(self._keys[at : at + len(first)]) == first:
                return at
            at += 1
        return None

    def _near(self, key: int, at: int) -> int | None:
        try:
            return self._keys.index(key, at, at + NEAR)
        except ValueError:
            return None


def unstamped(line: bytes) -> tuple[bytes, float]:
    """The line as it was printed, and when it came, epoch seconds."""
    match = _STAMP.search(line[-200:])
    if match is None:
        return line, _stamp_inside(line)
    at = as_when(match[1].decode("ascii", "replace") if match[1] else int(match[2]))
    bare = line[: len(line) - len(match[0])] + b"}"
    return bare, at.timestamp() if at else _UNKNOWN


def _stamp_inside(line: bytes) -> float:
    if b'"timestamp"' not in line:
        return _UNKNOWN
    try:
        at = as_when(as_map(parse_json(line)).get("timestamp"))
    except ValueError:
        return _UNKNOWN
    return at.timestamp() if at else _UNKNOWN
