"""A command's output on its way to a log: secrets removed, size and memory bounded.

Output may be hundreds of megabytes. Text without a hint of a secret passes unchanged; for the rest,
`BoundedWork` limits the time. Beyond that limit, only the end of the output is kept until there is
time again or the output ends. Everything before it is left out.
"""

import contextlib
import os
import re
from collections import deque
from pathlib import Path
from typing import BinaryIO

from ralph_tui.adapters.processes.bounded_work import TOO_MUCH, BoundedWork
from ralph_tui.base.errors import NO_ROOM, why
from ralph_tui.base.plain_files import open_emptied, reading, write_whole
from ralph_tui.text.secrets.lines import LineFilter

LOG_LIMIT = 256 * 1024 * 1024
"""Size of a log, in bytes, above which its middle is left out."""
KEPT_LIMIT = 1024 * 1024
"""Bytes kept at each end of a log once its tests have been counted."""
TAIL_LIMIT = 1024 * 1024
"""Bytes kept from the end, where test runners print their summaries."""
HOLD_LIMIT = 64 * 1024
"""Maximum number of bytes kept of an unfinished line, or of an end that is not searchable yet."""
BLOCK = 4 * 1024
"""Bytes searched at once; a block without a hint of a secret costs one search."""

_BLANK = re.compile(rb"[\s,;]")


def shorten(log: Path) -> None:
    """Keep only the two ends of a log that has been read, because a run has one per iteration."""
    try:
        with reading(log) as file:
            size = file.seek(0, os.SEEK_END)
            if size <= 2 * KEPT_LIMIT:
                return
            file.seek(0)
            head = file.read(KEPT_LIMIT)
            file.seek(-KEPT_LIMIT, os.SEEK_END)
            tail = file.read()
        head, tail = head[: head.rfind(b"\n") + 1] or head, tail[tail.find(b"\n") + 1 :]
        note = b"\n[ralph-tui: %d bytes of output are left out here]\n"
        write_whole(log, head + note % (size - len(head) - len(tail)) + tail)
    except OSError:
        return  # The log keeps its full length.


class CappedLog:
    """A log file that keeps the first `limit` bytes and the last `TAIL_LIMIT`, redacted.

    A full disk does not stop it: `failure` then contains the reason, and the tail stays in memory.
    """

    def __init__(self, path: Path, limit: int = LOG_LIMIT) -> None:
        self.failure = ""
        self.full = False
        """True if it failed because the disk or the quota is full."""
        self.lines = 0
        """Number of line ends so far."""
        self.unread = 0
        """Bytes left out so far because there was no time to search them."""
        self._room = limit
        self._left_out = 0
        self._held: list[bytes] = []
        """Pieces of an unfinished line or, beyond the time limit, the end of the output."""
        self._held_size = 0
        self._clean = LineFilter()
        self._work = BoundedWork()
        self._hurried = False
        self._gap = 0
        """Number of bytes left out before the pending pieces."""
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._file: BinaryIO | None = None
        try:
            self._file = open_emptied(path)
        except OSError as error:
            self._fail(error)

    def write(self, data: bytes) -> None:
        """Take the next piece of output; holds back at most twice `HOLD_LIMIT` bytes."""
        if self._hurried or self._work.spent:
            self._hold(data)
            self._drop_middle()
            return
        whole = data.rfind(b"\n") + 1
        self._hold(data[:whole])
        if whole:
            self._release()
        self._hold(data[whole:])
        if self._held_size > HOLD_LIMIT:
            # An endless line is split between two words or, in a word of many kilobytes, anywhere.
            held = b"".join(self._held)
            blanks = _BLANK.finditer(held, max(0, len(held) - 4096))
            *_, place = [len(held), *(blank.end() for blank in blanks)]
            self._held = [held[:place]]
            self._release()
            self._hold(held[place:])

    def hurry(self) -> None:
        """Keep only the end of the output from now on, because the caller is waiting for it."""
        self._hurried = True

    def close(self) -> None:
        """Write the pending output, a note about what is missing, then the end of the output."""
        self._release()
        if self._gap:
            self._note_gap()
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
        """Return the end of the output so far, at most `TAIL_LIMIT` bytes, from a line start."""
        text = b"".join(self._tail)
        if len(text) <= TAIL_LIMIT:
            return text
        text = text[-TAIL_LIMIT:]
        return text[text.find(b"\n") + 1 :]

    def _hold(self, data: bytes) -> None:
        if data:
            self._held.append(data)
            self._held_size += len(data)

    def _drop_middle(self) -> None:
        if self._held_size > 2 * HOLD_LIMIT:
            held = b"".join(self._held)
            self._gap += len(held) - HOLD_LIMIT
            self._held, self._held_size = [held[-HOLD_LIMIT:]], HOLD_LIMIT

    def _release(self) -> None:
        """Write the waiting pieces, without secrets."""
        data, self._held, self._held_size = b"".join(self._held), [], 0
        if self._gap:
            data = self._after_gap(data)
        begin = 0
        while begin < len(data):
            end = data.find(b"\n", begin + BLOCK) + 1 or len(data)
            text = data[begin:end].decode("utf-8", "surrogateescape")
            if self._clean.is_clean(text):
                self._keep(data[begin:end])
            else:
                with self._work.working():
                    text = self._clean.block(text)
                self._keep(text.encode("utf-8", "surrogateescape"))
            begin = end

    def _after_gap(self, data: bytes) -> bytes:
        """Return the part of `data` that may be kept after a gap.

        The rest of the cut line and the line after it are dropped, because the name of a secret in
        them may be in the gap.
        """
        line = data.find(b"\n") + 1
        words = len(data) - len(data[line:].lstrip())
        begin = data.find(b"\n", words) + 1 if line else 0
        if not begin:
            self._gap += len(data)
            return b""
        self._gap += begin
        self._note_gap()
        self._clean.skip()
        return data[begin:]

    def _note_gap(self) -> None:
        left_out = f"{self._gap} bytes of output are left out here: {TOO_MUCH}"
        self._keep(f"\n[ralph-tui: {left_out}]\n".encode())
        self.unread += self._gap
        self._gap = 0

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
