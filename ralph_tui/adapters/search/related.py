"""Related tasks: similar tasks with another description, from the index."""

import sqlite3
from array import array
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from ralph_tui.adapters.records.folders import number_of
from ralph_tui.adapters.records.runs import HOOKED, attempts_of_hooked
from ralph_tui.adapters.search.database import Database, index_folder
from ralph_tui.adapters.search.embedder import Embedder, HashedConcepts, Vector, cosines
from ralph_tui.adapters.search.index import catch_up, index_of
from ralph_tui.adapters.search.ranking import shares
from ralph_tui.adapters.search.trained import trained_embedder
from ralph_tui.base.errors import SearchError
from ralph_tui.layers.memory.task_types import task_type
from ralph_tui.text.json_fields import as_map
from ralph_tui.text.sanitize import plain

Method = Literal["text", "embedder", "both"]

BEST: Final[Method] = "both"
"""The default; ``python -m bench --only retrieval`` measures each method."""
TEXT_SHARE: Final = 0.2
"""Weight of the words in `both`; the best value on the half of the data used for tuning."""

Embed = Callable[[Sequence[str]], Sequence[Vector]]


def similarity(
    query: str,
    texts: Sequence[str],
    embedder: Embedder,
    method: Method = BEST,
    *,
    embed: Embed | None = None,
) -> list[float]:
    """Return how similar each text is to the query, 0 to 1; `embed` may use cached vectors."""
    by_words = [min(1.0, share) for share in shares(query, texts)]
    if method == "text":
        return by_words
    first, *others = (embed or embedder.embed)([query, *texts])
    by_meaning = [min(1.0, max(0.0, share)) for share in cosines(first, others, embedder.dimension)]
    if method == "embedder":
        return by_meaning
    return [
        TEXT_SHARE * words + (1 - TEXT_SHARE) * meaning
        for words, meaning in zip(by_words, by_meaning, strict=True)
    ]


VERSION: Final = 2
SCHEMA: Final = "CREATE TABLE vectors (hash BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
FEW: Final = 100
"""Up to this many texts, vectors are read one by one; above it, all vectors are read at once."""


class KeptVectors:
    """A cache of vectors: a text is embedded only once per worktree."""

    def __init__(self, root: Path, embedder: Embedder) -> None:
        self._embedder = embedder
        path = index_folder(root) / "embeddings" / f"{embedder.name}.db"
        self._database = Database(path, VERSION, SCHEMA)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return the embedder's vectors; if they cannot be cached, they are computed again."""
        try:
            return self._database.use(lambda kept: self._from(kept, texts))
        except SearchError:
            return self._embedder.embed(texts)

    def _from(self, kept: sqlite3.Connection, texts: Sequence[str]) -> list[Vector]:
        hashes = {text: sha256(text.encode("utf-8", "replace")).digest() for text in texts}
        rows = _rows_of(kept, hashes.values())
        known = {
            text: vector
            for text, key in hashes.items()
            if (vector := self._parse(rows.get(key))) is not None
        }
        fresh = [text for text in hashes if text not in known]
        if fresh:
            made = dict(zip(fresh, self._embedder.embed(fresh), strict=True))
            with kept:
                kept.execute("BEGIN IMMEDIATE")
                kept.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                    ((hashes[text], _bytes_of(made[text])) for text in fresh),
                )
            known |= made
        return [known[text] for text in texts]

    def _parse(self, row: object) -> Vector | None:
        """Return the vector of a row; None if there is none, or another program wrote it."""
        places: array[int] = array("H")
        weights: array[float] = array("f")
        number, rest = divmod(len(row), _BYTES) if isinstance(row, bytes) else (0, 1)
        if rest or not isinstance(row, bytes):
            return None
        split = number * places.itemsize
        places.frombytes(row[:split])
        weights.frombytes(row[split:])
        if number and max(places) >= self._embedder.dimension:
            return None
        return Vector(places, weights)


_BYTES = array("H").itemsize + array("f").itemsize
"""Size in bytes of one position and its weight."""


def _bytes_of(vector: Vector) -> bytes:
    return vector.places.tobytes() + vector.weights.tobytes()


def _rows_of(kept: sqlite3.Connection, keys: Collection[bytes]) -> dict[bytes, object]:
    if len(keys) > FEW:
        return dict(kept.execute("SELECT hash, vector FROM vectors"))
    one = "SELECT hash, vector FROM vectors WHERE hash = ?"
    return dict(row for key in keys for row in kept.execute(one, (key,)))


MOST: Final = 5
"""Maximum number of related tasks to return."""
MAX_CHECKED: Final = 10_000
"""Maximum number of tasks to compare, newest first."""
SAME_KIND: Final = 0.1
"""Added to the similarity of tasks of the same kind; the best value on the tuning half."""


@dataclass(frozen=True)
class SimilarTask:
    """A task similar to another one."""

    task: str
    description: str
    similarity: float
    """0 to 1."""


def likeness(
    description: str, texts: Sequence[str], using: Embedder, *, embed: Embed | None = None
) -> list[float]:
    """Return how similar tasks with these descriptions are; their kind is one of the features."""
    kind, least = task_type(description), using.threshold - SAME_KIND
    scores = similarity(description, texts, using, embed=embed)
    return [
        min(1.0, score + SAME_KIND) if score >= least and task_type(text) == kind else score
        for score, text in zip(scores, texts, strict=True)
    ]


def embedder() -> Embedder:
    """Return the trained embedder if it is installed, otherwise the built-in one."""
    return trained_embedder()[0] or HashedConcepts()


def related_tasks(
    root: Path, description: str, *, own: str = "", using: Embedder | None = None, most: int = MOST
) -> list[SimilarTask]:
    """Return the tasks of a worktree that are similar to `description`, best first; blocks.

    `own` is the name of the task itself, whose recorded description may differ from `description`.
    If the records cannot be read, the result is empty: related tasks are helpful but not essential.
    """
    using = using or embedder()
    others = [
        (task, said) for task, said in _descriptions(root) if task != own and said != description
    ][:MAX_CHECKED]
    texts = [said for _, said in others]
    scores = likeness(description, texts, using, embed=KeptVectors(root, using).embed)
    found = [
        SimilarTask(task, said, score)
        for (task, said), score in zip(others, scores, strict=True)
        if score >= using.threshold
    ]
    return sorted(found, key=lambda one: -one.similarity)[:most]


def _descriptions(root: Path) -> Sequence[tuple[str, str]]:
    """Return tasks and their descriptions, newest first."""
    index = index_of(root)
    loops = {
        f"{HOOKED}/{name}": str(as_map(fields).get("attempt"))
        for name, fields in attempts_of_hooked(root).items()
    }

    def work(connection: sqlite3.Connection) -> list[tuple[str, str]]:
        catch_up(connection, root)
        return connection.execute(
            "SELECT run, text FROM documents WHERE kind = 'objective' AND "
            "(run GLOB 'task-*' OR run GLOB 'hooks/*') ORDER BY at DESC"
        ).fetchall()

    try:
        rows = index.use(work)
    except SearchError:
        try:
            with closing(index.in_memory()) as connection:
                rows = work(connection)
        except sqlite3.Error:
            return []
    found: dict[str, str] = {}
    for run, text in rows:
        task = loops.get(run, str(run)).partition("/")[0]
        if number_of(task):
            found.setdefault(task, plain(str(text)))
    return list(found.items())
