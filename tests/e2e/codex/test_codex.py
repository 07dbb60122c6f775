"""The agent `codex`: the same work on its stub and, where it is installed, on Codex itself.

Codex itself meets a scripted service on the loopback, with a home of its own and a made-up key.
"""

import dataclasses
import json
import sys
import time
from pathlib import Path

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.agents.codex import CODEX
from ralph_tui.adapters.agents.codex import agent as codex_session
from ralph_tui.adapters.agents.codex.agent import CodexAgent
from ralph_tui.base.errors import UsageError
from ralph_tui.ports.agents import AgentAnswer, Permissions
from tests.agent_sessions import Heard, alive, context_in
from tests.doubles.codex_launch import CODEX_STUB, stub_environment
from tests.doubles.scenario import Answer, load
from tests.e2e.codex.lab import GUIDANCE, REPORT, SLEEPER, Lab, bash, is_asked, scripted, tools
from tests.waiting import until

# -- work ------------------------------------------------------------------------------------------


def test_a_bug_is_fixed(lab: Lab) -> None:
    places = {"root": str(lab.root), "python": sys.executable}
    with lab.agent(load("success", **places), model="gpt-5.5-codex") as agent:
        heard = Heard()
        agent.start(lab.turn(system_context="Be brief."), heard)
        finished = heard.finished()
    assert finished.outcome == "success", finished
    assert "a + b" in (lab.root / "calc.py").read_text()
    assert tools(heard) == [("Bash", True), ("Edit", True), ("Bash", True)]
    assert [event.summary for event in heard.of(ev.ToolFinished)] == ["2 lines", "+1 −1", "1 line"]
    assert (finished.tool_calls, finished.tool_errors, finished.leftovers) == (3, 0, 0)
    assert finished.cost_usd is None
    assert finished.tokens == 4 * 12_432
    usage = heard.of(ev.UsageReported)[-1]
    assert (usage.context_tokens, usage.context_window, usage.cost_usd) == (12_432, 258_400, None)
    started, described = heard.of(ev.SessionStarted)[0], heard.of(ev.SessionDescribed)[-1]
    assert (started.takes_guidance, started.tells_tools, started.tells_context) == (True,) * 3
    assert (described.model, described.permission_mode) == (
        "gpt-5.5-codex",
        "dangerFullAccess, never",
    )
    assert [event.text for event in heard.of(ev.AgentSpoke)][-1] == "Fixed add(); it prints 5."
    assert not [note for note in heard.of(ev.AgentNoted) if "Unknown kind" in note.text]
    line = (lab.tmp / "attempt/results/iter-001/transcript.jsonl").read_bytes()
    assert b"agentMessage" in line[heard.of(ev.AgentSpoke)[0].offset :].split(b"\n")[0]


def test_tools_that_fail_are_counted_and_claims_are_heard(lab: Lab) -> None:
    heard, finished = lab.work(bash("false"), bash("ls"), Answer(text=REPORT))
    assert [event.summary for event in heard.of(ev.ToolFinished)] == ["exit 1", "no output"]
    assert (finished.tool_calls, finished.tool_errors) == (2, 1)
    assert [event.completion for event in heard.of(ev.AgentReported)] == [90]
    assert len(heard.of(ev.PromiseMade)) == 1


