"""Every line an agent prints, kept in a file without secrets; events point into it by offset."""

import os
from pathlib import Path
from typing import BinaryIO

from ralph_tui.adapters.processes.capture import redact_bytes
from ralph_tui.plain_files import appending, write_all
from ralph_tui.text.sanitize import HIDDEN, redact

PIECE = 64 * 1024
"""Characters redacted at once: a regular expression holds the interpreter while it runs."""
_SEAMS = ("\\n", '","', "\n", " ")
_KEY_BEGINS, _KEY_ENDS, _PRIVATE = "-----BEGIN", "-----END", "PRIVATE KEY"


class Transcript:
    """Redacted lines appended to a file; a file that refuses stops the writing, not the agent."""

    def __init__(self, path: Path) -> None:
        self.error: OSError | None = None
        """Why it stopped; None while all is well."""
        self.offset = 0
        """Where the next line will begin."""
        self._file: BinaryIO | None = None
        try:
            self._file = appending(path)
            self.offset = os.fstat(self._file.fileno()).st_size
        except OSError as error:
            self.error = error

    def write(self, lines: list[str]) -> list[int]:
        """Append the lines; the offset of each."""
        offsets, data = [], bytearray()
        for line in lines:
            offsets.append(self.offset + len(data))
            data += redact_long(line).encode("utf-8", "replace") + b"\n"
        if self.error is None and self._file is not None:
            try:
                write_all(self._file, data)
            except OSError as error:
                self.error = error
        self.offset += len(data)
        return offsets

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


class KeyFilter:
    """Hides private keys that are spread over lines of plain text, as `redact` does within one."""

    LONGEST = 200
    """Lines after which a key that never ends is taken for something else."""

    def __init__(self) -> None:
        self._inside = 0

    def __call__(self, line: str) -> str:
        """The line, or a mark when it belongs to a key."""
        if self._inside:
            self._inside = 0 if _KEY_ENDS in line else (self._inside + 1) % self.LONGEST
            return HIDDEN
        begin = line.rfind(_KEY_BEGINS)
        if begin >= 0 and _PRIVATE in line[begin:] and _KEY_ENDS not in line[begin:]:
            self._inside = 1
            return line[:begin] + HIDDEN
        return line


def redact_long(text: str) -> str:
    """As `redact`, in pieces cut where no secret is."""
    if len(text) <= PIECE:
        return redact(text)
    pieces, start = [], 0
    while start < len(text):
        end = _seam(text, start)
        pieces.append(redact_bytes(text[start:end].encode("utf-8", "surrogateescape")))
        start = end
    return b"".join(pieces).decode("utf-8", "surrogateescape")


def _seam(text: str, start: int) -> int:
    """The end of the piece that begins at `start`."""
    end = start + PIECE
    if end >= len(text):
        return len(text)
    middle = start + PIECE // 2
    for seam in _SEAMS:
        found = text.rfind(seam, middle, end)
        if found > 0:
            end = found
            break
    key = text.rfind(_KEY_BEGINS, start + 1, end)
    # A private key spans many lines: keep it whole, in the next piece.
    return key if key > 0 and text.find(_KEY_ENDS, key, end) < 0 else end
