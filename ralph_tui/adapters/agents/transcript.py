"""Every line an agent prints, kept in a file without secrets; events point into it by offset."""

import os
from pathlib import Path
from typing import BinaryIO

from ralph_tui.plain_files import appending, write_all
from ralph_tui.text.secrets import LineFilter

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
