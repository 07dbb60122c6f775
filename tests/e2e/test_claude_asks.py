"""The agent `claude` in the mode `ask`, on the stub: questions over its stream, and our answers."""

import sys
from pathlib import Path
from typing import Any

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.agents.claude import stream_agent as streaming
from ralph_tui.adapters.agents.claude.requests import MAX_OPEN
from ralph_tui.adapters.agents.claude.stream_agent import StreamAgent
from ralph_tui.ports.agents import AgentAnswer, Permissions, Session
from tests.agent_sessions import Heard, alive
from tests.e2e.test_claude_stub import Bench
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


def asked(heard: Heard, number: int) -> ev.AgentAsked:
    heard.wait_for(lambda event: len(heard.of(ev.AgentAsked)) >= number)
    return heard.of(ev.AgentAsked)[number - 1]


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
    assert [tool.prevented for tool in heard.of(ev.ToolFinished)] == ["", "", "denied"]
    assert not heard.of(ev.ToolDenied), "your refusals do not count as denials"


def test_what_a_session_allows_is_not_asked_again(bench: Bench) -> None:
    session, heard = begin(bench, {"answers": [bash("touch x a"), bash("touch x b"), {}]})
    session.answer(asked(heard, 1).request_id, AgentAnswer("session"))
    assert heard.finished().outcome == "success"
    assert len(heard.of(ev.AgentAsked)) == 1
    assert {"a", "b", "x"} <= {path.name for path in bench.root.iterdir()}


def test_a_choice_reaches_the_model(bench: Bench) -> None:
    use = {"name": "AskUserQuestion", "input": QUESTIONS}
    session, heard = begin(bench, {"answers": [{"tools": [use]}, {"text": "as you like"}]})
    request = asked(heard, 1)
    assert [option.label for option in request.choices[0].options] == ["Blue", "Red"]
    session.answer(request.request_id, AgentAnswer("once", choices=(("Red",),)))
    heard.finished()
    content = next(path for path in bench.tmp.rglob("transcript.jsonl")).read_text()
    assert '"Which colour?\\"=\\"Red\\"' in content


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
    assert [event.request_id for event in heard.of(ev.AgentAskedNoMore)] == [request.request_id]
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
    assert not heard.of(ev.AgentAsked)
    assert len(heard.of(ev.ToolDenied)) == 3
    assert isinstance(heard.events[-1], ev.SessionFinished)


# -- what no stub of Claude does, and a wild one might -----------------------------------------

WILD = """
import json, sys
def put(kind, **fields): print(json.dumps({"type": kind, **fields}), flush=True)
def ask(name, command, **more):
    put("control_request", request_id=name, request={"subtype": "can_use_tool", "tool_name": "Bash",
        "input": {"command": command}, **more})
def hear():
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "control_response":
            return message["response"]
def end(): put("result", subtype="success", is_error=False, num_turns=1, result="")
hear_nothing = sys.stdin.readline()
put("system", subtype="init", session_id="s", model="m")
"""


def wild(bench: Bench, script: str) -> tuple[Session, Heard]:
    agent = StreamAgent("wild", [sys.executable, "-c", WILD + script], bench.context())
    heard = Heard()
    return agent.start(bench.turn(), heard), heard


def test_a_subagent_in_the_background_is_answered_when_the_turn_is_over(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "RECEIPT_S", 0.05)
    session, heard = wild(
        bench,
        """
put("system", subtype="task_started", task_id="a", description="look", subagent_type="general",
    is_backgrounded=True)
end()
import time; time.sleep(0.4)
ask("late", "touch x", agent_id="a")
print(json.dumps({"type": "user", "message": {"role": "user", "content": str(hear())}}), flush=True)
put("system", subtype="task_notification", task_id="a", status="completed")
end()
sys.stdin.read()
""",
    )
    request = asked(heard, 1)
    assert request.parent == "a"
    assert session.answer("late", AgentAnswer("once"))
    assert heard.finished().outcome == "success", "then its input is closed, and it ends"


def test_more_questions_than_anybody_reads_are_refused(bench: Bench) -> None:
    """And the session ends with the last answer when its turn has ended before."""
    session, heard = wild(
        bench,
        """
for number in range(25): ask(f"r{number}", "rm -rf /")
refused = [hear() for _ in range(5)]
assert all(one["response"]["behavior"] == "deny" for one in refused), refused
open("refused", "w").close()
end()
sys.stdin.read()
""",
    )
    until((bench.root / "refused").exists)
    heard.wait_for(lambda event: isinstance(event, ev.UsageReported))
    for request in heard.of(ev.AgentAsked):
        session.answer(request.request_id, AgentAnswer("refuse", "No."))
    assert heard.finished().outcome == "success"
    assert len(heard.of(ev.AgentAsked)) == MAX_OPEN


def test_a_question_of_ten_megabytes_is_one_that_can_be_read(bench: Bench) -> None:
    session, heard = wild(
        bench,
        """
ask("big", "echo " + "x" * 10_000_000)
answer = hear()
assert len(answer["response"]["updatedInput"]["command"]) == 10_000_005
end()
sys.stdin.read()
""",
    )
    request = asked(heard, 1)
    assert len(request.input) < 5000
    assert request.input.endswith("more characters")
    session.answer("big", AgentAnswer("once"))
    assert heard.finished().outcome == "success"
