"""The index of learnings: matches, speed, and that it never fails a run."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ralph_tui.adapters.knowledge.store import KnowledgeStore
from ralph_tui.adapters.search.database import index_folder
from ralph_tui.adapters.search.learnings import MAX_CHECKED, LearningIndex
from ralph_tui.events.memory import Learning
from ralph_tui.layers.memory.content import learning_id

TEXTS = {
    "learn-a": "Mock the OAuth provider before the API tests run",
    "learn-b": "Always run the linter before committing",
    "learn-c": "Database tests need a fresh schema; never share one",
    "learn-d": "The parser tests are fast, run them first",
}


@pytest.fixture
def index(tmp_path: Path) -> LearningIndex:
    made = LearningIndex(tmp_path)
    made.update(lambda: TEXTS)
    return made


def test_what_shares_more_and_rarer_words_comes_first(index: LearningIndex) -> None:
    scores = index.scores("fix the tests that need an OAuth mock")
    assert next(iter(scores)) == "learn-a"
    assert scores["learn-a"] > scores["learn-d"] > 0
    assert "learn-b" not in scores


def test_what_means_the_same_is_found_without_a_common_word(tmp_path: Path) -> None:
    index = LearningIndex(tmp_path)
    texts = {"learn-a": "Mock authentication", "learn-b": "Paint the fence"}
    assert index.scores("login") == {}
    assert list(index.scores_among("login", "one", lambda: texts)) == ["learn-a"]


@pytest.mark.parametrize(
    "query",
    ["", "   ", '"', "'", "a", "AND", "OR NOT", "NEAR(a b)", "terms:x", "*", "x*", "ü", "("],
)
def test_no_query_is_an_error(index: LearningIndex, query: str) -> None:
    assert set(index.scores(query)) <= set(TEXTS)


def test_only_what_differs_is_indexed_again(tmp_path: Path, index: LearningIndex) -> None:
    def numbers() -> dict[str, int]:
        with closing(sqlite3.connect(index_folder(tmp_path) / "learnings.db")) as looked:
            return dict(looked.execute("SELECT id, number FROM learnings"))

    before = numbers()
    changed = {**TEXTS, "learn-b": "Always run the formatter", "learn-e": "Pin the time zone"}
    del changed["learn-d"]
    index.update(lambda: changed)
    after = numbers()
    assert {one: after[one] for one in ("learn-a", "learn-c")} == {
        one: before[one] for one in ("learn-a", "learn-c")
    }
    assert after["learn-b"] != before["learn-b"]
    assert set(index.scores("formatter linter parser zone")) == {"learn-b", "learn-e"}


def test_another_process_finds_it_as_it_was_left(tmp_path: Path, index: LearningIndex) -> None:
    index.close()
    other = LearningIndex(tmp_path)
    other.update(lambda: TEXTS)
    assert next(iter(other.scores("oauth"))) == "learn-a"


def test_a_damaged_index_is_made_anew(tmp_path: Path, index: LearningIndex) -> None:
    index.close()
    path = index_folder(tmp_path) / "learnings.db"
    path.write_bytes(b"no database at all" * 100)
    index.update(lambda: TEXTS)
    assert next(iter(index.scores("oauth"))) == "learn-a"
    assert path.read_bytes().startswith(b"SQLite format 3")


def test_an_index_that_lost_its_tables_still_answers(tmp_path: Path, index: LearningIndex) -> None:
    with closing(sqlite3.connect(index_folder(tmp_path) / "learnings.db")) as other, other:
        other.execute("DROP TABLE frequency")
    assert next(iter(index.scores("oauth"))) == "learn-a"


def test_a_locked_index_is_no_hindrance(
    tmp_path: Path, index: LearningIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.close()
    monkeypatch.setattr("ralph_tui.adapters.search.database.WAIT_SECONDS", 0.05)
    holder = sqlite3.connect(index_folder(tmp_path) / "learnings.db", isolation_level=None)
    try:
        holder.execute("BEGIN EXCLUSIVE")
        other = LearningIndex(tmp_path)
        other.update(lambda: TEXTS)
        assert next(iter(other.scores("oauth"))) == "learn-a"
    finally:
        holder.close()


def test_what_an_agent_puts_in_its_place_is_not_opened(tmp_path: Path) -> None:
    folder = index_folder(tmp_path)
    folder.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    (folder / "learnings.db").symlink_to(elsewhere)
    os.mkfifo(folder / "learnings.db-journal")
    index = LearningIndex(tmp_path)
    index.update(lambda: TEXTS)
    assert next(iter(index.scores("oauth"))) == "learn-a"
    assert elsewhere.read_text() == "mine"


def test_common_words_make_few_be_looked_at(tmp_path: Path) -> None:
    index = LearningIndex(tmp_path)
    many = {f"learn-{n}": f"run tests of module {n}, then fix what fails" for n in range(3000)}
    index.update(lambda: many)
    found = index.scores("fix failing tests of the module")
    assert 0 < len(found) <= MAX_CHECKED
    assert next(iter(index.scores("fix the tests of module 17"))) == "learn-17"


def test_texts_are_indexed_once_for_each_state(index: LearningIndex, tmp_path: Path) -> None:
    texts = {"learn-x": "Seed the random generator"}
    assert set(index.scores_among("random seed", "one", lambda: texts)) == {"learn-x"}
    texts["learn-y"] = "A random order of tests"  # unrealistic, but it shows what is checked
    for reader in (index, LearningIndex(tmp_path)):
        assert set(reader.scores_among("random order", "one", lambda: texts)) == {"learn-x"}
    for reader in (index, LearningIndex(tmp_path)):
        assert next(iter(reader.scores_among("random order", "two", lambda: texts))) == "learn-y"


def test_an_index_of_the_same_state_ranks_as_the_process_that_wrote_it(
    index: LearningIndex, tmp_path: Path
) -> None:
    wanted = index.scores_among("fix the parser tests", "one", lambda: TEXTS)
    again = LearningIndex(tmp_path).scores_among("fix the parser tests", "one", dict)
    assert again == wanted


def test_the_knowledge_files_are_looked_up_in_it(index: LearningIndex, tmp_path: Path) -> None:
    store = KnowledgeStore(tmp_path / ".aiwg" / "knowledge", "run-2", scores=index.scores_among)
    first = KnowledgeStore(tmp_path / ".aiwg" / "knowledge", "run-1")
    first.stage([learning(text) for text in TEXTS.values()])
    found = store.candidates("the tests that need an OAuth mock", "test-fix")
    best = max(found, key=lambda one: one.score)
    assert best.learning.text == TEXTS["learn-a"]


def learning(text: str) -> Learning:
    return Learning(
        learning_id=learning_id("strategy", "test-fix", text),
        type="strategy",
        task_type="test-fix",
        text=text,
        content={"approach": text},
        confidence=0.9,
    )
