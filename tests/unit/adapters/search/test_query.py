"""Search queries and their results."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ralph_tui.adapters.search.database import index_folder
from ralph_tui.adapters.search.query import EXCERPT, excerpt, search
from ralph_tui.adapters.search.terms import query_terms
from ralph_tui.events import AgentReported, IterationStarted, ToolStarted
from tests.rows import each_row
from tests.unit.adapters.search.journals import BEGIN, a_run, attempt, started, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(attempt(tmp_path), a_run())
    write(
        attempt(tmp_path, "task-002/001"),
        [
            started("Übersetze die Größe des OrderManager", "run-2"),
            IterationStarted(iteration=1, max_iterations=3),
            *[
                ToolStarted(iteration=1, tool_id=f"t{n}", tool="Bash", summary="make lint")
                for n in range(20)
            ],
            AgentReported(iteration=1, summary="the mock is in place"),
        ],
    )
    return tmp_path


def test_what_has_all_words_comes_first_and_says_where_it_stands(root: Path) -> None:
    found = search(root, "oauth mock")
    assert found[0].run == "task-001/001"
    assert {"learning", "outcome"} <= {one.what for one in found}
    best = next(one for one in found if one.what == "outcome")
    assert (best.seq, best.iteration) == (6, 1)
    assert best.at is not None
    assert (best.at - BEGIN).total_seconds() == 6
    assert best.objective == "Fix the failing OAuth tests"
    assert [best.text[a:b] for a, b in best.marks] == ["Mocked", "OAuth"]
    assert "task-002/001" in {one.run for one in found}, "one of the words is better than none"


@each_row(
    "query",
    [
        *('"', '""', "'", "(", ")", "*", "^", "-", "+", ":", "a", "ä", "x" * 5000, "\0", "\ud800"),
        *("AND", "OR", "NOT", "NEAR", "NEAR(a b, 2)", "oauth AND", "NOT oauth", "terms:oauth"),
        *('"oauth', "oauth*", "^oauth", "{oauth}", "oauth -mock", "a" * 50 + " OR b", "", "   "),
        *("日本語", "🙂", "%", "_", "';DROP TABLE documents;--", "\x1b[31m", "мир " * 500),
    ],
)
def test_no_query_is_an_error(root: Path, query: str) -> None:
    assert isinstance(search(root, query), list)


def test_syntax_means_nothing(root: Path) -> None:
    plain = search(root, "oauth mock")
    for query in ('"oauth" mock', "oauth: mock", "(oauth mock)", "OAUTH-mock", "mock\noauth"):
        assert [one.text for one in search(root, query)] == [one.text for one in plain]


@pytest.mark.parametrize(
    ("query", "what"),
    [("größe", "objective"), ("übersetze", "objective"), ("order manager", "objective")],
)
def test_other_letters_and_parts_of_names(root: Path, query: str, what: str) -> None:
    assert [one.what for one in search(root, query)] == [what]


def test_a_word_finds_what_begins_like_it(root: Path) -> None:
    assert any(one.what == "action" for one in search(root, "conf"))


def test_what_says_the_same_is_told_once(root: Path) -> None:
    (found,) = search(root, "lint")
    assert found.what == "action"


def test_an_objective_is_told_once_for_its_task(root: Path) -> None:
    write(attempt(root, "task-001/002"), [started(run_id="run-3")])
    objectives = [one for one in search(root, "failing oauth tests") if one.what == "objective"]
    assert [one.run for one in objectives] == ["task-001/002"]


def test_kinds_and_limit(root: Path) -> None:
    assert {one.what for one in search(root, "oauth mock", kinds=["learning"])} == {"learning"}
    assert len(search(root, "oauth mock", limit=2)) == 2


def test_what_somebody_put_into_the_index_is_sanitized(root: Path) -> None:
    assert search(root, "lint")
    with closing(sqlite3.connect(index_folder(root) / "search.db")) as other, other:
        other.execute("UPDATE documents SET text = 'make lint \x1b]0;owned\x07' WHERE seq > 2")
    assert all("\x1b" not in one.text for one in search(root, "lint"))


def test_an_excerpt_is_around_the_first_word_found() -> None:
    text = "word " * 200 + "the needle here " + "more " * 200
    shown = excerpt(text, query_terms("needle"))
    assert [shown.text[a:b] for a, b in shown.marks] == ["needle"]
    assert len(shown.text) <= EXCERPT + 2
    assert shown.text.startswith("… ")
    assert shown.text.endswith("…")


def test_an_excerpt_fills_one_line() -> None:
    assert excerpt("one\n\ttwo  three", ["two"]).text == "one two three"