@pytest.mark.parametrize(
    ("answer", "outcome", "limit"),
    [
        (Answer(fault="429", resets_in_s=3600), "limited", "usage_limit"),
        (Answer(fault="429", times=9), "limited", "usage_limit"),
        (Answer(fault="529", times=9), "limited", "overload"),
        (Answer(fault="500", times=9), "limited", "outage"),
        (Answer(fault="drop", times=9), "limited", "outage"),
        (Answer(fault="401", times=9), "auth", None),
        (Answer(fault="404", times=9), "unknown_model", None),
        (Answer(fault="overflow", times=9), "context_full", None),
        (Answer(fault="400", times=9), "error", None),
    ],
    ids=lambda value: (
        value.fault + "+" * bool(value.resets_in_s) if isinstance(value, Answer) else ""
    ),
)
def test_a_failing_service_has_a_name(
    lab: Lab, answer: Answer, outcome: str, limit: str | None
) -> None:
    began = time.time()
    heard, finished = lab.work(bash("ls"), answer)
    assert (finished.outcome, finished.limit) == (outcome, limit), finished
    assert finished.reason
    if answer.resets_in_s:
        assert finished.resets_at is not None
        assert began - 1 <= finished.resets_at.timestamp() - 3600 <= time.time() + 1
    else:
        assert finished.resets_at is None
    retried = [note for note in heard.of(ev.AgentNoted) if "the agent is retrying" in note.text]
    assert bool(retried) == (answer.fault in ("529", "500", "drop", "401", "404"))


def test_where_nobody_is_signed_in_nothing_is_tried(tmp_path: Path) -> None:
    lab, heard = Lab(tmp_path, str(CODEX_STUB)), Heard()
    scenario = dataclasses.replace(scripted(bash("touch x")), signed_out=True)
    with lab.agent(scenario) as agent:
        agent.start(lab.turn(), heard)
        finished = heard.finished()
    assert finished.outcome == "auth"
    assert finished.reason == (
        "The agent is not allowed to use its service (Codex reports that you are not signed in): "
        f"{CODEX.login}."
    )
    assert not heard.of(ev.ToolStarted)
    assert finished.turns == 0


def test_a_silent_wait_for_a_service_is_a_limit_and_no_work(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codex_session, "RETRY_S", 0.3)
    heard, finished = lab.work(Answer(fault="429", times=9, retry_after="3600"))
    assert (finished.outcome, finished.limit) == ("limited", "usage_limit"), finished
    (noted,) = [note for note in heard.of(ev.AgentNoted) if "retrying" in note.text]
    assert noted.text.startswith("The service refuses (429); the agent is retrying")


# -- words -----------------------------------------------------------------------------------------


def test_guidance_reaches_the_running_turn(lab: Lab) -> None:
    wait = "while [ ! -e go ]; do sleep 0.05; done"
    with lab.agent(scripted(bash(wait), Answer(text="as you wish"))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(), heard)
        heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
        assert session.send(GUIDANCE, "mind the tests")
        heard.wait_for(lambda event: isinstance(event, ev.GuidanceDelivered))
        assert not heard.of(ev.GuidanceAcknowledged)
        (lab.root / "go").touch()
        finished = heard.finished()
    assert finished.outcome == "success"
    assert finished.turns == 1
    assert [event.guidance_id for event in heard.of(ev.GuidanceAcknowledged)] == [GUIDANCE]
    assert not session.send(GUIDANCE, "too late")


def test_words_before_the_first_turn_are_taken(lab: Lab) -> None:
    with lab.agent(scripted(bash("ls"), Answer(text="as you wish"))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(), heard)
        assert session.send(GUIDANCE, "mind the tests")
        assert heard.finished().outcome == "success"
    assert [event.guidance_id for event in heard.of(ev.GuidanceAcknowledged)] == [GUIDANCE]


# -- ends ------------------------------------------------------------------------------------------


def test_an_interrupted_turn_ends_in_order_and_goes_on_later(lab: Lab) -> None:
    with lab.agent(scripted(bash(SLEEPER), Answer(text="continued"))) as agent:
        heard, turn = Heard(), lab.turn()
        session = agent.start(turn, heard)
        heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
        session.stop("interrupted")
        interrupted = heard.finished()
        if lab.binary == str(CODEX_STUB):
            # A new process of the stub plays the second session of its scenario.
            file = lab.tmp / "scenario.json"
            file.write_text(json.dumps({"about": "", "answers": [{"text": "continued"}]}))
        again = Heard()
        agent.start(lab.turn(resume=turn.session_id, prompt="continue"), again)
        resumed = again.finished()
    assert interrupted.outcome == "interrupted"
    assert [event.prevented for event in heard.of(ev.ToolFinished)] == ["interrupted"]
    assert interrupted.tool_errors == 0
    assert resumed.outcome == "success", resumed
    assert again.of(ev.AgentSpoke)[-1].text == "continued"
    assert resumed.tokens == 12_432, "the previous session's usage is not its own"


