"""A full-text index that finds the learnings that match a text, however many there are.

A word in nearly every learning says nothing, but would make all of them candidates. Therefore, a
query has two steps. First, the newest learnings with its rarest words are selected, at most
`MAX_CHECKED`. These are then ranked by the exact BM25 over all its words.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Final
from weakref import finalize

from ralph_tui.adapters.search.database import Database, index_folder
from ralph_tui.adapters.search.embedder import HashedConcepts, Vector, cosines
from ralph_tui.adapters.search.ranking import bm25, weights
from ralph_tui.adapters.search.terms import query_terms, terms
from ralph_tui.base.errors import SearchError

MAX_CHECKED: Final = 200
"""Maximum number of learnings to rank for a query; the others share no rarer word with it."""
MAX_TERMS: Final = 24
"""Maximum number of words in a query that count; the rarest are chosen."""
_BATCH = 5000
MEANT: Final = 200
"""Number of newest learnings that are also compared by meaning."""

VERSION: Final = 2
"""Also increase it if the same knowledge file yields different texts than before."""
SCHEMA: Final = """
CREATE TABLE learnings (
  number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, text TEXT NOT NULL, terms TEXT NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5(
  terms, content = 'learnings', content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 0'
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'row');
CREATE TABLE frequency (term TEXT PRIMARY KEY, learnings INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE source (state TEXT NOT NULL, learnings INTEGER NOT NULL, length REAL NOT NULL);
"""


class LearningIndex:
    """The index of one knowledge file, below ``.aiwg/ralph/index``; create one per process.

    If the file cannot be used (locked, disk full), the index is in memory. No call raises.
    """

    def __init__(self, root: Path) -> None:
        """The file is opened on first use."""
        self._database = Database(index_folder(root) / "learnings.db", VERSION, SCHEMA)
        self._connection: sqlite3.Connection | None = None
        self._lock = Lock()
        self._state = ""
        self._texts: Callable[[], Mapping[str, str]] = dict
        self._meant: dict[str, tuple[str, Vector]] = {}
        """Texts and vectors of the newest learnings, by id."""
        self._count = 0
        self._length = 1.0
        """Average number of terms in a learning."""

    def scores_among(
        self, query: str, state: str, texts: Callable[[], Mapping[str, str]]
    ) -> dict[str, float]:
        """Return `scores` among `texts`, called only if the index has a different `state`."""
        if state != self._state:
            self.update(texts, state)
        return self._with_meaning(query, self.scores(query))

    def _with_meaning(self, query: str, scores: dict[str, float]) -> dict[str, float]:
        """Raise the scores of learnings with the same meaning, even if they share no words."""
        embedder = HashedConcepts()
        (wanted,) = embedder.embed([query])
        vectors = (vector for _, vector in self._meant.values())
        near = zip(self._meant, cosines(wanted, vectors, embedder.dimension), strict=True)
        whole = max(scores.values(), default=1.0)
        found = {
            one: scores.get(one, 0.0) + whole * share
            for one, share in near
            if share >= embedder.threshold
        }
        return dict(sorted((scores | found).items(), key=lambda one: -one[1]))

    def update(self, texts: Callable[[], Mapping[str, str]], state: str = "") -> None:
        """Bring the index up to date with all learnings (id to text), indexing only differences.

        Call it when the knowledge file has changed. It blocks, for about 20 µs per new learning.
        `state` identifies the texts: an index with that state is not compared; empty means unknown.
        """
        with self._lock:
            self._state, self._texts = state, texts
            try:
                self._write(self._opened())
            except (sqlite3.DatabaseError, SearchError):
                self._restart()
                self._write(self._opened())
            self._understand(self._opened())

    def scores(self, query: str, limit: int = MAX_CHECKED) -> dict[str, float]:
        """Return the ids of matching learnings with their BM25, best first, all above 0."""
        with self._lock:
            try:
                found = self._rank(self._opened(), query_terms(query))
            except (sqlite3.DatabaseError, SearchError):
                self._restart()
                self._write(self._opened())
                found = self._rank(self._opened(), query_terms(query))
        return dict(islice(sorted(found.items(), key=lambda one: -one[1]), limit))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._keep(self._database.connect())
        assert self._connection is not None
        return self._connection

    def _restart(self) -> None:
        """Switch to an index in memory after damage or an error."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._keep(self._database.in_memory())

    def _keep(self, connection: sqlite3.Connection) -> None:
        """Keep the connection open as long as this object exists."""
        self._connection = connection
        finalize(self, connection.close)

    # writing ----------------------------------------------------------------------------------

    def _write(self, index: sqlite3.Connection) -> None:
        source = index.execute("SELECT state, learnings, length FROM source").fetchone()
        if source is not None and source[0] == self._state != "":
            _, self._count, self._length = source
            return
        texts = self._texts()
        with index:
            index.execute("BEGIN IMMEDIATE")
            known = dict(index.execute("SELECT id, text FROM learnings"))
            gone = [one for one, text in known.items() if texts.get(one) != text]
            fresh = [(one, text) for one, text in texts.items() if known.get(one) != text]
            if gone or fresh:
                _remove(index, gone)
                _add(index, fresh)
                index.execute("DELETE FROM frequency")
                index.execute("INSERT INTO frequency SELECT term, doc FROM vocabulary")
            self._count = len(texts)
            total = index.execute("SELECT sum(cnt) FROM vocabulary").fetchone()[0]
            self._length = (total or 1) / max(1, self._count)
            index.execute("DELETE FROM source")
            index.execute(
                "INSERT INTO source VALUES (?, ?, ?)", (self._state, self._count, self._length)
            )

    def _understand(self, index: sqlite3.Connection) -> None:
        """Keep vectors of the newest texts, so that a query compares them in less than 1 ms."""
        rows = "SELECT id, text FROM learnings ORDER BY number DESC LIMIT ?"
        newest: dict[str, str] = dict(index.execute(rows, (MEANT,)))
        known = {one: kept for one, kept in self._meant.items() if newest.get(one) == kept[0]}
        fresh = [one for one in newest if one not in known]
        vectors = HashedConcepts().embed([newest[one] for one in fresh])
        self._meant = known | {
            one: (newest[one], vector) for one, vector in zip(fresh, vectors, strict=True)
        }

    # reading ----------------------------------------------------------------------------------

    def _rank(self, index: sqlite3.Connection, query: Sequence[str]) -> dict[str, float]:
        rare = self._rarest_first(index, query)
        weight = weights(self._count, rare)
        found: dict[int, None] = {}
        for term in rare:
            room = MAX_CHECKED - len(found)
            if room <= 0:
                break
            numbers = index.execute(
                "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?",
                (f'"{term}"', room),
            )
            found.update((number, None) for (number,) in numbers)
        marks = ",".join("?" * len(found))
        rows = index.execute(
            f"SELECT id, terms FROM learnings WHERE number IN ({marks})", list(found)
        )
        return {
            one: score
            for one, said in rows
            if (score := bm25(said.split(), weight, self._length)) > 0
        }

    def _rarest_first(self, index: sqlite3.Connection, query: Sequence[str]) -> dict[str, int]:
        met = {
            term: row[0]
            for term in query[: 4 * MAX_TERMS]
            if (
                row := index.execute(
                    "SELECT learnings FROM frequency WHERE term = ?", (term,)
                ).fetchone()
            )
        }
        return dict(sorted(met.items(), key=lambda one: one[1])[:MAX_TERMS])


def _remove(index: sqlite3.Connection, ids: Iterable[str]) -> None:
    for one in ids:
        row = "FROM learnings WHERE id = ?"
        index.execute(
            f"INSERT INTO words (words, rowid, terms) SELECT 'delete', number, terms {row}", (one,)
        )
        index.execute(f"DELETE {row}", (one,))


def _add(index: sqlite3.Connection, fresh: Iterable[tuple[str, str]]) -> None:
    rest = iter(fresh)
    next_number = index.execute("SELECT coalesce(max(number), 0) + 1 FROM learnings").fetchone()[0]
    while batch := list(islice(rest, _BATCH)):
        rows = [
            (next_number + place, one, text, " ".join(terms(text)))
            for place, (one, text) in enumerate(batch)
        ]
        index.executemany("INSERT INTO learnings VALUES (?, ?, ?, ?)", rows)
        index.executemany(
            "INSERT INTO words (rowid, terms) VALUES (?, ?)",
            ((number, said) for number, _, _, said in rows),
        )
        next_number += len(batch)
