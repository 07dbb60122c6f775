"""The index follows the journals and is only a cache: losing it loses nothing."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ralph_tui.adapters.search.database import index_folder
from ralph_tui.adapters.search.index import index_attempt, index_of
from ralph_tui.adapters.search.query import search
from ralph_tui.events import AgentReported, IterationStarted, ToolStarted
from tests.rows import each_row
from tests.unit.adapters.search.journals import a_run, attempt, started, write


def rows(root: Path) -> list[tuple[str, int, int]]:
    """Kind, event and iteration of each document."""
    with closing(sqlite3.connect(index_folder(root) / "search.db")) as looked:
        return looked.execute("SELECT kind, seq, iteration FROM documents ORDER BY id").fetchall()


@contextmanager
def held(root: Path) -> Iterator[None]:
    """Another process writes to the index."""
    other = sqlite3.connect(index_folder(root) / "search.db", isolation_level=None)
    try:
        other.execute("BEGIN EXCLUSIVE")
        yield
    finally:
        other.close()


def test_every_kind_is_found_at_its_event(tmp_path: Path) -> None:
    folder = attempt(tmp_path)
    write(folder, a_run())
    handoff = folder / "results" / "iter-001" / "handoff-1.md"
    handoff.parent.mkdir(parents=True)
    handoff.write_text("Next: look after the redirect page")
    assert index_attempt(tmp_path, folder) == ""
    assert rows(tmp_path) == [
        ("objective", 1, 0),
        ("action", 4, 1),
        ("action", 5, 1),
        ("outcome", 6, 1),
        ("learning", 7, 1),
        ("handoff", 8, 1),
        ("reflection", 9, 1),
        ("outcome", 10, 1),
    ]
    (found,) = search(tmp_path, "redirect page")
    assert (found.what, found.run, found.seq) == ("handoff", "task-001/001", 8)


def test_it_is_read_on_from_where_it_was_left(tmp_path: Path) -> None:
    folder = attempt(tmp_path)
    write(folder, [started(), IterationStarted(iteration=3, max_iterations=9)])
    index_attempt(tmp_path, folder)
    index = index_of(tmp_path)
    index.use(lambda c: c.execute("UPDATE documents SET text = 'as it was indexed'"))
    call = ToolStarted(iteration=3, tool_id="t", tool="Bash", summary="cargo nextest")
    write(folder, [call], first=3)
    index_attempt(tmp_path, folder)
    assert rows(tmp_path) == [("objective", 1, 0), ("action", 3, 3)]
    index.use(lambda c: c.execute("SELECT 1 FROM documents WHERE text = 'as it was indexed'"))
    with closing(sqlite3.connect(index_folder(tmp_path) / "search.db")) as looked, looked:
        assert looked.execute("SELECT text FROM documents").fetchone() == ("as it was indexed",)


def test_a_line_that_is_being_written_waits(tmp_path: Path) -> None:
    folder = attempt(tmp_path)
    journal = write(folder, [started()])
    whole = journal.read_bytes()
    write(folder, [AgentReported(iteration=1, summary="halfway")], first=2)
    line = journal.read_bytes()[len(whole) :]
    journal.write_bytes(whole + line[:20])
    index_attempt(tmp_path, folder)
    assert rows(tmp_path) == [("objective", 1, 0)]
    journal.write_bytes(whole + line)
    index_attempt(tmp_path, folder)
    assert rows(tmp_path) == [("objective", 1, 0), ("outcome", 2, 0)]


def test_a_journal_that_was_cut_and_went_on_is_read_again(tmp_path: Path) -> None:
    folder = attempt(tmp_path)
    journal = write(folder, a_run())
    index_attempt(tmp_path, folder)
    kept = b"".join(journal.read_bytes().splitlines(keepends=True)[:3])
    journal.write_bytes(kept)
    write(folder, [AgentReported(iteration=1, summary="another way " * 200)], first=4)
    index_attempt(tmp_path, folder)
    assert rows(tmp_path) == [("objective", 1, 0), ("outcome", 4, 1)]
    assert search(tmp_path, "conftest") == []


def test_a_bad_line_hides_only_what_comes_after_it(tmp_path: Path) -> None:
    folder = attempt(tmp_path)
    journal = write(folder, a_run()[:5])
    with journal.open("a") as file:
        file.write("garbage\n")
    write(folder, a_run()[5:], first=6)
    index_attempt(tmp_path, folder)
    assert [seq for _, seq, _ in rows(tmp_path)] == [1, 4, 5]


def test_a_search_takes_in_what_no_run_has(tmp_path: Path) -> None:
    write(attempt(tmp_path), a_run())
    write(attempt(tmp_path, "task-002/001"), a_run("Write the OAuth guide", "run-2"))
    assert {found.run for found in search(tmp_path, "guide")} == {"task-002/001"}


def test_what_is_gone_is_not_found_any_more(tmp_path: Path) -> None:
    write(attempt(tmp_path), a_run())
    assert search(tmp_path, "conftest")
    (attempt(tmp_path) / "events.jsonl").unlink()
    assert search(tmp_path, "conftest") == []


@each_row("there", [b"", b"garbage" * 900])
def test_several_at_once_take_nothing_twice(tmp_path: Path, there: bytes) -> None:
    folder = attempt(tmp_path)
    write(folder, a_run())
    if there:
        index_folder(tmp_path).mkdir(parents=True)
        (index_folder(tmp_path) / "search.db").write_bytes(there)
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            failed = index_attempt(tmp_path, folder, wait=20)
            os._exit(1 if failed else 0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    assert len(rows(tmp_path)) == 7


@each_row(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"SQLite format 3\0" + os.urandom(8000)),
        lambda path: path.write_text("hello"),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), path.symlink_to("/etc/hostname")),
        lambda path: (path.unlink(), os.mkfifo(path)),  # type: ignore[func-returns-value]
        lambda path: path.write_bytes(path.read_bytes()[:9000]),
    ],
)
def test_a_damaged_index_is_made_anew(tmp_path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    write(attempt(tmp_path), a_run())
    before = search(tmp_path, "oauth mock")
    assert before
    damage(index_folder(tmp_path) / "search.db")
    assert search(tmp_path, "oauth mock") == before
    assert index_attempt(tmp_path, attempt(tmp_path)) == ""


@each_row(
    "meddling",
    [
        "PRAGMA user_version = 99",
        "DROP TABLE documents",
        "DROP TABLE words",
        "UPDATE documents SET at = 'yesterday'",
        "UPDATE documents SET seq = 'x'",
    ],
)
def test_an_index_of_another_form_is_made_anew(tmp_path: Path, meddling: str) -> None:
    write(attempt(tmp_path), a_run())
    before = search(tmp_path, "oauth mock")
    with closing(sqlite3.connect(index_folder(tmp_path) / "search.db")) as other, other:
        other.execute(meddling)
    assert search(tmp_path, "oauth mock") == before


def test_a_locked_index_is_waited_for_briefly_then_left(tmp_path: Path) -> None:
    folder = attempt(tmp_path)
    write(folder, [started()])
    index_attempt(tmp_path, folder)
    write(folder, a_run()[1:], first=2)
    with held(tmp_path):
        sentence = index_attempt(tmp_path, folder, wait=0.05)
    assert sentence.startswith("this run is not in the search index yet: ")
    assert "in use by another process" in sentence
    assert index_attempt(tmp_path, folder) == ""
    assert len(rows(tmp_path)) == 7


def test_a_search_beside_a_locked_index_reads_the_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(attempt(tmp_path), a_run())
    before = search(tmp_path, "oauth mock")
    monkeypatch.setattr("ralph_tui.adapters.search.query.WAIT_SECONDS", 0.05)
    said: list[str] = []
    with held(tmp_path):
        assert search(tmp_path, "oauth mock", report=said.append) == before
    (sentence,) = said
    assert sentence.endswith("searching all records without it")


def test_a_key_does_not_surface_in_the_index(tmp_path: Path) -> None:
    key = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    folder = attempt(tmp_path)
    journal = write(folder, a_run())
    # Like a journal written by another program.
    said = journal.read_text().replace("Mocked the OAuth provider", f"used token {key} at last")
    journal.write_text(said)
    handoff = folder / "results" / "iter-001" / "handoff-1.md"
    handoff.parent.mkdir(parents=True)
    handoff.write_text(f"The token is {key}\n")
    found = search(tmp_path, "token")
    assert {one.what for one in found} >= {"outcome", "handoff"}
    assert all(key not in one.text for one in found)
    for path in index_folder(tmp_path).rglob("*"):
        assert not path.is_file() or key.lower().encode() not in path.read_bytes().lower()


def test_a_folder_in_its_place_is_named_as_what_to_take_away(tmp_path: Path) -> None:
    write(attempt(tmp_path), [started(objective="Mend the parser")])
    (index_folder(tmp_path) / "search.db").mkdir(parents=True)
    said: list[str] = []
    assert search(tmp_path, "parser", report=said.append)
    (reported,) = said
    assert "search.db: it cannot be opened; make its folder writable, or move it away" in reported
