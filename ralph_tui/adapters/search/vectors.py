"""Vectors that are kept: ``.aiwg/ralph/index/embeddings/<embedder>.db``, by the text's hash."""

import sqlite3
from array import array
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from ralph_tui.adapters.search.database import Database, index_folder
from ralph_tui.adapters.search.embedder import Embedder, Vector
from ralph_tui.errors import SearchError

VERSION: Final = 1
SCHEMA: Final = "CREATE TABLE vectors (hash BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
_NUMBER = "f"


class KeptVectors:
    """Embeds a text once, and never again in this worktree."""

    def __init__(self, root: Path, embedder: Embedder) -> None:
        self._embedder = embedder
        path = index_folder(root) / "embeddings" / f"{embedder.name}.db"
        self._database = Database(path, VERSION, SCHEMA)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """As the embedder does; where vectors cannot be kept they are made again."""
        try:
            return self._database.use(lambda kept: self._from(kept, texts))
        except SearchError:
            return self._embedder.embed(texts)

    def _from(self, kept: sqlite3.Connection, texts: Sequence[str]) -> list[Vector]:
        hashes = {text: sha256(text.encode("utf-8", "replace")).digest() for text in texts}
        known = {text: vector for text in hashes if (vector := self._read(kept, hashes[text]))}
        fresh = [text for text in hashes if text not in known]
        if fresh:
            made = dict(zip(fresh, self._embedder.embed(fresh), strict=True))
            with kept:
                kept.execute("BEGIN IMMEDIATE")
                kept.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                    ((hashes[text], array(_NUMBER, made[text]).tobytes()) for text in fresh),
                )
            known |= made
        return [known[text] for text in texts]

    def _read(self, kept: sqlite3.Connection, key: bytes) -> Vector | None:
        row = kept.execute("SELECT vector FROM vectors WHERE hash = ?", (key,)).fetchone()
        vector = array(_NUMBER)
        if row is None or not isinstance(row[0], bytes):
            return None
        if len(row[0]) != self._embedder.dimension * vector.itemsize:
            return None
        vector.frombytes(row[0])
        return vector
