"""The full-text index over the runs of a worktree: ``.aiwg/ralph/index/search.db``.

It follows the journals: each attempt is read from where the last update ended. If the index is
missing, damaged or outdated, it is recreated; deleting it loses nothing. Callers supply the runs of
other tools, which only higher layers can read.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from ralph_tui.adapters.records.runs import RecordedRun, find_hooked, find_runs
from ralph_tui.adapters.search.database import WAIT_SECONDS, Database, index_folder
from ralph_tui.adapters.search.documents import Document, Documents, is_indexed
from ralph_tui.adapters.search.terms import terms
from ralph_tui.base.errors import SearchError
from ralph_tui.base.plain_files import reading
from ralph_tui.events import Event, parse_event

VERSION: Final = 2
SCHEMA: Final = """
CREATE TABLE attempts (
  run TEXT PRIMARY KEY, run_id BLOB NOT NULL, size INTEGER NOT NULL, seq INTEGER NOT NULL,
  iteration INTEGER NOT NULL, spoken TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE documents (
  id INTEGER PRIMARY KEY, run TEXT NOT NULL, kind TEXT NOT NULL, seq INTEGER NOT NULL,
  iteration INTEGER NOT NULL, at TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX of_run ON documents (run, kind);
CREATE VIRTUAL TABLE words USING fts5(
  terms, content = '', tokenize = 'unicode61 remove_diacritics 0'
);
"""
_SEQ = re.compile(rb'\s*\{\s*"seq"\s*:\s*(\d{1,18})\b')
_RUN_ID = re.compile(rb'"run_id"\s*:\s*"([^"]{1,100})"')
_WHOLE: Final = -1
"""The size stored for a run without a ralph-tui journal."""


@dataclass(frozen=True)
class OtherRun:
    """A run without a ralph-tui journal, which is indexed as a whole whenever it changes."""

    name: str
    stamp: str
    """A value that differs when the record has changed."""
    folder: Path
    read: Callable[[], Sequence[Event]]


def index_of(root: Path) -> Database:
    """Return the index of a worktree; its file may not exist."""
    return Database(index_folder(root) / "search.db", VERSION, SCHEMA)


def index_attempt(root: Path, attempt_folder: Path, *, wait: float = WAIT_SECONDS) -> str:
    """Add what is new in an attempt's journal to the index; blocks.

    Returns "", or a sentence about why it failed. Even then nothing is lost, because the next
    search or the next call adds it.
    """
    run = RecordedRun(attempt_folder / "events.jsonl")
    try:
        index_of(root).use(lambda index: _follow(index, run), wait=wait)
    except SearchError as error:
        return f"this run is not in the search index yet: {error}"
    return ""


def catch_up(
    index: sqlite3.Connection, root: Path, others: Sequence[OtherRun] | None = None
) -> None:
    """Bring the index up to date with all journals and the `others`; forget deleted runs.

    Without `others`, known runs of other tools stay in the index. A damaged journal is indexed up
    to the damage. Raises ``sqlite3.DatabaseError``.
    """
    known = dict(index.execute("SELECT run, size FROM attempts WHERE size != ?", (_WHOLE,)))
    for run in (*find_runs(root), *find_hooked(root)):
        if known.pop(run.name, -1) != _size(run.journal):
            _follow(index, run)
    gone = set(known)
    if others is not None:
        stamps = dict(index.execute("SELECT run, run_id FROM attempts WHERE size = ?", (_WHOLE,)))
        for other in others:
            if stamps.pop(other.name, None) != other.stamp.encode():
                _index_whole(index, other)
        gone |= set(stamps)
    for name in gone:
        with index:
            index.execute("BEGIN IMMEDIATE")
            _forget(index, name)


@dataclass(frozen=True)
class _Place:
    """How much of an attempt has been indexed."""

    run_id: bytes = b""
    size: int = 0
    seq: int = 0
    iteration: int = 0
    last_words: str = ""


def _follow(index: sqlite3.Connection, run: RecordedRun) -> None:
    try:
        with reading(run.journal) as journal, index:
            # Read the position inside the transaction, so that two processes index nothing twice.
            index.execute("BEGIN IMMEDIATE")
            _index_new(index, run, journal)
    except OSError:  # deleted, or not a plain file
        return


def _index_new(index: sqlite3.Connection, run: RecordedRun, journal: BinaryIO) -> None:
    row = index.execute(
        "SELECT run_id, size, seq, iteration, spoken FROM attempts WHERE run = ?", (run.name,)
    ).fetchone()
    found = _RUN_ID.search(journal.readline(1 << 20))
    run_id = found[1] if found else b""
    place = _Place(*row) if row else _Place()
    if row and (place.run_id != run_id or not _is_same_journal(journal, place)):
        _forget(index, run.name)
        place = _Place()
    documents = Documents(run.folder, place.iteration, place.last_words)
    size, seq = place.size, place.seq
    journal.seek(size)
    for length, number, taken in _read(journal, seq, documents):
        size, seq = size + length, number
        for document in taken:
            _add(index, run.name, document)
    index.execute(
        "INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?)",
        (run.name, run_id, size, seq, documents.iteration, documents.last_words),
    )


def _index_whole(index: sqlite3.Connection, run: OtherRun) -> None:
    documents = Documents(run.folder)
    taken = [document for event in run.read() for document in documents.take(event)]
    with index:
        index.execute("BEGIN IMMEDIATE")
        _forget(index, run.name)  # an older state, or one that another process has just indexed
        for document in taken:
            _add(index, run.name, document)
        row = (run.name, run.stamp.encode(), _WHOLE, 0, 0, "")
        index.execute("INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?)", row)


def _is_same_journal(journal: BinaryIO, place: _Place) -> bool:
    """True if this is still the journal that was indexed and has not become shorter."""
    if journal.seek(0, 2) < place.size:
        return False
    journal.seek(place.size)
    line = journal.readline(1 << 20)
    found = _SEQ.match(line)
    return not line or (found is not None and int(found[1]) == place.seq + 1)


def _read(
    journal: BinaryIO, seq: int, documents: Documents
) -> Iterator[tuple[int, int, list[Document]]]:
    """Yield the length, number and documents of each whole line, up to the first bad one."""
    for line in journal:
        if not line.endswith(b"\n"):
            return
        if not line.strip():
            yield len(line), seq, []
            continue
        found = _SEQ.match(line)
        if found is None or int(found[1]) != seq + 1:
            return
        taken = []
        if is_indexed(line):
            try:
                taken = list(documents.take(parse_event(line)))
            except ValueError:
                return
        seq += 1
        yield len(line), seq, taken


def _add(index: sqlite3.Connection, run: str, document: Document) -> None:
    row = index.execute(
        "INSERT INTO documents (run, kind, seq, iteration, at, text) VALUES (?, ?, ?, ?, ?, ?)",
        (
            run,
            document.kind,
            document.seq,
            document.iteration,
            document.at.isoformat(),
            document.text,
        ),
    )
    said = " ".join(terms(document.text))
    index.execute("INSERT INTO words (rowid, terms) VALUES (?, ?)", (row.lastrowid, said))


def _forget(index: sqlite3.Connection, run: str) -> None:
    rows = index.execute("SELECT id, text FROM documents WHERE run = ?", (run,)).fetchall()
    index.executemany(
        "INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)",
        ((number, " ".join(terms(text))) for number, text in rows),
    )
    index.execute("DELETE FROM documents WHERE run = ?", (run,))
    index.execute("DELETE FROM attempts WHERE run = ?", (run,))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
