"""Lines of a stream, as many as there is time for: what is too much is counted and left out.

An agent that prints without end must not hold the end of its session up: beyond the time that
`BoundedWork` gives only lines that may be news are read on.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

from ralph_tui.adapters.agents.line_splitter import LineSplitter
from ralph_tui.adapters.processes.bounded_work import TOO_MUCH, BoundedWork
from ralph_tui.text.format import count


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
