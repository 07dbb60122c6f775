"""The header while a fallback agent works."""

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.state import RunState
from ralph_tui.tui.panes.header import header_lines
from tests.world.recorder import Recorder


def taken_over() -> RunState:
    """The chosen agent is at its limit after reporting $0.00 and a window; the other: neither."""
    run = Recorder()
    run.step(1, 10)
    run.add(ev.SessionStarted(iteration=1, session_id="a", agent="claude"))
    run.add(ev.UsageReported(iteration=1, tokens=0, cost_usd=0.0, context_window=200_000))
    run.add(ev.SessionFinished(iteration=1, outcome="limited", limit="usage_limit", cost_usd=0.0))
    run.add(ev.AgentChanged(iteration=1, before="claude", agent="codex", cause="usage_limit"))
    run.add(ev.SessionStarted(iteration=1, session_id="b", agent="codex"))
    run.add(ev.ToolStarted(iteration=1, tool_id="t", tool="Bash", summary="touch a.txt"))
    return RunState().apply_all(run.events)


@pytest.mark.parametrize("width", [80, 120, 160])
def test_who_works_is_seen_and_what_nobody_told_is_not_zero(width: int) -> None:
    state = taken_over()
    first, second, _ = ("".join(t for t, _ in row) for row in header_lines(state, state.at, width))
    assert "codex" in first
    assert "$0" not in second
    assert "0 %" not in second.partition("context")[2]
    assert summarize(state)["cost_usd"] is None
