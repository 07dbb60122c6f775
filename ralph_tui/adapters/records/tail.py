"""A file that another process writes: its whole lines, as they come.

A line without its end is not there yet. The writer may replace the file by a copy of itself (an
agent ran ``git clean``): reading goes on where it was. Anything else in its place is another file.
"""

import os
from contextlib import suppress
from pathlib import Path

from ralph_tui.base.plain_files import open_plain

CHUNK = 1 << 18
"""Bytes of one look, unless a line is longer."""


class ReplacedError(Exception):
    """There is another content under the name now; the next look begins anew."""


class Tail:
    """Follows one file by its name."""

    def __init__(self, path: Path) -> None:
        """Nothing is opened yet; the file need not be there."""
        self._path = path
        self._descriptor: int | None = None
        self._offset = 0
        self._last = b""
        """The line before the offset: a copy of the file has it at the same place."""
        self._want = CHUNK
        self.rest = 0
        """Bytes of a line that is not whole yet, as of the last look."""
        self.named = True
        """Whether there was a file under the name when that was last looked for."""

    def lines(self) -> list[bytes]:
        """Some of the whole lines that have come since the last call; empty when there are none.

        Raises ``ReplacedError`` once when what was read so far is no longer what stands there.
        """
        lines = self._whole_lines()
        if not lines and self._moved():
            lines = self._whole_lines()
        if lines:
            self._offset += sum(map(len, lines))
            self._last = lines[-1]
        return lines

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _whole_lines(self) -> list[bytes]:
        if self._descriptor is None:
            return []
        text = os.pread(self._descriptor, self._want, self._offset)
        end = text.rfind(b"\n") + 1
        self.rest = len(text) - end
        self._want = CHUNK if end or len(text) < self._want else 2 * self._want
        return text[:end].splitlines(keepends=True) if end else []

    def _moved(self) -> bool:
        """Whether there is another file under the name, now open, or the first one."""
        try:
            there = self._path.lstat()
        except OSError:
            self.named = False
            return False  # its writer will bring it back
        self.named = True
        if self._descriptor is not None:
            mine = os.fstat(self._descriptor)
            if (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino):
                if there.st_size < self._offset:
                    self._begin_anew()
                return False
        fresh: int | None = None
        with suppress(OSError):
            fresh = open_plain(self._path)
        if fresh is None:
            return False
        self.close()
        self._descriptor = fresh
        if self._offset:
            before = self._offset - len(self._last)
            if os.pread(fresh, len(self._last), before) != self._last:
                self._begin_anew()
        return True

    def _begin_anew(self) -> None:
        self._offset, self._last, self._want = 0, b"", CHUNK
        raise ReplacedError
