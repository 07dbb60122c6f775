"""Summary of a run's checkpoints."""

from functools import partial
from typing import Any

from ralph_tui import events as ev
from ralph_tui.analysis.checkpoints import summarize, words_of
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.sensor.categories import files_changed
from ralph_tui.state import RunState
from ralph_tui.text.format import day_and_clock
from tests.world.recorder import Recorder

MB = 2**20


def captured(
    k: int, number: int, trigger: Any, session: str, s: float, mb: int, **more: Any
) -> Any:
    return ev.CheckpointCaptured(
        iteration=k,
        number=number,
        trigger=trigger,
        snapshot=number,
        session_id=session,
        duration_s=s,
        memory_bytes=mb * MB,
        **more,
    )


def started(k: int, session: str) -> ev.SessionStarted:
    return ev.SessionStarted(iteration=k, session_id=session, agent="claude")


def changed(k: int, *paths: str, more: int = 0) -> ev.FilesChanged:
    changes = [FileChange(path=p, status="modified", category="source", added=1) for p in paths]
    event = files_changed(k, changes, live=False)
    total = event.totals[0]
    files = total.model_copy(update={"files": total.files + more})
    return event.model_copy(update={"totals": [files]})


def table_lines(*events: Any) -> list[str]:
    run = Recorder(10)
    for event in events:
        if isinstance(event, ev.CheckpointCaptured) and event.session_id and event.number == 1:
            run.add(started(event.iteration, event.session_id), 0)
        run.add(event, 0)
    state = RunState().apply_all(run.events)
    summary = summarize(state.timeline, state.at)
    if summary is None:
        return []
    return words_of(summary, partial(day_and_clock, now=state.at))


def test_it_says_how_many_over_how_long_of_which_files_and_which_was_the_last() -> None:
    rows = table_lines(
        captured(0, 1, "start", "", 0, 0),
        ev.IterationStarted(iteration=1, max_iterations=10),
        captured(1, 1, "start", "a", 0, 0),
        captured(1, 2, "timer", "a", 1800, 312),
        captured(1, 3, "end", "a", 2400, 200),
        changed(1, "a.py", "b.py"),
        ev.IterationStarted(iteration=2, max_iterations=10),
        captured(2, 1, "start", "b", 0, 0),
        changed(2, "b.py", "c.py"),
        captured(2, 2, "key", "b", 65, 1500, files=5, modified=["b.py", "c.py", "d.py", "e.py"]),
    )
    assert rows[:3] == [
        "6 checkpoints: 3 at the start, 1 by timer, 1 on request, 1 at the end",
        "2 sessions, 41m in all, 3 files changed",
        "the agent's peak memory: 1.5 GB, in iteration 2",
    ]
    assert rows[3].startswith("last: iteration 2, on request, ")
    assert rows[3].endswith(
        ", 1m 5s into its session, snapshot 2, "
        "5 files changed in the iteration: b.py, c.py, d.py and 2 more"
    )
    assert len(rows) == 4


def test_what_is_not_known_is_left_out() -> None:
    """A run of an older version recorded no session and no memory."""
    rows = table_lines(
        ev.IterationStarted(iteration=1, max_iterations=10),
        ev.CheckpointCaptured(iteration=1, number=1, trigger="start", duration_s=9),
        changed(1, "a.py", more=4),
    )
    assert rows[:2] == ["1 checkpoint: 1 at the start", "at least 1 file changed"]
    assert rows[2].startswith("last: iteration 1, at the start, ")
    assert rows[2].endswith(", no snapshot, 0 files changed in the iteration")


def test_a_run_without_checkpoints_has_no_summary() -> None:
    assert table_lines() == []


def test_sessions_that_were_killed_or_replaced_count_with_their_time() -> None:
    run = Recorder(10)
    run.add(ev.IterationStarted(iteration=1, max_iterations=10))
    run.add(started(1, "limited"))
    run.add(ev.SessionFinished(iteration=1, outcome="limited", duration_s=7))
    run.add(started(1, "killed"))
    run.add(captured(1, 1, "start", "killed", 0, 0), 0)
    run.wait(seconds=5)
    run.usage(1, 0.12)
    run.wait(hours=2)
    cut = RunState().apply_all(run.events)
    run.add(ev.RunResumed(found="it was killed", away_s=7200), 0)
    run.add(started(1, "last"))
    run.usage(1, 0.20)
    run.wait(seconds=9)
    run.add(ev.SessionFinished(iteration=1, outcome="success", duration_s=9, cost_usd=0.25))
    state = RunState().apply_all(run.events)
    before, after = (summarize(reported.timeline, reported.at) for reported in (cut, state))
    assert before is not None
    assert after is not None
    assert (before.sessions, round(before.seconds)) == (2, 7 + 5)
    assert (after.sessions, round(after.seconds)) == (3, 7 + 5 + 9)
    assert state.run.cost_usd == 0.12 + 0.25
