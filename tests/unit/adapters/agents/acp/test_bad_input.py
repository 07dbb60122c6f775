"""Agents that are broken, noisy, or not agents at all."""

import json
import shlex
import sys

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.agents.acp.agent import any_agent
from ralph_tui.adapters.agents.rpc import rpc_session
from tests.agent_sessions import context_in
from tests.doubles import acp
from tests.unit.adapters.agents.acp.bench import Bench, bash
from tests.waiting import until


def test_an_agent_that_dies_in_the_handshake_says_its_last_words(bench: Bench) -> None:
    finished = bench.run("any", dies="no config")
    assert finished.outcome == "not_started"
    assert finished.reason == (
        "The agent exited with code 3 before it was ready: no config; run it by hand to see why."
    )


def test_noise_before_and_between_messages_is_said_once(bench: Bench) -> None:
    noise = ["Loading...", "{}", "[1, 2]"]
    finished = bench.run("any", [{"raw": "\u0000\u001b[31m oops"}, {"say": "on"}], noise=noise)
    assert finished.outcome == "success"
    assert len(bench.heard.of(ev.AgentNoted)) == 1
    assert [spoke.text for spoke in bench.heard.of(ev.AgentSpoke)] == ["on"]


def test_ten_megabytes_in_a_line_are_read(bench: Bench) -> None:
    finished = bench.run(
        "any", [{"say": "x" * (10 << 20), "piece": 10 << 20}, {"raw": "y" * 1000, "times": 10_000}]
    )
    assert finished.outcome == "success"
    (spoke,) = bench.heard.of(ev.AgentSpoke)
    assert len(spoke.text) <= 2000


def test_an_agent_that_never_answers_is_given_up(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rpc_session, "HANDSHAKE_S", 0.3)
    context = context_in(bench.root, command="sleep 1000")
    agent = any_agent(context)
    agent.start(bench.turn(), bench.heard)
    finished = bench.heard.finished()
    assert finished.outcome == "not_started"
    assert "was not ready within 0.3 s of its start" in finished.reason


NONE = "It does not speak the Agent Client Protocol"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("cat", f"{NONE} (it echoes its input); is it the right program?"),
        ("yes", f"{NONE} (it prints lines that are not messages: y); is it the right program?"),
        ("yes '{}'", f"{NONE} (it prints lines that are not messages: {{}})"),
        ("echo hello", "The agent exited with code 0 before it was ready"),
    ],
)
def test_a_program_that_is_no_agent_is_found_out_in_the_handshake(
    bench: Bench, command: str, why: str
) -> None:
    any_agent(context_in(bench.root, command=command)).start(bench.turn(), bench.heard)
    finished = bench.heard.finished()
    assert finished.outcome == "not_started"
    assert finished.reason.startswith(why)


def test_an_agent_that_floods_without_an_end_of_line_has_its_time_and_no_more(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rpc_session, "HANDSHAKE_S", 0.5)
    agent = any_agent(context_in(bench.root, command="yes | tr -d '\\n'"))
    agent.start(bench.turn(), bench.heard)
    finished = bench.heard.finished()
    assert finished.outcome == "not_started"
    # A busy machine gives it one more look at its signs of life, so the seconds differ.
    assert "was not ready within" in finished.reason


def test_one_that_speaks_another_protocol_is_told_so(bench: Bench) -> None:
    answer = {"id": 0, "error": {"code": -32601, "message": "Method not found"}}
    command = f"read line; echo {shlex.quote(json.dumps(answer))}; cat > /dev/null"
    any_agent(context_in(bench.root, command=command)).start(bench.turn(), bench.heard)
    finished = bench.heard.finished()
    assert finished.outcome == "not_started"
    assert finished.reason == (
        "The agent does not support a required call of the Agent Client Protocol (Method not "
        "found); "
        "is it up to date?"
    )


def test_a_program_that_is_none_is_missing(bench: Bench) -> None:
    any_agent(context_in(bench.root, command="no-such-agent --acp")).start(
        bench.turn(), bench.heard
    )
    finished = bench.heard.finished()
    assert finished.outcome == "missing"
    assert "cannot be run (127)" in finished.reason


def test_an_answer_after_a_cancel_changes_nothing(bench: Bench) -> None:
    session = bench.start(
        "opencode", [{"wait": 60}], turn=bench.turn("skip"), quirks={"second": "folded in"}
    )
    bench.heard.wait_for(lambda event: isinstance(event, ev.SessionDescribed))
    until(lambda: bench.received("session/prompt"))
    session.stop("interrupted")
    assert bench.heard.finished().outcome == "interrupted"
    assert not session.send("g", "more")


def test_the_agent_of_a_command_line_is_recognised(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ralph_tui.adapters.agents.acp.approvals.MAX_REFUSALS", 1)
    script = bench.tmp / "script.json"
    script.write_text(json.dumps({"plays": "opencode", "prompts": [[bash("rm x", ask=True)]],
                                  "log": str(bench.log)}))  # fmt: skip
    command = shlex.join([sys.executable, "-S", acp.__file__, str(script)])
    session = any_agent(context_in(bench.root, command=command))
    session.start(bench.turn(), bench.heard)
    finished = bench.heard.finished()
    assert finished.outcome == "success"
    assert len(bench.prompts()) == 2
