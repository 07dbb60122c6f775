"""Tool failures, and denials that a setting could permit."""

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.away import while_away
from ralph_tui.analysis.report import Circumstances, report
from ralph_tui.events.asking import AgentRequest
from ralph_tui.events.waiting import Topic
from ralph_tui.state import RunState
from ralph_tui.tui.panes.header import header_lines
from tests.world.recorder import Recorder


def test_neither_a_denial_nor_an_interrupt_is_a_failure() -> None:
    state = RunState().apply_all(
        [
            ev.SessionStarted(iteration=1, session_id="s", agent="a"),
            *(ev.ToolStarted(iteration=1, tool_id=f"{n}", tool="Bash") for n in range(4)),
            ev.ToolDenied(iteration=1, tool="Bash", tool_id="0", permit="Bash(rm:*)"),
            ev.ToolFinished(iteration=1, tool_id="0", ok=False, prevented="denied"),
            ev.ToolFinished(iteration=1, tool_id="1", ok=False),
            ev.ToolFinished(iteration=1, tool_id="2", ok=False),
            ev.ToolFinished(iteration=1, tool_id="3", ok=False, prevented="interrupted"),
            # Older agents report denials only at the end of a turn.
            ev.ToolDenied(iteration=1, tool="Bash", tool_id="2", permit="Bash(rm:*)"),
        ]
    )
    assert state.agent.tool_errors == 1


def test_every_line_of_a_denial_is_offered_and_none_where_none_helps() -> None:
    state = RunState().apply_all(
        [
            ev.ToolDenied(
                iteration=1, tool="Bash", permit="Bash(curl:*)", also=["Bash(git push:*)"]
            ),
            ev.ToolDenied(iteration=1, tool="Bash", permit="Bash(curl:*)"),
            ev.ToolDenied(iteration=1, tool="Write", final=True),
        ]
    )
    assert state.needs.denied == {"Bash(curl:*)": 2, "Bash(git push:*)": 1}
    assert state.needs.denials == 3


def test_a_refusal_by_the_user_counts_as_a_denial_once() -> None:
    """A question without an answer is no denial, nor is the agent's own question."""
    run = Recorder()
    request = AgentRequest(request_id="r", tool="Bash", input="git push")

    def asked(number: int, topic: Topic = "permission") -> ev.QuestionAsked:
        name = f"q{number}"
        return ev.QuestionAsked(
            iteration=1, question_id=name, topic=topic, text="?", options=[], request=request
        )

    steps: list[ev.Event] = [
        ev.ToolStarted(iteration=1, tool_id="0", tool="Bash"),
        asked(1), ev.QuestionAnswered(question_id="q1", answer="refuse"),
        ev.ToolFinished(iteration=1, tool_id="0", ok=False, prevented="denied"),
        ev.AgentRefusedAgain(iteration=1, request_id="r2", question_id="q1"),
        asked(2), ev.QuestionAnswered(question_id="q2", answer="once"),
        asked(3, "choice"), ev.QuestionAnswered(question_id="q3", answer="refuse"),
        ev.AgentRefusedAgain(iteration=1, request_id="r3", question_id="q3"),
        asked(4), ev.QuestionWithdrawn(question_id="q4", reason="interrupted"),
        ev.ToolDenied(iteration=1, tool="Bash", permit="Bash(curl:*)"),
    ]  # fmt: skip
    for event in steps:
        run.add(event)
    state = RunState().apply_all(run.events)
    assert state.needs.denials == summarize(state)["denied"] == 3
    assert state.needs.denied == {"Bash(curl:*)": 1}
    (header, *_) = [r for r in header_lines(state, run.at, 120) if any("denied" in t for t, _ in r)]
    assert "3 denied" in "".join(text for text, _ in header)
    assert ", 3 denied" in report(run.events, Circumstances())
    assert "3 tool calls denied" in [row.text for row in while_away(state, run.at, None)]


@pytest.mark.parametrize(("by", "level"), [("you", "owner"), ("the default", "warn")])
def test_only_a_persons_answer_has_the_sign_of_the_owner(by: str, level: str) -> None:
    request = AgentRequest(request_id="r", tool="Bash", input="git push")
    asked = ev.QuestionAsked(
        iteration=1, question_id="q", topic="permission", text="?", options=[], request=request
    )
    answered = ev.QuestionAnswered(question_id="q", answer="refuse", by=by)
    run = Recorder()
    run.add(asked)
    run.add(answered)
    (entry,) = RunState().apply_all(run.events).log.entries
    assert entry.head.level == level


def test_failing_tests_are_no_failure_of_the_agents_call() -> None:
    state = RunState().apply_all(
        [
            ev.SessionStarted(iteration=1, session_id="s", agent="a"),
            ev.ToolStarted(iteration=1, tool_id="0", tool="Bash", summary="pytest -q"),
            ev.ToolFinished(iteration=1, tool_id="0", ok=False, summary="exit 1"),
            ev.ToolStarted(iteration=1, tool_id="1", tool="Bash", summary="rm nothing"),
            ev.ToolFinished(iteration=1, tool_id="1", ok=False, summary="exit 1"),
        ]
    )
    assert state.agent.tool_errors == 1
    tests, removal = (row for row in state.agent.rows if row.kind == "tool")
    assert (tests.ok, tests.result, removal.ok) == (True, "exit 1", False)
