"""An SQLite file that is a cache: made when missing, made anew when damaged or of another version.

An agent can write where it lies: what stands in its way is cleared, its schema is not trusted, and
whoever shows a text of it sanitizes it.
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
"""How long a file that another process writes to is waited for."""
_COMPANIONS = ("", "-journal", "-wal", "-shm")
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_REFUSED = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space",
    sqlite3.SQLITE_READONLY: "it may not be written to; make it writable",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; make its folder writable, or take it away",
    sqlite3.SQLITE_IOERR: "the disk does not answer as it should; look after it",
    sqlite3.SQLITE_PERM: "it may not be written to; make it writable",
}
"""What no making anew mends, and what to do."""
_MOVED = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY)
"""What is also met when another process makes the file anew at this moment: tried once more."""


def index_folder(root: Path) -> Path:
    """Where the indexes of a worktree lie."""
    return ralph_folder(root) / "index"


@dataclass(frozen=True)
class Database:
    """Where a cache lies and what it is made of."""

    path: Path
    version: int
    """Raised with every change of `schema`, or of what is put into it."""
    schema: str

    def use(
        self, work: Callable[[sqlite3.Connection], Result], *, wait: float = WAIT_SECONDS
    ) -> Result:
        """Do something with it; damage that shows is mended by doing it once more with a new one.

        Raises ``SearchError``: another process holds it, or it cannot be written.
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
        raise AssertionError("the last try returns or raises")

    def connect(self, *, wait: float = WAIT_SECONDS) -> sqlite3.Connection:
        """A connection to it, of this version; raises ``SearchError``, ``sqlite3.DatabaseError``.

        It may be used from any thread, by one at a time. Nothing is in a transaction by itself.
        """
        try:
            keep_out(self.path.parent)  # the records of other tools need not be hidden from git
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
        """An empty one that nobody shares, where the file is not to be had."""
        connection = _connection(":memory:", 0.0)
        self._make(connection)
        return connection

    def refuse(self, error: sqlite3.Error) -> None:
        """Raise ``SearchError`` for what making it anew would not mend."""
        code = _code(error)
        if code in _BUSY:
            raise SearchError(
                f"the index {self.path} is in use by another process: try again in a moment"
            ) from error
        if code in _REFUSED:
            raise SearchError(f"cannot use the index {self.path}: {_REFUSED[code]}") from error

    def remove(self) -> None:
        """Take it away: it is made anew when it is used next."""
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
            # Another process may have made it while this one waited.
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in self.schema.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {self.version}")


def _code(error: sqlite3.Error) -> int:
    """SQLite's own, without what it adds in particular cases."""
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
