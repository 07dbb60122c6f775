"""The agent `claude` in the mode `ask`, on the stub: questions over its stream, and our answers."""

from pathlib import Path
from typing import Any

import pytest

from ralph_tui.events import (
    AgentAsked,
    AgentAskedNoMore,
    SessionFinished,
    ToolDenied,
    ToolFinished,
)
from ralph_tui.ports import AgentAnswer, Permissions, Session
from tests.e2e.test_claude_stub import Bench
from tests.unit.adapters.agents.test_sessions import Heard, alive
from tests.waiting import until


def bash(command: str) -> dict[str, Any]:
    return {"tools": [{"name": "Bash", "input": {"command": command, "description": "run"}}]}


QUESTIONS = {
    "questions": [
        {"question": "Which colour?", "header": "Colour", "multiSelect": False,
         "options": [{"label": "Blue", "description": "calm"}, {"label": "Red"}]},
    ]
}  # fmt: skip
PUSHES: dict[str, Any] = {
    "answers": [bash("touch one"), bash("touch two"), bash("mkdir three"), {"text": "done"}]
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.permissions = Permissions("ask")
    return bench


def begin(bench: Bench, scenario: dict[str, Any], **environ: str) -> tuple[Session, Heard]:
    heard = Heard()
    return bench.agent(scenario, **environ).start(bench.turn(), heard), heard


def asked(heard: Heard, number: int) -> AgentAsked:
    heard.wait_for(lambda event: len(heard.of(AgentAsked)) >= number)
    return heard.of(AgentAsked)[number - 1]


@pytest.mark.parametrize("version", ["2.1.328", "2.0.20"])
def test_once_session_and_no(bench: Bench, version: str) -> None:
    session, heard = begin(bench, PUSHES, STUB_VERSION=version)
    assert asked(heard, 1).rule == "Bash(touch one *)"
    assert not (bench.root / "one").exists(), "it waits"
    assert session.answer(asked(heard, 1).request_id, AgentAnswer("once"))
    assert session.answer(asked(heard, 2).request_id, AgentAnswer("session"))
    third = asked(heard, 3)
    assert session.answer(third.request_id, AgentAnswer("refuse", "Not here."))
    assert not session.answer(third.request_id, AgentAnswer("once")), "it is answered"
    finished = heard.finished()
    assert (finished.outcome, finished.tool_errors) == ("success", 0)
    assert sorted(path.name for path in bench.root.glob("t*")) == ["two"]
    assert (bench.root / "one").exists()
    assert not list(bench.root.glob(".claude*")), "nothing is written into the project"
    assert [tool.prevented for tool in heard.of(ToolFinished)] == ["", "", "denied"]
    assert not heard.of(ToolDenied), "what was refused by you is not counted as denied"


def test_what_a_session_allows_is_not_asked_again(bench: Bench) -> None:
    session, heard = begin(bench, {"answers": [bash("touch x a"), bash("touch x b"), {}]})
    session.answer(asked(heard, 1).request_id, AgentAnswer("session"))
    assert heard.finished().outcome == "success"
    assert len(heard.of(AgentAsked)) == 1
    assert {"a", "b", "x"} <= {path.name for path in bench.root.iterdir()}


def test_a_choice_reaches_the_model(bench: Bench) -> None:
    use = {"name": "AskUserQuestion", "input": QUESTIONS}
    session, heard = begin(bench, {"answers": [{"tools": [use]}, {"text": "as you like"}]})
    request = asked(heard, 1)
    assert [option.label for option in request.choices[0].options] == ["Blue", "Red"]
    session.answer(request.request_id, AgentAnswer("once", choices=(("Red",),)))
    heard.finished()
    told = next(path for path in bench.tmp.rglob("transcript.jsonl")).read_text()
    assert '"Which colour?\\"=\\"Red\\"' in told


def test_a_subagent_that_asks_is_named(bench: Bench) -> None:
    task = {"description": "look", "prompt": "SUB", "subagent_type": "general-purpose"}
    story: dict[str, Any] = {
        "answers": [{"tools": [{"name": "Task", "input": task}]}, {"text": "done"}],
        "subagents": {"SUB": [bash("touch one"), {"text": "done"}]},
    }
    session, heard = begin(bench, story)
    assert asked(heard, 1).parent
    session.answer(asked(heard, 1).request_id, AgentAnswer("once"))
    assert heard.finished().outcome == "success"
    assert (bench.root / "one").exists()


def test_an_interrupt_takes_the_question_back(bench: Bench) -> None:
    session, heard = begin(bench, PUSHES)
    request = asked(heard, 1)
    session.stop("interrupted")
    assert not session.answer(request.request_id, AgentAnswer("once"))
    finished = heard.finished()
    assert (finished.outcome, finished.leftovers) == ("interrupted", 0)
    assert [event.request_id for event in heard.of(AgentAskedNoMore)] == [request.request_id]
    assert not (bench.root / "one").exists()


def test_an_agent_that_dies_while_it_asks_is_over(bench: Bench) -> None:
    session, heard = begin(bench, PUSHES)
    request = asked(heard, 1)
    session.stop("stopped")
    assert heard.finished().outcome == "stopped"
    assert not session.answer(request.request_id, AgentAnswer("once"))
    until(lambda: not alive(session.pid))  # type: ignore[attr-defined]


def test_in_the_mode_edits_it_asks_nobody(bench: Bench) -> None:
    bench.permissions = Permissions("edits")
    _, heard = begin(bench, PUSHES)
    assert heard.finished().outcome == "success"
    assert not heard.of(AgentAsked)
    assert len(heard.of(ToolDenied)) == 3
    assert isinstance(heard.events[-1], SessionFinished)
