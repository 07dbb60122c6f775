"""The last screen of a run: it shows when another terminal resumes that run."""

import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from ralph_tui.adapters.records.lock import acquire
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.events import Event
from ralph_tui.runtime import steering
from ralph_tui.runtime.assembly import AssembledRun
from ralph_tui.runtime.sources.live import Live
from ralph_tui.runtime.steering import Steering
from ralph_tui.state import RunState
from tests.unit.adapters.search.journals import a_run, attempt, write
from tests.waiting import until


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """The steering of an ended run on its last screen."""
    monkeypatch.setattr(steering, "LOOK_S", 0.01)
    journal = write(attempt(tmp_path), a_run())
    state = RunState().apply_all(a_run())
    run = SimpleNamespace(
        attempt=SimpleNamespace(journal=journal), engine=SimpleNamespace(state=state)
    )
    screen = Steering(deque(), deque[Event]().append)
    thread = threading.Thread(target=screen.serve, args=(cast("AssembledRun", run),))
    thread.start()
    try:
        yield screen.live
    finally:
        screen.leave()
        thread.join()


def more(root: Path) -> Path:
    """Append an event as another process would; repeat it if the screen was not watching yet."""
    return write(attempt(root), a_run()[1:2], first=20)


def test_who_goes_on_with_it_is_named_until_that_is_over(tmp_path: Path, live: Live) -> None:
    past = RecordedRun(attempt(tmp_path) / "events.jsonl")
    assert (live.note, live.overtaken) == ("", "")
    lock = acquire(past.lock, past.name, "run-1", "now")
    until(lambda: more(tmp_path) and live.overtaken)
    assert live.note == live.overtaken
    assert "it continues in another terminal: ralph-tui attach task-001/001" in live.note
    lock.release()
    until(lambda: "continued it" in live.note)
    assert "it is completed now: ralph-tui attach task-001/001 shows it" in live.note
    assert live.overtaken == live.note, "nothing is left to continue"


def test_another_run_of_the_worktree_is_not_this_one(tmp_path: Path, live: Live) -> None:
    past = RecordedRun(attempt(tmp_path) / "events.jsonl")
    lock = acquire(past.lock, "task-002/001", "another", "now")
    until(lambda: more(tmp_path) and live.note)
    assert "it continues" not in live.note
    lock.release()
