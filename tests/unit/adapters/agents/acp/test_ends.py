"""How sessions end: stopped, refused by the service, silent, or broken."""

import os
import time
from itertools import cycle
from pathlib import Path

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.agents.rpc import agent_session as silence
from ralph_tui.ports.agents import AgentAnswer
from tests.agent_sessions import alive
from tests.unit.adapters.agents.acp.bench import EVERY, ROWS, Bench, Step, asked, bash
from tests.waiting import until


def sleeper(root: Path) -> str:
    """A command that leaves a process in its own session and never ends."""
    return f"setsid sleep 1000 & echo $! > {root}/left.pid; sleep 1000"


@pytest.mark.parametrize(("plays", "outcome"), zip(ROWS, cycle(["interrupted", "stopped"])))
def test_stopping_leaves_nothing(bench: Bench, plays: str, outcome: str) -> None:
    session = bench.start(
        plays, [bash(sleeper(bench.root)), {"say": "never"}], turn=bench.turn("skip")
    )
    until(lambda: (bench.root / "left.pid").exists() and (bench.root / "left.pid").read_text())
    session.stop(outcome)
    finished = bench.heard.finished()
    assert finished.outcome == outcome
    left = int((bench.root / "left.pid").read_text())
    assert not alive(left)
    assert not alive(session.pid)
    (over,) = bench.heard.of(ev.ToolFinished)
    assert over.prevented == "interrupted"
    if outcome == "interrupted":
        assert bench.received("session/cancel")


def test_the_last_words_of_an_agent_that_dies_are_told(bench: Bench) -> None:
    finished = bench.run("any", [{"say": "I was about to"}, {"die": "killed"}])
    assert finished.outcome == "crashed"
    assert [spoke.text for spoke in bench.heard.of(ev.AgentSpoke)] == ["I was about to"]


@EVERY
def test_a_stop_answers_what_is_asked(bench: Bench, plays: str) -> None:
    session = bench.start(
        plays, [bash("touch x", ask=True), {"say": "never"}], turn=bench.turn("ask")
    )
    question = asked(bench)
    session.stop("interrupted")
    assert not session.answer(question.request_id, AgentAnswer("once"))
    assert bench.heard.finished().outcome == "interrupted"
    assert bench.answered() == ["cancelled"]
    assert not (bench.root / "x").exists()


def test_an_agent_that_is_deaf_to_all_is_killed(bench: Bench) -> None:
    command = "trap '' INT TERM; sleep 1000"
    session = bench.start(
        "gemini", [bash(command)], turn=bench.turn("skip"), quirks={"second": "", "never": True}
    )
    bench.heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
    os.kill(session.pid, 19)  # it does not even read its input
    session.stop("interrupted")
    assert bench.heard.finished().outcome == "interrupted"


@pytest.mark.parametrize(
    ("failure", "outcome", "limit", "reason"),
    [
        (
            {"code": -32000, "message": "Authentication required"},
            "auth", None, "run `gemini` and log in",
        ),
        ({"code": 429, "message": "slow down"}, "limited", "usage_limit", "slow down"),
        ({"code": 503, "message": "try later"}, "limited", "outage", "try later"),
        ({"code": 404, "message": "no such model"}, "unknown_model", None, "no such model"),
        ({"code": -32603, "message": "Internal error"}, "error", None, "it gave no reason"),
        (
            {
                "code": -32603, "message": "Internal error: API Error: 529 Overloaded",
                "data": {"errorKind": "server_error"},
            },
            "limited", "overload", "529 Overloaded",
        ),
    ],
)  # fmt: skip
def test_a_failed_prompt_ends_the_session_as_what_it_is(
    bench: Bench, failure: Step, outcome: str, limit: str | None, reason: str
) -> None:
    finished = bench.run("gemini", [{"say": "well"}, {"fail": failure}])
    assert (finished.outcome, finished.limit) == (outcome, limit)
    assert reason in finished.reason
    assert [spoke.text for spoke in bench.heard.of(ev.AgentSpoke)] == ["well"]