@pytest.mark.parametrize("outcome", ["stopped", "interrupted"])
def test_a_stopped_agent_leaves_nothing(lab: Lab, outcome: str) -> None:
    detached = f"trap '' INT TERM; setsid {SLEEPER} & echo $! > pid; wait"
    with lab.agent(scripted(bash(detached))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(), heard)
        file = lab.root / "pid"
        until(lambda: file.exists() and file.read_text())
        session.stop(outcome)
        finished = heard.finished()
    assert finished.outcome == outcome
    assert not alive(session.pid)
    assert not alive(int(file.read_text()))


def test_stopped_while_it_asks(lab: Lab) -> None:
    with lab.agent(scripted(bash("touch a"))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(permissions=Permissions("ask")), heard)
        asked = heard.wait_for(is_asked)
        assert isinstance(asked, ev.AgentAsked)
        session.stop("interrupted")
        finished = heard.finished()
    assert finished.outcome == "interrupted"
    assert not session.answer(asked.request_id, AgentAnswer("once"))
    assert not (lab.root / "a").exists()


def test_a_session_that_is_not_to_be_had_is_not_resumed(lab: Lab) -> None:
    with lab.agent(scripted(Answer(text="anew"))) as agent:
        heard = Heard()
        agent.start(lab.turn(resume="never"), heard)
        assert heard.finished().outcome == "unresumable"
        agent._plan.ledger.threads["gone"] = "01a20047-67e9-7812-8f73-c901f9298a0d"
        heard = Heard()
        agent.start(lab.turn(resume="gone"), heard)
        finished = heard.finished()
    assert finished.outcome == "unresumable"
    assert finished.reason.startswith("Codex cannot resume its session: ")


# -- the program -----------------------------------------------------------------------------------


def test_a_missing_or_old_program_is_one_sentence(stub: Lab) -> None:
    nowhere = {"PATH": str(stub.tmp)}
    with pytest.raises(UsageError, match=r"'codex' \(--agent codex\) is not on PATH") as missing:
        CODEX.check(context_in(stub.root, name="codex", environ=nowhere))
    said = "\n".join(missing.value.ways)
    assert "codex in the 1 folder of PATH" in said
    assert "npm install -g @openai/codex" in said
    assert not CODEX.is_ready(context_in(stub.root).settings, nowhere)
    environ = {**stub_environment(stub.tmp, stub.tmp), "STUB_VERSION": "0.20.0"}
    old = context_in(stub.root, binary=str(CODEX_STUB), environ=environ)
    with pytest.raises(UsageError, match=r"Codex 0.20.0 \(.*\) is too old for ralph-tui, which"):
        CODEX.check(old)
    now = old._replace(environ={**environ, "STUB_VERSION": "0.169.0"})
    assert CODEX.found(now) == f"0.169.0, {CODEX_STUB}"
    # One that does not tell is taken for a new one.
    mute = old._replace(environ={**environ, "STUB_VERSION": "of tomorrow"})
    assert CODEX.found(mute) == f"version unknown, {CODEX_STUB}"


def test_what_it_says_it_can_do_is_what_is_asserted_here() -> None:
    claimed = CODEX.abilities
    assert claimed.resume == CodexAgent.resumes
    assert claimed.words_mid_turn == codex_session.CodexSession.takes_guidance
    assert (claimed.questions, claimed.refusal_continues, claimed.context) == (True, True, "live")
    assert (claimed.cost, claimed.limits) == (False, "with reset")
