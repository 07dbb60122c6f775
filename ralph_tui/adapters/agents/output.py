"""Output of a process: chunks from its pipe, split into lines, saved in a transcript.

`chunks` returns occasional output at once, and heavy output as fast as possible. Waking up for each
of 200 lines per second costs several times as much as processing them, so small pieces in quick
succession are collected for less than one frame of the screen. `BoundedLines` limits the time spent
on lines, so that an agent that prints endlessly does not delay the end of its session.
"""

import os
import selectors
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from ralph_tui.adapters.processes.bounded_work import TOO_MUCH, BoundedWork
from ralph_tui.base.plain_files import open_append, write_all
from ralph_tui.text.format import count
from ralph_tui.text.secrets.lines import LineFilter

CHUNK = 256 * 1024
REST_S = 0.03
"""Seconds to pause so that small pieces are read together."""
MAX_QUICK_PIECES = 8
"""Number of quick small pieces before collecting starts, so that a greeting is not delayed."""
ENOUGH_BYTES = 16 * 1024
"""Size in bytes at which a piece is followed by no pause, so that the pipe does not stay full."""


def chunks(
    descriptor: int,
    idle_after_s: Callable[[], float | None],
    *,
    monotonic: Callable[[], float] = time.monotonic,
    rest: Callable[[float], None] = time.sleep,
) -> Iterator[bytes | None]:
    """Yield bytes until the pipe is closed, and None after each `idle_after_s` without output."""
    in_a_row, came = 0, float("-inf")
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            if not selector.select(idle_after_s()):
                yield None
                continue
            chunk = os.read(descriptor, CHUNK)
            if not chunk:
                return
            now = monotonic()
            in_a_row = in_a_row + 1 if now - came < 2 * REST_S else 0
            came = now
            yield chunk
            if in_a_row >= MAX_QUICK_PIECES and len(chunk) < ENOUGH_BYTES:
                rest(REST_S)


class LineSplitter:
    """Whole lines from chunks, without their newlines."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that `chunk` completes."""
        if b"\n" not in chunk and len(self._rest) + len(chunk) < self._limit:
            # The hot path of a huge line: do not scan it again for each chunk.
            self._rest += chunk
            return []
        head, *others = chunk.split(b"\n")
        lines = []
        self._rest += head
        if others and len(chunk) <= self._limit:  # only the first line can be too long
            lines = [*self._pieces(), bytes(self._rest), *others[:-1]]
            self._rest = bytearray(others[-1])
            others = []
        for part in others:
            lines += self._pieces()
            lines.append(bytes(self._rest))
            self._rest = bytearray(part)
        return lines + self._pieces()

    def close(self) -> list[bytes]:
        """Return the unterminated rest at the end of the stream."""
        rest, self._rest = bytes(self._rest), bytearray()
        return [rest] if rest else []

    def _pieces(self) -> list[bytes]:
        pieces = []
        while len(self._rest) > self._limit:
            pieces.append(bytes(self._rest[: self._limit]))
            del self._rest[: self._limit]
        return pieces


def _never_news(line: bytes) -> bool:
    return False


class BoundedLines:
    """Lines from chunks; once the time for `working` is used up, only those with news."""

    def __init__(self, limit: int, is_news: Callable[[bytes], bool] = _never_news) -> None:
        """`limit` is in bytes per line; `is_news` is True for lines to process in any case."""
        self.left_out = 0
        """Number of lines left out so far."""
        self.left_out_bytes = 0
        self._splitter = LineSplitter(limit)
        self._is_news = is_news
        self._work = BoundedWork()
        self._closed = False
        self._reported = (0, 0)

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that `chunk` completes; once the time is used up, only news."""
        return self._select(self._splitter.feed(chunk))

    def close(self) -> list[bytes]:
        """Return the unterminated rest at the end of the stream."""
        self._closed = True
        return self._select(self._splitter.close())

    def working(self) -> AbstractContextManager[None]:
        """Return a context manager that measures the time spent on the lines."""
        return self._work.working()

    @property
    def amount(self) -> str:
        """The amount of output left out, in words."""
        return f"{count(self.left_out, 'line')} ({self.left_out_bytes:,} bytes): {TOO_MUCH}"

    def gap(self) -> str:
        """Return a mark for the lines left out since the last call, or ""."""
        if self._reported == (self.left_out, self.left_out_bytes):
            return ""
        if self._work.spent and not self._closed:
            return ""  # the gap is still growing
        lines, size = self.left_out - self._reported[0], self.left_out_bytes - self._reported[1]
        self._reported = (self.left_out, self.left_out_bytes)
        return f"[ralph-tui: {lines} lines of output, {size} bytes, are left out here]"

    def _select(self, lines: list[bytes]) -> list[bytes]:
        if not self._work.spent:
            return lines
        # Skip empty lines without calling `is_news`: a hundred million calls would take minutes.
        news = [line for line in filter(None, lines) if self._is_news(line)]
        self.left_out += len(lines) - len(news)
        self.left_out_bytes += sum(map(len, lines)) - sum(map(len, news)) + len(lines) - len(news)
        return news


KEPT = 2 << 20
"""Maximum length of a line to keep, in characters; longer lines contain whole files."""


class Transcript:
    """Redacted lines appended to a file. A failed write stops the writing, not the agent."""

    def __init__(self, path: Path) -> None:
        self.error: OSError | None = None
        """Why writing stopped; None if it did not."""
        self._clean = LineFilter()
        self.offset = 0
        """Offset of the next line, in bytes."""
        self._file: BinaryIO | None = None
        try:
            self._file = open_append(path)
            self.offset = os.fstat(self._file.fileno()).st_size
        except OSError as error:
            self.error = error

    def write(self, lines: list[str]) -> list[tuple[str, int]]:
        """Append lines; return each line as written and its offset."""
        kept, data = [], bytearray()
        for line in lines:
            clean = self._clean(line[:KEPT])
            if (beyond := len(line) - KEPT) > 0:
                clean += f"[ralph-tui: {beyond} characters are left out here]"
            kept.append((clean, self.offset + len(data)))
            data += clean.encode("utf-8", "replace") + b"\n"
        if self.error is None and self._file is not None:
            try:
                write_all(self._file, data)
            except OSError as error:
                self.error = error
        self.offset += len(data)
        return kept

    def write_gap(self, mark: str) -> None:
        """Write `mark` in place of missing lines. A private key may have begun in them."""
        self.write([mark])
        self._clean.skip()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
