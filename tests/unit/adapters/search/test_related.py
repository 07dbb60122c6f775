"""Similar tasks, and what a plan learns from them."""

from pathlib import Path

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.records.attempts import AttemptFolder
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.search import related
from ralph_tui.adapters.search.database import index_folder
from ralph_tui.adapters.search.embedder import HashedConcepts
from ralph_tui.adapters.search.related import MOST, likeness, related_tasks, similarity
from ralph_tui.layers.memory.content import iterations_of
from ralph_tui.layers.memory.extraction import learn_from_run
from ralph_tui.layers.memory.task_types import task_type
from ralph_tui.runtime.past_runs import RecordedRuns
from ralph_tui.state import RunState
from tests.unit.adapters.search.journals import BEGIN, a_run, attempt, started, write

OBJECTIVE = "Fix the failing tests of the login"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number, objective in enumerate(
        (
            OBJECTIVE,
            "Repair the red specs around authentication",
            "Fix the failing tests of the date parser, which round leap seconds",
            "Add a login page",
            "Write the manual",
        ),
        1,
    ):
        write(attempt(tmp_path, f"task-{number:03}/001"), measured_run(objective, f"run-{number}"))
    return tmp_path


def measured_run(objective: str, run_id: str) -> list[ev.Event]:
    first, *rest = a_run(objective, run_id)
    start, end = (ev.ReadingTaken(iteration=k, completion=100 * k, source="tests") for k in (0, 1))
    return [first, start, *rest[:-1], end, rest[-1]]


def test_similar_tasks_with_another_description(root: Path) -> None:
    found = related_tasks(root, OBJECTIVE)
    assert found[0].task == "task-002"
    assert found[0].description == "Repair the red specs around authentication"
    assert "task-005" not in {one.task for one in found}


def test_the_kind_of_a_task_is_a_feature_and_no_filter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their words, one is of the kind test-fix, and the other of no kind."""
    for number, objective in enumerate(("Fix the failing auth tests", "Write the manual"), 1):
        write(attempt(tmp_path, f"task-{number:03}/001"), measured_run(objective, f"run-{number}"))
    words = "Repair the broken authentication test suite"
    assert task_type(words) != task_type("Fix the failing auth tests")
    assert [one.task for one in related_tasks(tmp_path, words)] == ["task-001"]
    with monkeypatch.context() as patch:
        patch.setattr(related, "MAX_CHECKED", 0)
        assert related_tasks(tmp_path, words) == [], "no more than these are compared"
    query, texts = "Fix the login test", ["Fix a failing date test", "Add a date page"]
    without = similarity(query, texts, HashedConcepts())
    same, other = likeness(query, texts, HashedConcepts())
    assert same == pytest.approx(without[0] + 0.1)
    assert other == without[1]


def test_at_most_five_most_alike_first(root: Path) -> None:
    for number in range(10, 20):
        name = f"task-{number:03}/001"
        write(attempt(root, name), [started(f"{OBJECTIVE}, part {number}", name)])
    found = related_tasks(root, OBJECTIVE)
    assert len(found) == MOST
    assert [one.similarity for one in found] == sorted(
        (one.similarity for one in found), reverse=True
    )


def test_nothing_recorded_nothing_related(tmp_path: Path) -> None:
    assert related_tasks(tmp_path, OBJECTIVE) == []


def test_an_index_that_is_not_to_be_had_is_no_hindrance(root: Path) -> None:
    index_folder(root).parent.mkdir(exist_ok=True)
    index_folder(root).write_text("in the way")
    assert related_tasks(root, OBJECTIVE)[0].task == "task-002"


def test_a_plan_is_told_their_iterations_and_reflections(root: Path) -> None:
    mine = AttemptFolder.create(root, f"{OBJECTIVE} page", BEGIN)
    past = RecordedRuns(mine)
    related = {one.task: one for one in past.related()}
    assert related["task-001"].iterations == (1,)
    (said,) = related["task-001"].reflections
    assert said.cite == "task-001/001 #1"
    assert said.learning == "Mock whatever asks for credentials"


def test_a_plan_counts_the_iterations_that_an_estimate_counts(tmp_path: Path) -> None:
    """The measured ones: the second was cut off, and the third did its work."""
    cut = ev.IterationStarted(iteration=2, max_iterations=9)
    again = ev.IterationStarted(iteration=3, max_iterations=9)
    measured = ev.ReadingTaken(iteration=3, completion=100, source="tests")
    *done, end = measured_run(OBJECTIVE, "run-1")
    write(attempt(tmp_path, "task-001/001"), [*done, cut, again, measured, end])
    state = RunState().apply_all(read_journal(attempt(tmp_path) / "events.jsonl").events)
    [learned] = [one for one in learn_from_run(state, "completed") if one.type == "estimate"]
    assert iterations_of(learned.content) == 2
    mine = AttemptFolder.create(tmp_path, OBJECTIVE, BEGIN)
    assert list(RecordedRuns(mine).iterations()) == [2]


def test_a_task_is_not_related_to_itself(tmp_path: Path) -> None:
    """Its record and description may differ: two lines become one."""
    said = f"{OBJECTIVE}\n\nand of the \x1b[1mlogout\x1b[0m"
    mine = AttemptFolder.create(tmp_path, said, BEGIN)
    write(mine.folder, [started(said.replace("\n\n", " "), "run-1")])
    assert list(RecordedRuns(mine).related()) == []


def test_what_a_run_recorded_can_be_found_and_a_problem_is_told(root: Path) -> None:
    folder = AttemptFolder.create(root, "Paint the zebra", BEGIN)
    past = RecordedRuns(folder)
    write(folder.folder, [started("Paint the zebra", "run-9")])
    assert past.index() == []
    index_folder(root).rename(index_folder(root).with_name("moved"))
    index_folder(root).write_text("in the way")
    (sentence,) = past.index()
    assert sentence.startswith("this run is not in the search index yet: ")
