"""An end closes all pending activity: in an ended run nothing still works or waits."""

from collections.abc import Callable

import pytest

from ralph_tui import events as ev
from ralph_tui.state import RunState
from tests.world.recorder import Recorder

ENDS: list[Callable[[], ev.Event]] = [
    lambda: ev.RunFinished(outcome="aborted", reason="by you", iterations=1, completion=0),
    lambda: ev.RunCrashed(error="KeyError: 'x'", traceback=""),
    lambda: ev.RunResumed(found="it was killed"),
]


def begun() -> Recorder:
    run = Recorder(10)
    run.baseline(0)
    run.open(1)
    run.add(ev.AgentSpoke(iteration=1, text="I begin."))
    return run


@pytest.mark.parametrize("end", ENDS)
def test_what_was_going_on_is_closed(end: Callable[[], ev.Event]) -> None:
    run = begun()
    run.add(ev.ToolStarted(iteration=1, tool_id="open", tool="Bash", summary="sleep 100"))
    run.add(ev.UsageReported(iteration=1, tokens=500, cost_usd=0.5))
    run.add(ev.WaitStarted(iteration=1, cause="overload"))
    run.add(ev.GateStarted(iteration=1, command="pytest -q"))
    run.add(ev.PauseRequested())
    before = RunState().apply_all(run.events)
    assert before.gate.running_since
    assert before.agent.rows[-2].running

    run.add(end())
    state = RunState().apply_all(run.events)
    assert state.gate.running_since is None, "no verification runs"
    assert not any(row.running for row in state.agent.rows), "no call waits for its answer"
    assert state.needs.wait is None
    assert not state.run.session_running
    assert not state.run.takes_guidance
    assert not state.run.pause_requested
    assert state.run.cost_usd == 0.5, "spent iterations stay spent"


@pytest.mark.parametrize("end", ENDS)
def test_a_pause_is_over_with_its_run(end: Callable[[], ev.Event]) -> None:
    run = begun()
    run.add(ev.Paused())
    run.add(end())
    assert not RunState().apply_all(run.events).run.paused


def test_a_call_that_was_cut_off_is_told_as_such() -> None:
    run = begun()
    run.add(ev.ToolStarted(iteration=1, tool_id="open", tool="Bash", summary="sleep 100"))
    run.add(ENDS[0]())
    row = RunState().apply_all(run.events).agent.rows[-1]
    assert (row.running, row.ok, row.result) == (False, False, "no answer")
