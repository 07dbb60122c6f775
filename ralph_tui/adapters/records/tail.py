"""Whole lines from a file that another process is writing.

A line is returned only once it has its newline. If the writer replaces the file with a copy
(because an agent ran ``git clean``), reading continues from the same place. Any other replacement
is treated as a new file.
"""

import os
from contextlib import suppress
from pathlib import Path

from ralph_tui.base.plain_files import open_plain

CHUNK = 1 << 18
"""Bytes to read at a time, unless a line is longer."""


class ReplacedError(Exception):
    """The file was replaced; the next call starts from the beginning."""


class Tail:
    """A file that is followed by name, as ``tail -F`` does."""

    def __init__(self, path: Path) -> None:
        """The file is not opened yet and may not exist."""
        self._path = path
        self._descriptor: int | None = None
        self._offset = 0
        self._last = b""
        """The line before the offset; a copy of the file has it in the same place."""
        self._want = CHUNK
        self.rest = 0
        """Length in bytes of the incomplete last line, as of the last read."""
        self.named = True
        """True if there was a file with this name at the last check."""

    def lines(self) -> list[bytes]:
        """Return some of the whole lines added since the last call, possibly an empty list.

        Raises ``ReplacedError`` once if the file no longer contains what was read so far.
        """
        lines = self._whole_lines()
        if not lines and self._is_moved():
            lines = self._whole_lines()
        if lines:
            self._offset += sum(map(len, lines))
            self._last = lines[-1]
        return lines

    def close(self) -> None:
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

    def _is_moved(self) -> bool:
        """Return True if a new file was found under the name; it is now open."""
        try:
            there = self._path.lstat()
        except OSError:
            self.named = False
            return False  # its writer will restore it
        self.named = True
        if self._descriptor is not None:
            mine = os.fstat(self._descriptor)
            if (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino):
                if there.st_size < self._offset:
                    self._restart()
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
                self._restart()
        return True

    def _restart(self) -> None:
        self._offset, self._last, self._want = 0, b"", CHUNK
        raise ReplacedError
