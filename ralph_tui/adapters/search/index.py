"""The full-text index over the runs of a worktree: ``.aiwg/ralph/index/search.db``.

It follows the journals: each attempt is read on from where the last look ended. What is missing,
damaged or of another version is made anew; deleting it loses nothing. Whoever searches gives it
the runs of other tools, which only rooms above know how to read.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from ralph_tui.adapters.records.runs import RecordedRun, find_hooked, find_runs
from ralph_tui.adapters.search.database import WAIT_SECONDS, Database, index_folder
from ralph_tui.adapters.search.documents import Document, Documents, is_read
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
"""The size that stands in the index for a run whose record is no journal."""


@dataclass(frozen=True)
class OtherRun:
    """A run whose record is no journal of ours: it is taken in whole, anew when it has changed."""

    name: str
    stamp: str
    """Differs when the record does."""
    folder: Path
    read: Callable[[], Sequence[Event]]


def index_of(root: Path) -> Database:
    """The index of a worktree; it need not exist."""
    return Database(index_folder(root) / "search.db", VERSION, SCHEMA)


def index_attempt(root: Path, attempt_folder: Path, *, wait: float = WAIT_SECONDS) -> str:
    """Take in what an attempt's journal has that the index has not; blocks.

    Gives back one sentence about why it could not be done, mostly empty. Nothing is lost by it: the
    next search, or the next call, takes it in.
    """
    run = RecordedRun(attempt_folder / "events.jsonl")
    try:
        index_of(root).use(lambda index: _follow(index, run), wait=wait)
    except SearchError as error:
        return f"what this run did is not in the search index yet: {error}"
    return ""


def catch_up(
    index: sqlite3.Connection, root: Path, others: Sequence[OtherRun] | None = None
) -> None:
    """Take in what all journals have, and the `others`; forget the runs that are gone.

    Without `others` those that are known stay. Raises ``sqlite3.DatabaseError``. A journal that
    cannot be read is taken as far as it can.
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
                _take_whole(index, other)
        gone |= set(stamps)
    for name in gone:
        with index:
            index.execute("BEGIN IMMEDIATE")
            _forget(index, name)


@dataclass(frozen=True)
class _Place:
    """How far an attempt is in the index."""

    run_id: bytes = b""
    size: int = 0
    seq: int = 0
    iteration: int = 0
    spoken: str = ""


def _follow(index: sqlite3.Connection, run: RecordedRun) -> None:
    try:
        with reading(run.journal) as journal, index:
            # The place is read by whoever may write: two that index at once take nothing twice.
            index.execute("BEGIN IMMEDIATE")
            _take_in(index, run, journal)
    except OSError:  # it is gone, or no plain file
        return


def _take_in(index: sqlite3.Connection, run: RecordedRun, journal: BinaryIO) -> None:
    row = index.execute(
        "SELECT run_id, size, seq, iteration, spoken FROM attempts WHERE run = ?", (run.name,)
    ).fetchone()
    found = _RUN_ID.search(journal.readline(1 << 20))
    run_id = found[1] if found else b""
    place = _Place(*row) if row else _Place()
    if row and (place.run_id != run_id or not _goes_on(journal, place)):
        _forget(index, run.name)
        place = _Place()
    documents = Documents(run.folder, place.iteration, place.spoken)
    size, seq = place.size, place.seq
    journal.seek(size)
    for length, number, taken in _read(journal, seq, documents):
        size, seq = size + length, number
        for document in taken:
            _add(index, run.name, document)
    index.execute(
        "INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?)",
        (run.name, run_id, size, seq, documents.iteration, documents.spoken),
    )


def _take_whole(index: sqlite3.Connection, run: OtherRun) -> None:
    documents = Documents(run.folder)
    taken = [document for event in run.read() for document in documents.take(event)]
    with index:
        index.execute("BEGIN IMMEDIATE")
        _forget(index, run.name)  # as it was before, or as another process has just taken it in
        for document in taken:
            _add(index, run.name, document)
        row = (run.name, run.stamp.encode(), _WHOLE, 0, 0, "")
        index.execute("INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?)", row)


def _goes_on(journal: BinaryIO, place: _Place) -> bool:
    """Whether the journal is still the one that was read, at least as long."""
    if journal.seek(0, 2) < place.size:
        return False
    journal.seek(place.size)
    line = journal.readline(1 << 20)
    found = _SEQ.match(line)
    return not line or (found is not None and int(found[1]) == place.seq + 1)


def _read(
    journal: BinaryIO, seq: int, documents: Documents
) -> Iterator[tuple[int, int, list[Document]]]:
    """Of each whole line: its length, its number, its documents; up to the first bad one."""
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
        if is_read(line):
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
