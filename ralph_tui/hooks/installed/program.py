"""The copy of the hook program in a project: made, brought up to date, and taken away again.

A list of what was copied stands beside it. What differs from that list was changed by its owner,
and is kept under its date before another version takes its place.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from ralph_tui.hooks.installed.places import beside, told, within
from ralph_tui.hooks.installed.settings import FOLDER
from ralph_tui.plain_files import make_folder, read_bytes, write_whole
from ralph_tui.text.foreign_json import parse_json

LIST = "installed.json"


@dataclass(frozen=True)
class Standing:
    """How the copy compares with the program of this ralph-tui."""

    missing: tuple[str, ...] = ()
    older: tuple[str, ...] = ()
    """Copied by another version, or of no use any more."""
    edited: tuple[str, ...] = ()
    """Changed by its owner since it was copied."""
    there: bool = False
    version: str = ""
    """That copied it; empty where that is not known."""

    @property
    def current(self) -> bool:
        """Whether nothing is to be done."""
        return not (self.missing or self.older or self.edited)


class Program:
    """The files of the program, and their copy in one project."""

    def __init__(self, root: Path, files: Mapping[str, bytes], version: str) -> None:
        """`files`: their contents by path below the folder of the copy.

        Raises ``RalphError`` where a link leads out of the project.
        """
        self.root = root
        self.folder = within(root, FOLDER)
        self.files = dict(files)
        self.version = version

    def standing(self) -> Standing:
        """Look at the copy; ``RalphError`` for what cannot be read."""
        with told(FOLDER, "read"):
            version, copied = self._list()
            found: dict[str, list[str]] = {"missing": [], "older": [], "edited": []}
            for name in sorted({*self.files, *copied}):
                content, now = self._content(name), self.files.get(name)
                if content == now:
                    continue
                if content is None:
                    found["missing"].append(name)
                else:
                    known = _hash(content) == copied.get(name)
                    found["older" if known else "edited"].append(name)
            there = self.folder.is_dir()
        groups = {name: tuple(names) for name, names in found.items()}
        return Standing(**groups, there=there, version=version)

    def install(self, now: datetime) -> list[Path]:
        """Copy it; gives back where what its owner had changed is kept. ``RalphError``."""
        standing = self.standing()
        with told(FOLDER, "write to"):
            make_folder(self.folder, below=self.root)
            kept = [self._keep(name, now) for name in standing.edited]
            for name in standing.older:
                if name not in self.files:
                    self._path(name).unlink()
            for name in (*standing.missing, *standing.older, *standing.edited):
                if name in self.files:
                    path = self._path(name)
                    make_folder(path.parent, below=self.root)
                    write_whole(path, self.files[name], below=self.root)
            hashes = {name: _hash(content) for name, content in sorted(self.files.items())}
            words = json.dumps({"ralph_tui": self.version, "files": hashes}, indent=2)
            if self._content(LIST) != f"{words}\n".encode():
                write_whole(self.folder / LIST, f"{words}\n".encode(), below=self.root)
        return kept

    def remove(self, now: datetime) -> list[Path]:
        """Take it away; gives back where what its owner had changed is kept. ``RalphError``."""
        standing = self.standing()
        with told(FOLDER, "take away"):
            kept = [self._keep(name, now) for name in standing.edited]
            _, copied = self._list()
            for name in (*{*self.files, *copied}, LIST):
                self._path(name).unlink(missing_ok=True)
            self._clear()
        return kept

    def _clear(self) -> None:
        """What Python has made of the program goes, and folders that are empty then."""
        for path in self.folder.rglob("__pycache__/*.pyc"):
            path.unlink(missing_ok=True)
        folders = sorted((p for p in self.folder.rglob("*") if p.is_dir()), reverse=True)
        for folder in (*folders, self.folder, self.folder.parent, self.folder.parent.parent):
            with suppress(OSError):  # something else is in it
                folder.rmdir()

    def _keep(self, name: str, now: datetime) -> Path:
        path = self._path(name)
        kept = beside(path, now)
        path.rename(kept)
        return kept

    def _path(self, name: str) -> Path:
        return self.folder / name

    def _content(self, name: str) -> bytes | None:
        try:
            return read_bytes(self._path(name), below=self.root)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _list(self) -> tuple[str, dict[str, str]]:
        """The version that copied it, and the hashes; nothing where the list is of no use."""
        found = self._content(LIST)
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            told_ = parse_json(found or b"")
            return str(told_["ralph_tui"]), dict(_sound(told_["files"]))
        return "", {}


def _sound(files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Only names below the folder: a list is a file like any other, and can say anything."""
    for name, digest in files.items():
        parts = PurePosixPath(name).parts
        if parts and ".." not in parts and not name.startswith("/") and "\0" not in name:
            yield name, digest


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
