"""The files of a foreign run: opened by their names below one folder, and by nothing else.

Paths that stand inside of foreign records are never opened. What cannot be read costs itself and is
a note, once.
Standard library only.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ralph_tui.adapters.agents.json_fields import as_map
from ralph_tui.errors import why
from ralph_tui.importers.fields import Json
from ralph_tui.plain_files import is_plain, read_bytes, reading
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import one_line

LARGEST_JSON = 128 << 20
"""Bytes of a JSON file: what a tool writes in a night stays far below."""
MOST_NAMES = 50_000
"""Names of a folder that are looked at."""
MOST_NOTES = 40
"""Files that are named in notes; further ones are counted."""
_NUMBERED = re.compile(r"(\d{1,6})-")


@dataclass
class RunFiles:
    """What lies below a run's folder; notes tell what of it cannot be used."""

    folder: Path
    """The run's own: names are relative to it."""
    base: Path
    """No link is followed below it: it is the folder, or a parent of it."""
    notes: list[str] = field(default_factory=list)
    """A sentence for each file that cannot be read, in the order in which they were met."""
    unnamed: int = 0
    """Further files that cannot be read."""

    def json(self, name: str) -> Json | None:
        """The object that a file holds; None where there is no file, or a note says why not."""
        try:
            content = read_bytes(self.folder / name, below=self.base, most=LARGEST_JSON)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.note(name, why(error, "move it out of the way"))
            return None
        try:
            value = parse_json(content)
        except ValueError:
            self.note(name, "it is empty" if not content.strip() else "it is no whole JSON")
            return None
        if not isinstance(value, dict):
            self.note(name, "it holds no JSON object")
            return None
        return as_map(value)

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO | None]:
        """A file open for reading; None where there is none, or a note says why not."""
        try:
            file = reading(self.folder / name, below=self.base)
        except FileNotFoundError:
            yield None
            return
        except OSError as error:
            self.note(name, why(error, "move it out of the way"))
            yield None
            return
        with file:
            yield file

    def has(self, name: str) -> bool:
        """Whether there is a plain file of this name."""
        return is_plain(self.folder / name)

    def lies(self, name: str) -> bool:
        """Whether there is anything of this name."""
        return os.path.lexists(self.folder / name)

    def why_not(self, name: str) -> str:
        """Why a file that was asked for is of no use."""
        begins = f"{one_line(name)} cannot be used: "
        said = (note for note in self.notes if note.startswith(begins))
        return next(said, f"{one_line(name)} is missing")

    def first(self, *names: str) -> str:
        """The first of these names that a file has; empty for none, what else has one is noted."""
        for name in names:
            if self.has(name):
                return name
            if self.lies(name):
                self.note(name, "it is no plain file; move it out of the way")
        return ""

    def size(self, name: str) -> int:
        """Bytes of a file; 0 where there is none."""
        with suppress(OSError):
            return (self.folder / name).lstat().st_size
        return 0

    def names(self, folder: str, *, folders: bool = False) -> list[str]:
        """Names of what lies in a folder, or of the folders in it, sorted.

        Links are no folders; what is named like a file and is none is told when it is opened.
        """
        found: list[str] = []
        with suppress(OSError), os.scandir(self.folder / folder) as entries:
            for entry in entries:
                wanted = not folders or entry.is_dir(follow_symlinks=False)
                if len(found) < MOST_NAMES and wanted:
                    found.append(entry.name)
        return sorted(found)

    def numbers(self, folder: str, ending: str) -> list[int]:
        """The numbers of ``003-prompt.md`` and its like, sorted."""
        found = set()
        for name in self.names(folder):
            match = _NUMBERED.match(name)
            if match and name.endswith(ending):
                found.add(int(match[1]))
        return sorted(found)

    def note(self, name: str, what: str) -> None:
        """Say of a file why it is of no use."""
        sentence = f"{one_line(name)} cannot be used: {one_line(what)}"
        if sentence in self.notes:
            return
        if len(self.notes) < MOST_NOTES:
            self.notes.append(sentence)
        else:
            self.unnamed += 1
