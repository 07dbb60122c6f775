"""What counts as a failure of a tool, and which denials can be permitted."""

from ralph_tui.events import SessionStarted, ToolDenied, ToolFinished, ToolStarted
from ralph_tui.state import RunState


def test_neither_a_denial_nor_an_interrupt_is_a_failure() -> None:
    state = RunState().apply_all(
        [
            SessionStarted(iteration=1, session_id="s", agent="a"),
            *(ToolStarted(iteration=1, tool_id=f"{n}", tool="Bash") for n in range(4)),
            ToolDenied(iteration=1, tool="Bash", tool_id="0", permit="Bash(rm:*)"),
            ToolFinished(iteration=1, tool_id="0", ok=False, prevented="denied"),
            ToolFinished(iteration=1, tool_id="1", ok=False),
            ToolFinished(iteration=1, tool_id="2", ok=False),
            ToolFinished(iteration=1, tool_id="3", ok=False, prevented="interrupted"),
            # Older agents tell only at the end of a turn what was denied in it.
            ToolDenied(iteration=1, tool="Bash", tool_id="2", permit="Bash(rm:*)"),
        ]
    )
    assert state.agent.tool_errors == 1


def test_every_line_of_a_denial_is_offered_and_none_where_none_helps() -> None:
    state = RunState().apply_all(
        [
            ToolDenied(iteration=1, tool="Bash", permit="Bash(curl:*)", also=["Bash(git push:*)"]),
            ToolDenied(iteration=1, tool="Bash", permit="Bash(curl:*)"),
            ToolDenied(iteration=1, tool="Write", final=True),
        ]
    )
    assert state.needs.denied == {"Bash(curl:*)": 2, "Bash(git push:*)": 1}
    assert state.run.denied == 3


def test_failing_tests_are_no_failure_of_the_agents_call() -> None:
    state = RunState().apply_all(
        [
            SessionStarted(iteration=1, session_id="s", agent="a"),
            ToolStarted(iteration=1, tool_id="0", tool="Bash", summary="pytest -q"),
            ToolFinished(iteration=1, tool_id="0", ok=False, summary="exit 1"),
            ToolStarted(iteration=1, tool_id="1", tool="Bash", summary="rm nothing"),
            ToolFinished(iteration=1, tool_id="1", ok=False, summary="exit 1"),
        ]
    )
    assert state.agent.tool_errors == 1
    tests, removal = (row for row in state.agent.rows if row.kind == "tool")
    assert (tests.ok, tests.result, removal.ok) == (True, "exit 1", False)
