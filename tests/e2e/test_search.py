"""Search the records and open a result, end to end, with a real run."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ralph_tui.ports.search import NOT_SEARCHED
from tests.e2e.cli import events_of, here, project
from tests.e2e.tmux import Terminal
from tests.unit.adapters.search.journals import a_run, attempt, write

SAY = (
    'cat >/dev/null; echo "looking at the zebra enclosure"; touch done-0.txt; '
    """echo '{"ralph": {"completion": 25, "summary": "mocked the zebra provider"}}'"""
)


def search(root: Path, *words: str) -> list[dict[str, object]]:
    output = here("search", "--json", *words, cwd=root).stdout
    return [json.loads(line) for line in output.splitlines()]


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    write(attempt(tmp_path), a_run())
    return tmp_path


def test_what_a_run_did_is_found_and_opens_at_that_moment(git_repo: Path) -> None:
    root = project(git_repo)
    here(
        *("run", "Put a zebra into every test", "-c", "sh checks.sh", "--agent", "command"),
        *("--agent-command", SAY, "--max-iterations", "1", "--headless"),
        cwd=root,
    )
    found = search(root, "zebra")
    assert {"objective", "action", "outcome"} <= {one["kind"] for one in found}
    for one in found:
        words = str(one["open"]).split()
        assert words[:2] == ["ralph-tui", "replay"]
        shown = events_of(here(*words[1:], "--json", cwd=root).stdout)
        assert shown[-1]["seq"] == one["seq"]
        last = shown[-1:] if one["kind"] != "action" else shown[-9:]  # what it said just before
        assert "zebra" in json.dumps(last)


def test_results_say_what_where_when_and_how_to_see_it(recorded: Path) -> None:
    output = here("search", "oauth", "mock", cwd=recorded).stdout
    assert "learning · task-001/001 · iteration 1 · 2026-11-20 " in output
    assert "  *Mock* the *OAuth* provider first" in output
    assert "  ralph-tui replay task-001/001 --at 7" in output


def test_kind_limit_and_json(recorded: Path) -> None:
    (one,) = search(recorded, "oauth mock", "--kind", "learning")
    assert one == {
        "kind": "learning",
        "run": "task-001/001",
        "iteration": 1,
        "seq": 7,
        "at": "2026-11-20T14:00:07Z",
        "objective": "Fix the failing OAuth tests",
        "text": "Mock the OAuth provider first",
        "marks": [[0, 4], [9, 14]],
        "open": "ralph-tui replay task-001/001 --at 7",
    }
    assert len(search(recorded, "oauth", "--limit", "2")) == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere"], f"no results for nowhere; try fewer or shorter words; {NOT_SEARCHED}\n"),
        (['"(:'], "the query has no words; try ralph-tui search "),
        ([""], "the query has no words; "),
    ],
)
def test_no_match_is_one_kind_sentence(recorded: Path, words: list[str], sentence: str) -> None:
    done = here("search", *words, cwd=recorded)
    assert done.returncode == 0
    assert done.stdout.startswith(sentence)
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["x", "--limit", "0"], "--limit takes 1 to 1000, not 0"),
        (["x", "--kind", "song"], "not 'song'"),
        ([], "QUERY is missing"),
    ],
)
def test_a_bad_search_is_refused_in_one_sentence(
    recorded: Path, words: list[str], sentence: str
) -> None:
    done = here("search", *words, cwd=recorded)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_replay_begins_at_the_event_that_was_asked_for(recorded: Path) -> None:
    whole = here("replay", "task-001", "--json", cwd=recorded).stdout.splitlines()
    until_there = here("replay", "task-001", "--at", "5", "--json", cwd=recorded).stdout
    assert until_there.splitlines() == whole[:5]
    lines = here("replay", "task-001", "--at", "5", cwd=recorded).stdout
    assert "pytest -q tests/api" in lines
    assert "completed" not in lines


@pytest.mark.parametrize("at", ["0", "-3"])
def test_what_is_no_number_of_an_event_is_told_before_a_run_is_looked_for(
    recorded: Path, at: str
) -> None:
    done = here("replay", "nowhere", f"--at={at}", cwd=recorded)
    assert done.returncode == 2
    assert done.stderr == f"ralph-tui: --at takes an event number from 1 up, not {at}\n"


@pytest.mark.parametrize("at", ["11", "99999999999999999999"])
def test_no_such_event_is_one_sentence(recorded: Path, at: str) -> None:
    done = here("replay", "task-001", f"--at={at}", cwd=recorded)
    assert done.returncode == 2
    assert done.stderr == (
        f"ralph-tui: attempt 001 has 10 events; --at must be from 1 to 10, not {at}\n"
    )


@contextmanager
def terminal(root: Path, *arguments: str) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    screen = Terminal([*arguments], root, width=100, height=30)
    try:
        yield screen
    finally:
        screen.close()


def test_the_screen_opens_held_at_that_event(recorded: Path) -> None:
    with terminal(recorded, "replay", "task-001", "--at", "5") as screen:
        screen.shows("5/10")
        assert "completed" not in screen.screen
        screen.press("End")
        screen.shows("completed")
        screen.press("q")
        assert screen.exit_code() == 0


def test_the_screen_refuses_no_such_event_before_it_opens(recorded: Path) -> None:
    with terminal(recorded, "replay", "task-001", "--at", "77") as screen:
        screen.shows("has 10 events; --at must be from 1 to 10, not 77")
        assert screen.exit_code() == 2


def test_the_doctor_says_what_finds_similar_tasks(recorded: Path) -> None:
    done = here("doctor", "--embedder", cwd=recorded)
    assert done.returncode == 0
    assert done.stdout.startswith("embedder ")
    if "built-in" in done.stdout:
        assert "uv tool install '.[embeddings]'" in done.stdout


def test_the_index_of_a_repository_without_runs_is_nothing_to_commit(git_repo: Path) -> None:
    here("search", "zebra", cwd=git_repo)
    assert (git_repo / ".aiwg" / "ralph" / "index" / "search.db").exists()
    listed = subprocess.run(
        ["git", "status", "--short"], cwd=git_repo, check=True, capture_output=True, text=True
    )
    assert listed.stdout == ""
