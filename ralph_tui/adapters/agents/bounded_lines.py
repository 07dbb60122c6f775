"""Lines of a stream, as many as there is time for: what is too much is counted and left out.

Reading takes work: secrets are looked for in every line. An agent that prints without end must not
take the run's time, nor hold the end of its session up, so that the work has a bound: `RESERVE_S`
at once, and `SHARE` of the time that passes. Beyond it only lines that may be news are read on.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ralph_tui.adapters.agents.line_splitter import LineSplitter
from ralph_tui.text.format import count

RESERVE_S = 5.0
"""Seconds of work that a stream may take at once."""
SHARE = 0.2
"""Seconds of work that it earns in a second."""
AGAIN_S = 2.0
"""Seconds of work that must be free again before all lines are read."""


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
        self._free_s = RESERVE_S
        self._looked = time.monotonic()
        self._over = False
        self._told = (0, 0)

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, or those of them that are news."""
        return self._chosen(self._splitter.feed(chunk))

    def close(self) -> list[bytes]:
        """What is left without a newline at the end of the stream."""
        lines = self._chosen(self._splitter.close())
        self._over = False
        return lines

    @contextmanager
    def working(self) -> Iterator[None]:
        """The work on the lines."""
        before = time.monotonic()
        try:
            yield
        finally:
            now = time.monotonic()
            earned = SHARE * (now - self._looked)
            self._free_s = min(RESERVE_S, self._free_s + earned) - (now - before)
            self._looked = now
            self._over = self._free_s <= (AGAIN_S if self._over else 0.0)

    @property
    def amount(self) -> str:
        """What was left out in all, in words."""
        return (
            f"{count(self.left_out, 'line')} ({self.left_out_bytes:,} bytes): more came than there "
            "is time to look through"
        )

    def gap(self) -> str:
        """What was left out since the last call, as a mark for its place; empty for nothing."""
        if self._over or self._told == (self.left_out, self.left_out_bytes):
            return ""
        lines, size = self.left_out - self._told[0], self.left_out_bytes - self._told[1]
        self._told = (self.left_out, self.left_out_bytes)
        return f"[ralph-tui: {lines} lines of output, {size} bytes, are left out here]"

    def _chosen(self, lines: list[bytes]) -> list[bytes]:
        if not self._over:
            return lines
        # Nothing is asked of empty lines: a hundred million of them would take minutes.
        news = [line for line in filter(None, lines) if self._is_news(line)]
        self.left_out += len(lines) - len(news)
        self.left_out_bytes += sum(map(len, lines)) - sum(map(len, news)) + len(lines) - len(news)
        return news
