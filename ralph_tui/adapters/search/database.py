"""An SQLite file used as a cache. If it is missing, damaged or outdated, it is recreated.

An agent can write to its folder. Therefore anything in the way is removed, the schema is not
trusted, and callers must sanitise its texts before showing them.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from ralph_tui.adapters.records.folders import keep_out, ralph_folder
from ralph_tui.base.errors import SearchError, why
from ralph_tui.base.plain_files import clear_way

Result = TypeVar("Result")

WAIT_SECONDS: Final = 2.0
"""Seconds to wait for another process that is writing to the file."""
_COMPANIONS = ("", "-journal", "-wal", "-shm")
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_REFUSED = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space",
    sqlite3.SQLITE_READONLY: "it is not writable; make it writable",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; make its folder writable, or move it away",
    sqlite3.SQLITE_IOERR: "the disk reports an error; check it",
    sqlite3.SQLITE_PERM: "it is not writable; make it writable",
}
"""Errors that a new file would not fix, and what to do about them."""
_MOVED = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY)
"""Errors that also occur while another process replaces the file; these are retried once."""


def index_folder(root: Path) -> Path:
    """Return the folder of a worktree's indexes."""
    return ralph_folder(root) / "index"


@dataclass(frozen=True)
class Database:
    """A cache: the location of its file, and its contents."""

    path: Path
    version: int
    """Increase it with every change to `schema` or to the kind of content stored."""
    schema: str

    def use(
        self, work: Callable[[sqlite3.Connection], Result], *, wait: float = WAIT_SECONDS
    ) -> Result:
        """Call `work` with a connection; if the file is damaged, call it again with a new file.

        Raises ``SearchError`` if another process keeps the file locked, or if it cannot be written.
        """
        for last in (False, False, True):
            try:
                with closing(self.connect(wait=wait)) as connection:
                    return work(connection)
            except sqlite3.DatabaseError as error:
                moved = _code(error) in _MOVED
                if last or not moved:
                    self.refuse(error)
                if last:
                    what = f"cannot use the index {self.path}: {error}; delete it"
                    raise SearchError(what) from error
                if not moved:
                    self.remove()
        raise AssertionError("the last attempt returns or raises")

    def connect(self, *, wait: float = WAIT_SECONDS) -> sqlite3.Connection:
        """Return a connection to this version of the database.

        Any thread may use it, but only one at a time. It has no implicit transactions. Raises
        ``SearchError`` or ``sqlite3.DatabaseError``.
        """
        try:
            keep_out(self.path.parent)  # other tools' records need not be hidden from Git
            for companion in _COMPANIONS:
                clear_way(self.path.with_name(self.path.name + companion))
        except OSError as error:
            what = why(error, "make the folder writable")
            raise SearchError(f"cannot use the index {self.path}: {what}") from error
        try:
            return self._connect(wait)
        except sqlite3.DatabaseError as error:
            if _code(error) in _MOVED:
                raise
            self.refuse(error)
            self.remove()
            return self._connect(wait)

    def in_memory(self) -> sqlite3.Connection:
        """Return an empty, private database in memory, for when the file cannot be used."""
        connection = _connection(":memory:", 0.0)
        self._make(connection)
        return connection

    def refuse(self, error: sqlite3.Error) -> None:
        """Raise ``SearchError`` for an error that a new file would not fix."""
        code = _code(error)
        if code in _BUSY:
            raise SearchError(
                f"the index {self.path} is in use by another process; try again in a moment"
            ) from error
        if code in _REFUSED:
            raise SearchError(f"cannot use the index {self.path}: {_REFUSED[code]}") from error

    def remove(self) -> None:
        """Delete the file; the next use recreates it."""
        for companion in _COMPANIONS:
            with suppress(OSError):
                self.path.with_name(self.path.name + companion).unlink(missing_ok=True)

    def _connect(self, wait: float) -> sqlite3.Connection:
        connection = _connection(str(self.path), wait)
        try:
            if _version(connection) == 0:
                self._make(connection)
            if _version(connection) != self.version:
                raise sqlite3.DatabaseError("another version")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _make(self, connection: sqlite3.Connection) -> None:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            # Another process may have created it meanwhile.
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in self.schema.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {self.version}")


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's primary error code, without the extended part."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _connection(name: str, wait: float) -> sqlite3.Connection:
    connection = sqlite3.connect(name, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection
