"""The mode `ask` on Claude Code itself, against a scripted service on the loopback."""

import sys
from pathlib import Path

import pytest

from ralph_tui.events import AgentAsked, AgentAskedNoMore, ToolDenied, ToolFinished
from ralph_tui.ports.agents import AgentAnswer, Permissions
from tests.agent_sessions import Heard, alive
from tests.doubles.launch import real_binary
from tests.doubles.scenario import Answer, ToolUse
from tests.e2e.test_claude_real import Lab, bash
from tests.waiting import until

pytestmark = [
    pytest.mark.real_agent,
    pytest.mark.skipif(real_binary() is None, reason="Claude Code is not installed"),
]
ASK = Permissions("ask")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def asked(heard: Heard, number: int) -> AgentAsked:
    heard.wait_for(lambda event: len(heard.of(AgentAsked)) >= number)
    return heard.of(AgentAsked)[number - 1]


def write(name: str) -> Answer:
    return bash(f'{sys.executable} -c \'open("{name}", "w")\' {name}')


def test_once_session_and_no_with_words(lab: Lab) -> None:
    uses = [write("a"), bash("git tag one"), bash("git tag two"), bash("curl -sV")]
    questions = [
        {
            "question": "Which sizes?",
            "header": "Sizes",
            "multiSelect": True,
            "options": [
                {"label": "Small", "description": "s"},
                {"label": "Large", "description": "l"},
            ],
        }
    ]
    choose = Answer(tools=[ToolUse("AskUserQuestion", {"questions": questions})])
    with lab.agent(lab.scripted(*uses, choose, Answer(text="done"))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(permissions=ASK), heard)
        assert not (lab.root / "a").exists()
        session.answer(asked(heard, 1).request_id, AgentAnswer("once"))
        tag = asked(heard, 2)
        assert (lab.root / "a").exists()
        assert tag.input == "git tag one"
        assert tag.rule.startswith("Bash(git tag")
        assert tag.why
        session.answer(tag.request_id, AgentAnswer("session"))
        curl = asked(heard, 3)
        assert curl.input == "curl -sV", "the second tag was not asked about"
        session.answer(curl.request_id, AgentAnswer("refuse", "No network here."))
        sizes = asked(heard, 4)
        assert sizes.choices[0].multiple
        session.answer(sizes.request_id, AgentAnswer("once", choices=(("Small", "Large"),)))
        finished = heard.finished()
    transcript = next(lab.tmp.rglob("transcript.jsonl")).read_text()
    assert (finished.outcome, finished.leftovers) == ("success", 0)
    assert '"content":"No network here."' in transcript
    assert "Small, Large" in transcript.split('"tool_use_result"')[-1]
    assert not heard.of(ToolDenied)
    assert [tool.prevented for tool in heard.of(ToolFinished)].count("denied") == 1
    assert not (lab.root / ".claude").exists(), "nothing is written into the project"
    assert "git tag" not in "".join(
        path.read_text() for path in (lab.tmp / "home").rglob("settings*.json")
    )


def test_an_interrupt_takes_the_question_back(lab: Lab) -> None:
    with lab.agent(lab.scripted(write("a"), Answer(text="done"))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(permissions=ASK), heard)
        request = asked(heard, 1)
        session.stop("interrupted")
        finished = heard.finished()
    assert (finished.outcome, finished.leftovers) == ("interrupted", 0)
    assert [event.request_id for event in heard.of(AgentAskedNoMore)] == [request.request_id]
    until(lambda: not alive(session.pid))  # type: ignore[attr-defined]
    assert not (lab.root / "a").exists()
