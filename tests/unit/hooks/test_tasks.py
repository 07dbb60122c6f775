"""Loops that hooks recorded are tasks in the records, once."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.aiwg.tasks import read_attempt
from ralph_tui.adapters.records.attempts import AttemptFolder
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.lock import acquire
from ralph_tui.adapters.search.related import related_tasks
from ralph_tui.config.files import REPOSITORY_FILE
from ralph_tui.hooks.tasks import track
from ralph_tui.runtime.past_runs import RecordedRuns
from ralph_tui.runtime.sources.run_list import ListedRuns
from tests.e2e.cli import events_of, here
from tests.hooked import NAME, HookedLoop

OBJECTIVE = "Move to the new service"


def contents(root: Path) -> dict[str, bytes]:
    tasks = ralph_folder(root) / "tasks"
    return {str(p.relative_to(tasks)): p.read_bytes() for p in tasks.rglob("*") if p.is_file()}


def value(root: Path, name: str) -> Any:
    return json.loads(contents(root)[name])


def at_its_limit(root: Path, name: str = NAME) -> HookedLoop:
    """A loop that reached its limit with half of its plan done."""
    loop = HookedLoop(root, name)
    loop.begin()
    loop.tool("t1", "src/oauth.ts", 42)
    for k, completion in enumerate((25.0, 50.0), 1):
        if k > 1:
            loop.say("iteration_started", iteration=k, max_iterations=2)
        loop.say("reading_taken", iteration=k, completion=completion, source="plan", total=4)
        loop.say("iteration_finished", iteration=k, status="incomplete", completion=completion)
    loop.say(
        "run_finished",
        outcome="limit_reached",
        reason="All 2 iterations are used.",
        iterations=2,
        completion=50.0,
    )
    return loop


def test_an_ended_loop_is_a_task_with_an_attempt_and_a_reflection(tmp_path: Path) -> None:
    loop = at_its_limit(tmp_path)
    whole = loop.journal.read_text()
    loop.journal.write_text("".join(whole.splitlines(keepends=True)[:-1]))
    assert not track(tmp_path) | track(tmp_path, again=True), "it is not over"
    loop.journal.write_text(whole)
    assert track(tmp_path) == {NAME}
    before = contents(tmp_path)
    (ralph_folder(tmp_path) / "hooks" / "tasks.json").unlink()
    assert track(tmp_path) == {NAME}
    assert contents(tmp_path) == before, "no duplicate"
    attempt = value(tmp_path, "task-001/attempts/001/attempt.json")
    assert (attempt["run_id"], attempt["description"]) == (NAME, OBJECTIVE)
    assert (attempt["status"], attempt["outcome"]["status"]) == ("failed", "timeout")
    assert attempt["execution"]["actions_performed"] == 1
    [reflection] = attempt["reflections"]
    assert (reflection["attempt_id"], reflection["triggered_by"]) == (1, "timeout")
    assert reflection["learning"]
    assert value(tmp_path, "task-001/reflections.jsonl")["learning"] == reflection["learning"]
    assert value(tmp_path, "task-001/metadata.json")["status"] == "failed"
    [listed] = value(tmp_path, "task-001/trajectory.json")["attempts"]
    journal = ralph_folder(tmp_path) / "tasks" / "task-001" / listed["journal"]
    assert journal.resolve() == loop.journal
    action = json.loads(contents(tmp_path)["task-001/attempts/001/actions.jsonl"])
    assert (action["tool"], action["params"]) == ("Edit", {"file_path": "src/oauth.ts"})
    silent, off = tmp_path / "silent", tmp_path / "off"
    loop = HookedLoop(silent)
    loop.begin()
    os.utime(loop.journal, (1, 1))
    assert track(silent) == {NAME}, "long silent"
    at_its_limit(off)
    (off / REPOSITORY_FILE).write_text("[memory]\nenabled = false\n")
    assert track(off) == {NAME}
    assert value(off, "task-001/attempts/001/attempt.json")["reflections"] == []


def test_a_second_look_adds_nothing(tmp_path: Path) -> None:
    at_its_limit(tmp_path)
    track(tmp_path)
    before = contents(tmp_path)
    track(tmp_path)
    track(tmp_path, again=True)
    assert contents(tmp_path) == before
    (ralph_folder(tmp_path) / "hooks" / "tasks.json").unlink()
    assert track(tmp_path) == {NAME}
    assert contents(tmp_path) == before, "its attempt is found by the loop's name"
    at_its_limit(tmp_path, "20260108T000000Z-33334444")
    track(tmp_path)
    assert value(tmp_path, "task-001/metadata.json")["total_attempts"] == 2


def test_a_running_loop_waits_and_a_silent_one_is_unknown(tmp_path: Path) -> None:
    loop = HookedLoop(tmp_path)
    loop.begin()
    assert track(tmp_path) == frozenset()
    os.utime(loop.journal, (1, 1))
    assert track(tmp_path) == {NAME}
    attempt = value(tmp_path, "task-001/attempts/001/attempt.json")
    assert (attempt["status"], "outcome" in attempt) == ("failed", False)
    assert attempt["reflections"] == []
    assert "unknown" in here("status", "hooks", cwd=tmp_path).stdout
    for words in (["history"], ["history", "--status", "unknown"], ["history", "task-001/1"]):
        listed = here(*words, cwd=tmp_path).stdout
        assert "unknown" in listed
        assert "died" not in listed
    loop.tool("t1", "src/oauth.ts", 42)
    assert "task-001  running" in here("history", cwd=tmp_path).stdout, "its next session works"
    loop.end()
    track(tmp_path)
    assert [*contents(tmp_path)].count("task-001/attempts/001/attempt.json") == 1
    assert value(tmp_path, "task-001/metadata.json")["status"] == "completed"
    assert value(tmp_path, "task-001/metadata.json")["total_attempts"] == 1


def test_a_loop_that_continues_after_its_end_keeps_its_attempt(tmp_path: Path) -> None:
    loop = at_its_limit(tmp_path)
    track(tmp_path)
    before = contents(tmp_path)
    loop.say("iteration_started", iteration=3, max_iterations=3)
    track(tmp_path)
    assert contents(tmp_path) == before, "it is running again"
    loop.say("iteration_finished", iteration=3, status="completed", completion=100.0)
    loop.say("run_finished", outcome="completed", reason="done", iterations=3, completion=100.0)
    track(tmp_path)
    attempt = value(tmp_path, "task-001/attempts/001/attempt.json")
    assert (attempt["outcome"]["outcome"], attempt["execution"]["iterations"]) == ("completed", 3)


def test_while_a_run_owns_the_worktree_nothing_is_written(tmp_path: Path) -> None:
    at_its_limit(tmp_path)
    lock = acquire(ralph_folder(tmp_path) / "lock", "task-009/001", "r", "now")
    assert track(tmp_path) == frozenset()
    lock.release()
    assert track(tmp_path) == {NAME}


@pytest.mark.parametrize("said", [b"\xff", b'{"loops": {"%s": {"attempt": "../x/1"}}}', b"[]"])
def test_no_file_in_its_place_stops_it(tmp_path: Path, said: bytes) -> None:
    at_its_limit(tmp_path)
    (ralph_folder(tmp_path) / "hooks" / "tasks.json").write_bytes(said)
    assert track(tmp_path) == {NAME}
    assert read_attempt(ralph_folder(tmp_path) / "tasks/task-001/attempts/001") is not None


def test_history_lists_the_loop_as_a_task_only(tmp_path: Path) -> None:
    at_its_limit(tmp_path)
    [listed] = json.loads(here("history", "--json", cwd=tmp_path).stdout)
    assert (listed["task"], listed["description"]) == ("task-001", OBJECTIVE)
    page = here("history", "task-001/001", cwd=tmp_path).stdout
    assert f"ralph-tui replay hooks/{NAME}" in page
    refused = here("history", "task-001", "--reflect", "x", cwd=tmp_path)
    assert "is a loop that hooks recorded" in refused.stderr
    record = ralph_folder(tmp_path) / "tasks/task-001/attempts/001/attempt.json"
    before = contents(tmp_path)
    record.write_text("garbage")
    here("rebuild", cwd=tmp_path)
    (aside,) = record.parent.glob("*.bad")
    aside.unlink()
    assert contents(tmp_path) == before


def test_home_makes_it_a_task_and_lists_it_once(tmp_path: Path) -> None:
    loop = at_its_limit(tmp_path)
    home = ListedRuns(tmp_path)
    listed = {name for _ in range(3) for name in home.names() or ()}
    assert listed == {f"hooks/{NAME}"}
    assert value(tmp_path, "task-001/metadata.json")["total_attempts"] == 1
    assert read_journal(loop.journal).problem == "", "the hooks' journal is left alone"


def test_a_journal_that_cannot_be_read_does_not_hinder_the_others(tmp_path: Path) -> None:
    at_its_limit(tmp_path)
    other = HookedLoop(tmp_path, "20260101T000000Z-00000000")
    other.journal.write_text("garbage\n")
    os.utime(other.journal, (1, 1))
    assert track(tmp_path) == {NAME}


def test_it_is_found_by_search_and_as_a_similar_task(tmp_path: Path) -> None:
    at_its_limit(tmp_path)
    similar = "Move the shop to the new service"
    assert related_tasks(tmp_path, similar) == [], "it is no task yet"
    track(tmp_path)
    assert [one.task for one in related_tasks(tmp_path, similar)] == ["task-001"]
    past = RecordedRuns(AttemptFolder.following(tmp_path, similar))
    [related] = past.related()
    assert [said.cite for said in related.reflections] == ["task-001/001 #1"]
    assert f"hooks/{NAME}" in here("search", "new service", cwd=tmp_path).stdout


def test_the_next_run_of_the_task_cites_the_reflection(git_repo: Path) -> None:
    at_its_limit(git_repo)
    agent = ("--agent", "command", "--agent-command", "tee prompt.txt")
    run = here(
        "run", OBJECTIVE, "-c", "false", *agent, "--json", "--max-iterations", "1", cwd=git_repo
    )
    [plan] = [event for event in events_of(run.stdout) if event["kind"] == "plan_made"]
    assert plan["cites"] == ["task-001/001 #1"]
    [reflection] = value(git_repo, "task-001/attempts/001/attempt.json")["reflections"]
    assert reflection["learning"] in (git_repo / "prompt.txt").read_text()
