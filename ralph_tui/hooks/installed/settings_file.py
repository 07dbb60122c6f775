"""A project's ``.claude/settings.json``: looked at, and later replaced if it is still the same."""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ralph_tui.errors import RalphError
from ralph_tui.hooks.installed.places import beside, told, within
from ralph_tui.hooks.installed.settings import installed, removed
from ralph_tui.plain_files import make_folder, open_plain, read_bytes, write_whole

NAME = ".claude/settings.json"
_MARK = "\ufeff"
"""Some editors put it before the text."""


@dataclass(frozen=True)
class SettingsFile:
    """As it was when it was looked at."""

    root: Path
    path: Path
    content: bytes | None
    """None where there is none."""

    @classmethod
    def of(cls, root: Path) -> "SettingsFile":
        """Raises ``RalphError`` for what cannot be read, and for a link out of the project."""
        path = within(root, NAME)
        with told(NAME, "read"):
            try:
                return cls(root, path, read_bytes(path, below=root))
            except FileNotFoundError:
                return cls(root, path, None)

    @property
    def text(self) -> str:
        """Raises ``RalphError`` where the file is no text."""
        try:
            return (self.content or b"").decode("utf-8").removeprefix(_MARK)
        except ValueError as error:
            raise RalphError(_refused("it is no text")) from error

    def with_hooks(self) -> bytes:
        """Its content with our hooks; ``RalphError`` for settings of another form."""
        return self._bytes(_changed(self.text, remove=False))

    def without_hooks(self) -> bytes | None:
        """Its content without our hooks, None where there was no file; ``RalphError``.

        Where nothing else was changed since they were put there, it is the content of then.
        """
        text = _changed(self.text, remove=True)
        if text == self.text:
            return self.content
        for backup in self.backups():
            before = SettingsFile(self.root, self.path, _content(backup, self.root))
            with suppress(RalphError):
                if before.with_hooks() == self.content:
                    return before.content
        untouched = SettingsFile(self.root, self.path, None)
        return None if untouched.with_hooks() == self.content else self._bytes(text)

    def backups(self) -> list[Path]:
        """What it was before, the newest first."""
        found = self.path.parent.glob(f"{self.path.name}.*.bak")
        return sorted((path for path in found if path.is_file()), reverse=True)

    def replace(self, content: bytes | None, now: datetime) -> Path | None:
        """Put this in its place, None for no file, and keep what it was; gives back where.

        Raises ``RalphError``, and changes nothing, where the file is not what was looked at.
        """
        if SettingsFile.of(self.root) != self:
            raise RalphError(
                f"{NAME} was changed while you looked at it: nothing was written; say it again"
            )
        kept: Path | None = None
        with told(NAME, "write"):
            make_folder(self.path.parent, below=self.root)
            mode = None
            if self.content is not None:
                mode = stat.S_IMODE(self.path.stat().st_mode)
                self._writable()
            known = {path: _content(path, self.root) for path in self.backups()}
            nothing_lost = {None, *known.values()}
            if self.content not in nothing_lost and content not in nothing_lost:
                kept = beside(self.path, now)
                write_whole(kept, self.content or b"", below=self.root, mode=mode)
            if content is None:
                self.path.unlink()
            else:
                write_whole(self.path, content, below=self.root, mode=mode)
            for path, was in known.items():
                if was == content:  # it is the file itself again
                    path.unlink()
        return kept

    def _writable(self) -> None:
        """A file that is written by replacing it would not be asked whether it may be written."""
        os.close(open_plain(self.path, os.O_WRONLY, below=self.root))

    def _bytes(self, text: str) -> bytes:
        mark = _MARK if (self.content or b"").startswith(_MARK.encode()) else ""
        return (mark + text).encode("utf-8")


def _changed(text: str, *, remove: bool) -> str:
    try:
        return removed(text) if remove else installed(text)
    except ValueError as error:
        raise RalphError(_refused(str(error))) from error


def _refused(why: str) -> str:
    return f"{NAME} cannot be used, {why}: nothing was changed; correct it, or move it away"


def _content(path: Path, root: Path) -> bytes | None:
    try:
        return read_bytes(path, below=root)
    except OSError:
        return None
