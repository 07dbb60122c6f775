"""What a process prints: chunks from its pipe, cut into lines, kept in a transcript.

`chunks` reads at once what comes now and then, and much as fast as it can: waking for each of 200
lines a second costs several times what the line itself does. Only small pieces in a row wait for
one another, never for as long as a frame of the screen. `BoundedLines` bounds the time that lines
take, so that an agent that prints without end does not delay the end of its session.
"""

import os
import selectors
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from ralph_tui.adapters.processes.bounded_work import TOO_MUCH, BoundedWork
from ralph_tui.base.plain_files import appending, write_all
from ralph_tui.text.format import count
from ralph_tui.text.secrets.lines import LineFilter

CHUNK = 256 * 1024
REST_S = 0.03
"""How long the pieces of a trickle wait for one another."""
IN_A_ROW = 8
"""Pieces that came one close behind the other before any waits: no greeting is slowed."""
PLENTY = 16 * 1024
"""Bytes; behind a piece of this size nothing waits, so no pipe is full for long."""


def chunks(
    descriptor: int,
    idle_after_s: Callable[[], float | None],
    *,
    monotonic: Callable[[], float] = time.monotonic,
    rest: Callable[[float], None] = time.sleep,
) -> Iterator[bytes | None]:
    """Bytes until the other end is closed; None each time that none came for `idle_after_s`."""
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
            if in_a_row >= IN_A_ROW and len(chunk) < PLENTY:
                rest(REST_S)


class LineSplitter:
    """Feed chunks, take whole lines (without their newline)."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes."""
        if b"\n" not in chunk and len(self._rest) + len(chunk) < self._limit:
            # The hot path of a huge line: no scan of what has been scanned.
            self._rest += chunk
            return []
        head, *others = chunk.split(b"\n")
        lines = []
        self._rest += head
        if others and len(chunk) <= self._limit:  # none but the first can be too long
            lines = [*self._pieces(), bytes(self._rest), *others[:-1]]
            self._rest = bytearray(others[-1])
            others = []
        for part in others:
            lines += self._pieces()
            lines.append(bytes(self._rest))
            self._rest = bytearray(part)
        return lines + self._pieces()

    def close(self) -> list[bytes]:
        """What is left without a newline at the end of the stream."""
        rest, self._rest = bytes(self._rest), bytearray()
        return [rest] if rest else []

    def _pieces(self) -> list[bytes]:
        pieces = []
        while len(self._rest) > self._limit:
            pieces.append(bytes(self._rest[: self._limit]))
            del self._rest[: self._limit]
        return pieces


def _no_news(line: bytes) -> bool:
    return False


class BoundedLines:
    """Feed chunks, take the lines to work on; work within `working`."""

    def __init__(self, limit: int, is_news: Callable[[bytes], bool] = _no_news) -> None:
        """`limit`: bytes of a line; `is_news`: whether a line is read however much there is."""
        self.left_out = 0
        """Lines so far."""
        self.left_out_bytes = 0
        self._splitter = LineSplitter(limit)
        self._is_news = is_news
        self._work = BoundedWork()
        self._closed = False
        self._told = (0, 0)

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, or those of them that are news."""
        return self._chosen(self._splitter.feed(chunk))

    def close(self) -> list[bytes]:
        """What is left without a newline at the end of the stream."""
        self._closed = True
        return self._chosen(self._splitter.close())

    def working(self) -> AbstractContextManager[None]:
        """The work on the lines."""
        return self._work.working()

    @property
    def amount(self) -> str:
        """What was left out in all, in words."""
        return f"{count(self.left_out, 'line')} ({self.left_out_bytes:,} bytes): {TOO_MUCH}"

    def gap(self) -> str:
        """What was left out since the last call, as a mark for its place; empty for nothing."""
        if self._told == (self.left_out, self.left_out_bytes):
            return ""
        if self._work.spent and not self._closed:
            return ""  # its end is not known yet
        lines, size = self.left_out - self._told[0], self.left_out_bytes - self._told[1]
        self._told = (self.left_out, self.left_out_bytes)
        return f"[ralph-tui: {lines} lines of output, {size} bytes, are left out here]"

    def _chosen(self, lines: list[bytes]) -> list[bytes]:
        if not self._work.spent:
            return lines
        # Nothing is asked of empty lines: a hundred million of them would take minutes.
        news = [line for line in filter(None, lines) if self._is_news(line)]
        self.left_out += len(lines) - len(news)
        self.left_out_bytes += sum(map(len, lines)) - sum(map(len, news)) + len(lines) - len(news)
        return news


KEPT = 2 << 20
"""Characters of a line that are kept: longer ones hold files, which stand somewhere else."""


class Transcript:
    """Redacted lines appended to a file; a file that refuses stops the writing, not the agent."""

    def __init__(self, path: Path) -> None:
        self.error: OSError | None = None
        """Why it stopped; None while all is well."""
        self._clean = LineFilter()
        self.offset = 0
        """Where the next line will begin."""
        self._file: BinaryIO | None = None
        try:
            self._file = appending(path)
            self.offset = os.fstat(self._file.fileno()).st_size
        except OSError as error:
            self.error = error

    def write(self, lines: list[str]) -> list[tuple[str, int]]:
        """Append the lines; each as it was written, and its offset."""
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

    def leave_out(self, mark: str) -> None:
        """Say with `mark` that lines are missing here; a private key may have begun in them."""
        self.write([mark])
        self._clean.skip()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
