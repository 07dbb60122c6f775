"""A command's output on its way to a log: secrets out, size bounded, memory bounded.

Output may be hundreds of megabytes. Only lines that could hold a secret, found by a few fast
searches, go through `redact`; the rest passes as the bytes it came as.
"""

import contextlib
import os
import re
from collections import deque
from pathlib import Path
from typing import BinaryIO

from ralph_tui.errors import NO_ROOM, why
from ralph_tui.plain_files import emptied
from ralph_tui.text.sanitize import HIDDEN, redact, secrets_of

LOG_LIMIT = 256 * 1024 * 1024
"""Bytes of a log before its middle is left out."""
TAIL_LIMIT = 1024 * 1024
"""Bytes kept of the end, where runners print their summaries."""
HOLD_LIMIT = 64 * 1024
"""Bytes of an unfinished line, or of a private key, that wait for their rest."""

_GAP = rb"[\s\x1c-\x1f\x80-\xff]*"
"""Blanks as text knows them, in UTF-8."""

_SHAPES = tuple(
    re.compile(shape, re.DOTALL)
    for shape in (
        rb"sk-[a-z0-9_-]{16}",
        rb"pk-[a-z0-9_-]{16}",
        rb"rk-[a-z0-9_-]{16}",
        rb"gh[opusr]_[a-z0-9]{20}",
        rb"github_pat_",
        rb"glpat-",
        rb"xox[abposr]-",
        rb"akia[0-9a-z]{16}",
        rb"asia[0-9a-z]{16}",
        rb"aiza[0-9a-z_-]{35}",
        rb"npm_[a-z0-9]{30}",
        rb"pypi-[a-z0-9_-]{30}",
        rb"eyj[a-z0-9_-]{8}",
        rb"-----begin [a-z ]*private key-----.*?(?:private key-----|\Z)",
        rb"authorization[\"']?" + _GAP + rb"[:=]",
        rb"bearer[\s\x1c-\x1f\x80-\xff]",
        rb"api[_-]?key[\"']?" + _GAP + rb"[:=]",
        rb"secret[\"']?" + _GAP + rb"[:=]",
        rb"token[\"']?" + _GAP + rb"[:=]",
        rb"passw(?:or)?d[\"']?" + _GAP + rb"[:=]",
        rb"://[^/\s:@]{0,64}:[^/\s@]+@",
    )
)
"""Wider than the patterns of `redact`, on lower-cased bytes; each begins with letters, since a
search for a fixed beginning is the fast one."""

_OPEN = re.compile(
    rb"(?i)(?:[:=]|bearer|basic|token|key|secret|passw(?:or)?d|authorization)[\"'\s]*\Z"
)
"""The end of a text whose very next word may be a secret."""
_KEY_BEGIN = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_KEY_END = re.compile(rb"-----END [A-Z ]*PRIVATE KEY-----")
_BLANK = rb"\s\x1c-\x1f\x80-\xff"
_REST = re.compile(rb"[^\n]*(?:[" + _BLANK + rb"]*[^" + _BLANK + rb"][^\n]*){0,2}\n?")
"""The rest of a line and the two after it that say something: a name may stand above its value."""


def redact_bytes(data: bytes) -> bytes:
    """As `redact`, for bytes of any encoding; lines without a secret stay as they are."""
    for secret in secrets_of(os.environ):
        data = data.replace(os.fsencode(secret), HIDDEN.encode())
    lower = data.lower()
    spots = sorted(match.span() for shape in _SHAPES for match in shape.finditer(lower))
    parts: list[bytes] = []
    done = 0
    for begin, end in _lines_around(spots, data):
        parts.append(data[done:begin])
        text = data[begin:end].decode("utf-8", "surrogateescape")
        parts.append(redact(text).encode("utf-8", "surrogateescape"))
        done = end
    return b"".join([*parts, data[done:]]) if parts else data


def _lines_around(spots: list[tuple[int, int]], data: bytes) -> list[tuple[int, int]]:
    """Whole lines around each spot and a little more, joined where they touch."""
    spans: list[tuple[int, int]] = []
    for begin, end in spots:
        first = data.rfind(b"\n", 0, begin) + 1
        rest = _REST.match(data, end)
        last = rest.end() if rest else end
        if spans and first <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(last, spans[-1][1]))
        else:
            spans.append((first, last))
    return spans


def safe_cut(data: bytes) -> int:
    """Where `data` may be cut with no secret across the cut; 0 when it must wait for more."""
    end = data.rfind(b"\n") + 1
    *_, key = [0, *(match.start() for match in _KEY_BEGIN.finditer(data))]
    if data.startswith(b"-----BEGIN", key) and not _KEY_END.search(data, key, end):
        end = min(end, data.rfind(b"\n", 0, key) + 1)
    for _ in range(16):
        if not end or not _OPEN.search(data, max(0, end - 256), end):
            break
        end = data.rfind(b"\n", 0, end - 1) + 1
    if len(data) - end <= HOLD_LIMIT:
        return end
    # A line without end: between two words, or, in a word of kilobytes, anywhere.
    for blank in reversed([match.end() for match in re.finditer(rb"[\s,;]", data[-4096:])]):
        place = len(data) - min(4096, len(data)) + blank
        if not _OPEN.search(data, max(0, place - 256), place):
            return place
    return len(data)


class CappedLog:
    """A log file that keeps the first `limit` bytes and the last `TAIL_LIMIT`, redacted.

    A full disk does not stop it: `failure` then says why, and the tail is still in memory.
    """

    def __init__(self, path: Path, limit: int = LOG_LIMIT) -> None:
        self.failure = ""
        self.full = False
        """Whether it failed because the disk or the quota is full."""
        self.lines = 0
        """Line ends so far."""
        self._room = limit
        self._left_out = 0
        self._held = b""
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._file: BinaryIO | None = None
        try:
            self._file = emptied(path)
        except OSError as error:
            self._fail(error)

    def write(self, data: bytes) -> None:
        """Take the next piece of output; at most `HOLD_LIMIT` and a line wait for the next."""
        data = self._held + data
        cut = safe_cut(data)
        self._held = data[cut:]
        if cut:
            self._keep(redact_bytes(data[:cut]))

    def close(self) -> None:
        """Write what waited, and the end of the output behind a line that says what is missing."""
        if self._held:
            self._keep(redact_bytes(self._held))
            self._held = b""
        tail = self.tail()
        if self._left_out and self._file is not None:
            rest = tail[-self._left_out :]
            missing = self._left_out - len(rest)
            if missing:
                self._put(b"\n[ralph-tui: %d bytes of output are left out here]\n" % missing)
            self._put(rest)
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def tail(self) -> bytes:
        """The end of the output so far, at most `TAIL_LIMIT` bytes, from the start of a line on."""
        text = b"".join(self._tail)
        if len(text) <= TAIL_LIMIT:
            return text
        text = text[-TAIL_LIMIT:]
        return text[text.find(b"\n") + 1 :]

    def _keep(self, data: bytes) -> None:
        self.lines += data.count(b"\n")
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) > TAIL_LIMIT:
            self._tail_size -= len(self._tail.popleft())
        head = data[: self._room]
        self._room -= len(head)
        self._left_out += len(data) - len(head)
        self._put(head)

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view and self._file is not None:
                view = view[self._file.write(view) or 0 :]
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.failure = self.failure or why(error, "free some space")
        self.full = self.full or error.errno in NO_ROOM
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
        self._file = None