@EVERY
def test_a_missing_login_is_one_sentence(bench: Bench, plays: str) -> None:
    refused = {"session/new": {"code": -32000, "message": "Authentication required"}}
    finished = bench.run(plays, refuses=refused)
    assert finished.outcome == "auth"
    assert finished.reason == (
        "The agent is not allowed to use its service (Authentication required): "
        f"{ROWS[plays].login}."
    )


def test_a_turn_of_codex_that_failed_ends_as_what_failed(bench: Bench) -> None:
    failed = {
        "sessionUpdate": "session_info_update",
        "_meta": {"codex": {"threadStatus": {"type": "systemError"}}},
    }
    words = "unexpected status 529 <unknown>: Overloaded, url: http://127.0.0.1/v1/responses"
    finished = bench.run("codex", [{"update": failed}, {"say": words}])
    assert (finished.outcome, finished.limit) == ("limited", "overload")


def test_a_turn_that_went_in_circles_is_told(bench: Bench) -> None:
    finished = bench.run("any", [{"say": "x"}], ends_with="max_turn_requests")
    assert finished.outcome == "max_turns"


def test_a_silent_service_is_waited_for_and_then_counts_as_down(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "QUIET_S", 0.3)
    finished = bench.run(
        "opencode",
        [{"say": "a"}, {"wait": 60}],
        turn=bench.turn("skip"),
        settings={"silence_s": 1.2},
    )
    assert (finished.outcome, finished.limit) == ("limited", "outage")
    assert finished.reason == "The agent's service has not answered for 1s"
    (note,) = bench.heard.of(ev.AgentNoted)
    assert (note.level, note.text) == ("warn", "The agent's service has not answered for 0s")
    assert bench.received("session/cancel")


def test_error_output_names_what_a_silent_service_refuses(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "QUIET_S", 0.2)
    finished = bench.run(
        "gemini",
        [{"say": "a"}, {"complain": "Attempt 3 failed with status 429. Retrying"}, {"wait": 60}],
        turn=bench.turn("skip"),
        settings={"silence_s": 0.4},
    )
    assert (finished.outcome, finished.limit) == ("limited", "usage_limit")
    assert finished.reason.endswith("its last refusal had status 429")


def test_a_question_or_a_tool_is_no_silence_of_the_service(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "QUIET_S", 0.1)
    session = bench.start(
        "opencode",
        [bash("sleep 1"), bash("touch x", ask=True), {"say": "on"}],
        turn=bench.turn("ask", "Bash(sleep:*)"),
        settings={"silence_s": 0.3},
    )
    question = asked(bench)
    time.sleep(0.6)  # the forbidden action would happen now
    session.answer(question.request_id, AgentAnswer("once"))
    assert bench.heard.finished().outcome == "success"
    assert not bench.heard.of(ev.AgentNoted)


def test_a_service_that_does_not_answer_at_all_is_said_soon(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "FIRST_S", 0.2)
    monkeypatch.setattr(silence, "QUIET_S", 0.5)
    bench.run("opencode", [{"wait": 60}], turn=bench.turn("skip"), settings={"silence_s": 1})
    assert [note.text for note in bench.heard.of(ev.AgentNoted)] == [
        "No answer from the agent's service yet; still waiting",
        "The agent's service has not answered for 0s",
    ]
    assert {note.service for note in bench.heard.of(ev.AgentNoted)} == {"silent"}


def test_one_that_was_heard_once_is_not_said_to_be_unheard(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "FIRST_S", 0.2)
    finished = bench.run(
        "opencode",
        [{"say": "a"}, {"wait": 60}],
        turn=bench.turn("skip"),
        settings={"silence_s": 0.8},
    )
    assert finished.limit == "outage"
    assert "yet" not in "".join(note.text for note in bench.heard.of(ev.AgentNoted))
