"""Search for what a user types: the places where it occurs, with an excerpt from each.

Rule: a query consists of words. Quotes, operators and colons mean nothing. A word also matches
longer words that begin with it.
"""

import re
import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from ralph_tui.adapters.search.database import WAIT_SECONDS
from ralph_tui.adapters.search.documents import KINDS
from ralph_tui.adapters.search.index import OtherRun, catch_up, index_of
from ralph_tui.adapters.search.terms import query_terms, terms
from ralph_tui.base.errors import SearchError
from ralph_tui.ports.search import Found
from ralph_tui.text.sanitize import one_line, plain

MAX_WORDS: Final = 32
"""Maximum number of words in a query; the rest is ignored."""
SPARE: Final = 4
"""Number of rows to fetch per result, because some rows are duplicates."""
EXCERPT: Final = 200
"""Maximum length of an excerpt, in characters."""
BEFORE: Final = 40
"""Number of characters before the first match in an excerpt."""
WEIGHTS: Final = dict(zip(KINDS, (1.6, 1.5, 1.4, 1.2, 1.2, 1.0), strict=True))
"""Weights of documents by kind; actions weigh least, because there are thousands of them."""
_TOKENS = re.compile(r"[^\W_]+")


def ignore_sentence(_: str) -> None:
    """Ignore the sentence."""


def search(
    root: Path,
    query: str,
    limit: int = 50,
    *,
    kinds: Collection[str] = KINDS,
    others: Sequence[OtherRun] | None = None,
    report: Callable[[str], None] = ignore_sentence,
) -> list[Found]:
    """Return the places in a worktree's records where a query's words occur, best first; blocks.

    `others` are the runs there that other tools have recorded. The index is brought up to date
    first. If it cannot be written, an index in memory is used, and `report` is called with a
    sentence. Raises ``SearchError``.
    """
    index = index_of(root)

    def work(connection: sqlite3.Connection) -> list[Found]:
        catch_up(connection, root, others)
        return _search(connection, query, limit, kinds)

    try:
        return index.use(work, wait=WAIT_SECONDS)
    except SearchError as error:
        report(f"{error}; searching all records without it")
    try:
        with closing(index.in_memory()) as connection:
            return work(connection)
    except sqlite3.Error as error:
        raise SearchError(f"the records cannot be searched: {error}") from error


def _search(
    index: sqlite3.Connection, query: str, limit: int, kinds: Collection[str]
) -> list[Found]:
    words = [_expression(token) for token in _tokens(query)]
    found: dict[tuple[str, str, str], tuple[float, sqlite3.Row]] = {}
    # Documents with all words come first, then those with any of them.
    for better, joined in ((1, " AND ".join(words)), (0, " OR ".join(words))):
        if words and len(found) < limit and (better or len(words) > 1):
            for row in _rows(index, joined, SPARE * limit, kinds):
                run, kind, text, rank = row[0], row[1], row[5], row[6]
                task = run.partition("/")[0] if kind == "objective" else run
                score = -rank * WEIGHTS.get(kind, 1.0) + 1000 * better
                found.setdefault((task, kind, text), (score, row))
    best = sorted(found.values(), key=lambda one: one[0], reverse=True)[:limit]
    try:
        return [_found(index, row, query_terms(query)) for _, row in best]
    except (ValueError, TypeError) as error:
        raise sqlite3.DatabaseError("a row has an unknown format") from error


def _rows(
    index: sqlite3.Connection, expression: str, most: int, kinds: Collection[str]
) -> list[sqlite3.Row]:
    marks = ",".join("?" * len(kinds))
    return index.execute(
        "SELECT run, kind, seq, iteration, at, text, rank FROM words "
        f"JOIN documents ON documents.id = words.rowid WHERE words MATCH ? AND kind IN ({marks}) "
        "ORDER BY rank, documents.id DESC LIMIT ?",
        (expression, *kinds, most),
    ).fetchall()


def _tokens(query: str) -> list[str]:
    """Return the words to search for; fillers only if there is nothing else."""
    wanted = set(query_terms(query))
    named = [token for token in _TOKENS.findall(query) if terms(token)[0] in wanted]
    return list(dict.fromkeys(named))[:MAX_WORDS]


def _expression(token: str) -> str:
    """Return the index's expression for a word of only letters and digits."""
    whole, *parts = terms(token)
    begins = f'"{whole}"*' if len(whole) > 2 else f'"{whole}"'
    if len(parts) < 2:
        return begins
    together = " AND ".join(f'"{part}"' for part in parts)
    return f"({begins} OR ({together}))"


def _found(index: sqlite3.Connection, row: Sequence[Any], wanted: Sequence[str]) -> Found:
    """Build a result. Anyone may have written to the file, so its texts are sanitised."""
    run, kind, seq, iteration, at, text, _ = row
    objective = index.execute(
        "SELECT text FROM documents WHERE run = ? AND kind = 'objective'", (run,)
    ).fetchone()
    shown = excerpt(plain(text), wanted)
    return Found(
        what=one_line(kind),
        run=one_line(run),
        text=shown.text,
        marks=shown.marks,
        seq=int(seq),
        iteration=int(iteration),
        objective=plain(objective[0]) if objective else "",
        at=datetime.fromisoformat(at),
    )


@dataclass(frozen=True)
class Excerpt:
    """A piece of a text on one line, and the positions of the matches in it."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def excerpt(text: str, wanted: Sequence[str], width: int = EXCERPT) -> Excerpt:
    """Return the piece of `text` around the first match of the `wanted` terms."""
    line = " ".join(text.split())
    places = _places(line, wanted)
    start = 0
    if places and len(line) > width:
        start = max(0, min(places[0][0] - BEFORE, len(line) - width))
        start = line.rfind(" ", 0, start) + 1 if start else 0
    head = "… " if start else ""
    rest = line[start:]
    cut = rest if len(rest) <= width else rest[: width - 1].rstrip() + "…"
    shift = len(head) - start
    end = len(head) + len(cut)
    marks = [(begin + shift, stop + shift) for begin, stop in places if begin >= start]
    return Excerpt(head + cut, tuple((a, b) for a, b in marks if b <= end))


def _places(line: str, wanted: Sequence[str]) -> list[tuple[int, int]]:
    return [
        match.span()
        for match in _TOKENS.finditer(line)
        if any(
            term == word or (len(word) > 2 and term.startswith(word))
            for term in terms(match[0])
            for word in wanted
        )
    ]
