"""The agent `codex` with a misbehaving program: it dies, asks twice, prints noise."""

from typing import Any

import pytest

from ralph_tui import events as ev
from ralph_tui.ports.agents import AgentAnswer, Permissions
from tests.agent_sessions import Heard, alive
from tests.doubles.scenario import Answer
from tests.e2e.codex.lab import GUIDANCE, SLEEPER, Lab, bash, is_asked, scripted


def hostile(stub: Lab, habit: str, *answers: Answer, mode: Any = "skip") -> tuple[Heard, Any]:
    with stub.agent(scripted(*answers, hostile=habit)) as agent:
        heard = Heard()
        session = agent.start(stub.turn(permissions=Permissions(mode)), heard)
        return heard, session


def test_it_dies_in_the_handshake(stub: Lab) -> None:
    heard, session = hostile(stub, "dies in the handshake")
    finished = heard.finished()
    assert (finished.outcome, finished.exit_code) == ("not_started", 3)
    assert finished.reason == (
        "Codex ended with code 3 before it started: ERROR cannot open the database of sessions; "
        "run `codex` by hand to see why."
    )
    assert not session.send(GUIDANCE, "hello")


def test_noise_and_unknown_kinds_are_kept_and_said(stub: Lab) -> None:
    with stub.agent(scripted(bash("ls"), Answer(text="done"), hostile="noisy")) as agent:
        heard = Heard()
        agent.start(stub.turn(), heard)
        assert heard.finished().outcome == "success"
    noted = [event.text for event in heard.of(ev.AgentNoted)]
    assert noted == [
        "Not a message: WARN noise",
        "Unknown kind of message, kept in the transcript: brandNew/thing",
        "Unknown kind of message, kept in the transcript: brandNew/question",
    ]


def test_it_asks_twice(stub: Lab) -> None:
    with stub.agent(scripted(bash("touch a"), Answer(text="x"), hostile="asks twice")) as agent:
        heard = Heard()
        session = agent.start(stub.turn(permissions=Permissions("ask")), heard)
        asked = heard.wait_for(is_asked)
        assert isinstance(asked, ev.AgentAsked)
        assert session.answer(asked.request_id, AgentAnswer("once"))
        assert heard.finished().outcome == "success"
    assert len(heard.of(ev.AgentAsked)) == 1
    assert (stub.root / "a").exists()


@pytest.mark.parametrize(
    ("habit", "outcome", "reason"),
    [
        ("asks and dies", "error", "the agent has ended"),
        ("takes back", "success", "the agent withdrew it"),
    ],
)
def test_a_question_that_wants_no_answer_any_more(
    stub: Lab, habit: str, outcome: str, reason: str
) -> None:
    with stub.agent(scripted(bash("touch a"), Answer(text="x"), hostile=habit)) as agent:
        heard = Heard()
        session = agent.start(stub.turn(permissions=Permissions("ask")), heard)
        assert heard.finished().outcome == outcome
    (asked,), (gone,) = heard.of(ev.AgentAsked), heard.of(ev.AgentAskedNoMore)
    assert (gone.request_id, gone.reason) == (asked.request_id, reason)
    assert not session.answer(asked.request_id, AgentAnswer("once"))
    assert not (stub.root / "a").exists()


def test_what_comes_after_a_cancel_changes_nothing(stub: Lab) -> None:
    habit = "answers after a cancel"
    with stub.agent(scripted(bash(SLEEPER), hostile=habit)) as agent:
        heard = Heard()
        session = agent.start(stub.turn(permissions=Permissions("ask", ("Bash",))), heard)
        heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
        session.stop("interrupted")
        finished = heard.finished()
    assert finished.outcome == "interrupted"
    assert not heard.of(ev.AgentAsked)
    assert not (stub.root / "late").exists()


def test_ten_megabytes_in_a_line(stub: Lab) -> None:
    with stub.agent(scripted(bash("ls"), Answer(text="done"), hostile="huge")) as agent:
        heard = Heard()
        agent.start(stub.turn(), heard)
        assert heard.finished().outcome == "success"
    assert [event.summary for event in heard.of(ev.ToolFinished)] == ["1 line"]


def test_one_that_does_not_listen_is_gone_in_time(stub: Lab) -> None:
    with stub.agent(scripted(bash(SLEEPER), hostile="stubborn")) as agent:
        heard = Heard()
        session = agent.start(stub.turn(), heard)
        heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
        session.stop("interrupted")
        finished = heard.finished()
    assert finished.outcome == "interrupted"
    assert not alive(session.pid)
