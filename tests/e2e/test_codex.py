"""The agent `codex`: the same work on its stub and, where it is installed, on Codex itself.

Codex itself meets a scripted service on the loopback, with a home of its own and a made-up key.
"""

import dataclasses
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.agents.codex import CODEX
from ralph_tui.adapters.agents.codex import session as codex_session
from ralph_tui.adapters.agents.codex.agent import CodexAgent
from ralph_tui.errors import UsageError
from ralph_tui.events import (
    AgentAsked,
    AgentAskedNoMore,
    AgentNoted,
    AgentReported,
    AgentSpoke,
    GuidanceAcknowledged,
    GuidanceDelivered,
    PromiseMade,
    SessionDescribed,
    SessionStarted,
    ToolDenied,
    ToolFinished,
    ToolStarted,
    UsageReported,
)
from ralph_tui.ports import AgentAnswer, Permissions, Turn
from tests.doubles.codex_launch import (
    CODEX_STUB,
    real_codex,
    real_environment,
    stub_environment,
)
from tests.doubles.launch import prepare
from tests.doubles.scenario import Answer, Scenario, ToolUse, load
from tests.unit.adapters.agents.test_sessions import Heard, alive, context_in
from tests.waiting import until

REAL = real_codex()
GUIDANCE = "22222222-0000-4000-8000-000000000001"
SESSION = "11111111-0000-4000-8000-00000000000{}"
SLEEPER = f"{sys.executable} -c 'import time; time.sleep(60)'"
REPORT = 'Done. {"ralph": {"completion": 90, "summary": "half"}}\n<promise>COMPLETE</promise>'

REALLY = pytest.param(
    REAL,
    id="real",
    marks=[
        pytest.mark.real_agent,
        pytest.mark.skipif(REAL is None, reason="no Codex: set RALPH_TEST_CODEX"),
    ],
)
STUBBED = pytest.param(str(CODEX_STUB), id="stub")


class Lab:
    """A project, a scripted model, and an agent that drives a program."""

    def __init__(self, tmp_path: Path, binary: str) -> None:
        self.tmp = tmp_path
        self.binary = binary
        self.root = tmp_path / "project"
        self.root.mkdir()
        self.sessions = 0

    @contextmanager
    def agent(self, scenario: Scenario, **fields: Any) -> Iterator[CodexAgent]:
        prepare(scenario, self.root)
        with self._environment(scenario) as environ:
            context = context_in(self.root, binary=self.binary, environ=environ, **fields)
            agent = CODEX.build(context)
            assert isinstance(agent, CodexAgent)
            yield agent

    @contextmanager
    def _environment(self, scenario: Scenario) -> Iterator[dict[str, str]]:
        if self.binary == str(CODEX_STUB):
            file = self.tmp / "scenario.json"
            told = dataclasses.asdict(scenario)
            file.write_text(json.dumps({key: told[key] for key in told if key != "name"}))
            yield stub_environment(file, self.tmp / "state")
            return
        with real_environment(scenario, self.root, self.tmp / "home") as environ:
            yield environ

    def work(self, *answers: Answer, **fields: Any) -> tuple[Heard, Any]:
        """One session to its end."""
        with self.agent(scripted(*answers)) as agent:
            heard = Heard()
            agent.start(self.turn(**fields), heard)
            return heard, heard.finished()

    def turn(self, **fields: Any) -> Turn:
        self.sessions += 1
        folder = self.tmp / "attempt" / "results" / f"iter-{self.sessions:03}"
        folder.mkdir(parents=True)
        turn = Turn(
            iteration=self.sessions,
            prompt="Do the work",
            session_id=SESSION.format(self.sessions),
            transcript=folder / "transcript.jsonl",
            stderr=folder / "stderr.log",
            command="true",
            permissions=Permissions("skip"),
        )
        return dataclasses.replace(turn, **fields)


@pytest.fixture(params=[STUBBED, REALLY])
def lab(tmp_path: Path, request: pytest.FixtureRequest) -> Lab:
    return Lab(tmp_path, request.param)


@pytest.fixture
def stub(tmp_path: Path) -> Lab:
    return Lab(tmp_path, str(CODEX_STUB))


def scripted(*answers: Answer, hostile: str = "") -> Scenario:
    return Scenario("here", "made here", [answers], hostile=hostile)


def bash(command: str) -> Answer:
    return Answer(tools=[ToolUse("Bash", {"command": command})])


def write(path: str) -> Answer:
    return Answer(tools=[ToolUse("Write", {"file_path": path, "content": "new\n"})])


def nth_question(heard: Heard, number: int) -> str:
    """Its name, when it is asked; from 0."""
    asked = until(lambda: heard.of(AgentAsked)[number : number + 1])
    return asked[0].request_id


def is_asked(event: object) -> bool:
    return isinstance(event, AgentAsked)


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
    assert [event.summary for event in heard.of(ToolFinished)] == ["2 lines", "+1 −1", "1 line"]
    assert (finished.tool_calls, finished.tool_errors, finished.leftovers) == (3, 0, 0)
    assert finished.cost_usd is None
    assert finished.tokens == 4 * 12_432
    usage = heard.of(UsageReported)[-1]
    assert (usage.context_tokens, usage.context_window, usage.cost_usd) == (12_432, 258_400, None)
    started, described = heard.of(SessionStarted)[0], heard.of(SessionDescribed)[-1]
    assert (started.takes_guidance, started.tells_tools, started.tells_context) == (True,) * 3
    assert (described.model, described.permission_mode) == (
        "gpt-5.5-codex",
        "dangerFullAccess, never",
    )
    assert [event.text for event in heard.of(AgentSpoke)][-1] == "Fixed add(); it prints 5."
    assert not [note for note in heard.of(AgentNoted) if "Unknown kind" in note.text]
    line = (lab.tmp / "attempt/results/iter-001/transcript.jsonl").read_bytes()
    assert b"agentMessage" in line[heard.of(AgentSpoke)[0].offset :].split(b"\n")[0]


def test_tools_that_fail_are_counted_and_claims_are_heard(lab: Lab) -> None:
    heard, finished = lab.work(bash("false"), bash("ls"), Answer(text=REPORT))
    assert [event.summary for event in heard.of(ToolFinished)] == ["exit 1", "no output"]
    assert (finished.tool_calls, finished.tool_errors) == (2, 1)
    assert [event.completion for event in heard.of(AgentReported)] == [90]
    assert len(heard.of(PromiseMade)) == 1


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
        assert abs(finished.resets_at.timestamp() - began - 3600) < 90
    else:
        assert finished.resets_at is None
    retried = [note for note in heard.of(AgentNoted) if "the agent tries again" in note.text]
    assert bool(retried) == (answer.fault in ("529", "500", "drop", "401", "404"))


def test_a_silent_wait_for_a_service_is_a_limit_and_no_work(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codex_session, "RETRY_S", 0.3)
    heard, finished = lab.work(Answer(fault="429", times=9, retry_after="3600"))
    assert (finished.outcome, finished.limit) == ("limited", "usage_limit"), finished
    (noted,) = [note for note in heard.of(AgentNoted) if "tries again" in note.text]
    assert noted.text.startswith("The service refuses (429); the agent tries again")


# -- words -----------------------------------------------------------------------------------------


def test_guidance_reaches_the_running_turn(lab: Lab) -> None:
    wait = "while [ ! -e go ]; do sleep 0.05; done"
    with lab.agent(scripted(bash(wait), Answer(text="as you wish"))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(), heard)
        heard.wait_for(lambda event: isinstance(event, ToolStarted))
        assert session.send(GUIDANCE, "mind the tests")
        heard.wait_for(lambda event: isinstance(event, GuidanceDelivered))
        assert not heard.of(GuidanceAcknowledged)
        (lab.root / "go").touch()
        finished = heard.finished()
    assert finished.outcome == "success"
    assert finished.turns == 1
    assert [event.guidance_id for event in heard.of(GuidanceAcknowledged)] == [GUIDANCE]
    assert not session.send(GUIDANCE, "too late")


def test_words_before_the_first_turn_are_taken(lab: Lab) -> None:
    with lab.agent(scripted(bash("ls"), Answer(text="as you wish"))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(), heard)
        assert session.send(GUIDANCE, "mind the tests")
        assert heard.finished().outcome == "success"
    assert [event.guidance_id for event in heard.of(GuidanceAcknowledged)] == [GUIDANCE]


# -- permissions -----------------------------------------------------------------------------------


def test_what_the_rules_do_not_permit_is_denied_and_the_turn_goes_on(lab: Lab) -> None:
    outside = lab.tmp / "outside" / "x.txt"
    answers = (bash("touch a"), bash("touch ok"), write(f"{outside}"), write("in.txt"))
    rules = Permissions("edits", ("Bash(touch ok)",))
    heard, finished = lab.work(*answers, Answer(text="went on"), permissions=rules)
    assert finished.outcome == "success"
    assert [event.text for event in heard.of(AgentSpoke)] == ["went on"]
    denied = [(event.tool, event.permit) for event in heard.of(ToolDenied)]
    assert denied == [("Bash", "Bash(touch:*)"), ("Edit", f"Edit(/{outside.parent}/**)")]
    assert not (lab.root / "a").exists()
    assert not outside.exists()
    assert (lab.root / "ok").exists()
    assert (lab.root / "in.txt").read_text() == "new\n"
    prevented = [event.prevented for event in heard.of(ToolFinished)]
    assert prevented == ["denied", "", "denied", ""]
    assert finished.tool_errors == 0
    # The lines that were named permit it.
    named = Permissions(
        "edits", tuple(line for event in heard.of(ToolDenied) for line in event.lines)
    )
    heard, finished = lab.work(*answers, Answer(text="went on"), permissions=named)
    assert not heard.of(ToolDenied)
    assert (lab.root / "a").exists()
    assert outside.exists()


def test_the_completion_command_is_permitted(lab: Lab) -> None:
    command = f"{sys.executable} -c 'print((1, 2))' && echo ok"
    heard, _ = lab.work(bash(command), Answer(text="done"), command=command,
                        permissions=Permissions())  # fmt: skip
    assert not heard.of(ToolDenied)
    assert [event.ok for event in heard.of(ToolFinished)] == [True]


def test_the_owner_is_asked_and_answers(lab: Lab) -> None:
    answers = (bash("touch a"), bash("touch b"), bash("touch b"), bash("touch c"), write("in.txt"))
    with lab.agent(scripted(*answers, Answer(text="went on"))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(permissions=Permissions("ask")), heard)
        given = [AgentAnswer("once"), AgentAnswer("session"), AgentAnswer("refuse", "no c here")]
        for number, answer in enumerate(given):
            request = nth_question(heard, number)
            assert session.answer(request, answer)
            assert not session.answer(request, answer), "it is answered once"
        finished = heard.finished()
    assert finished.outcome == "success"
    asked = [(event.tool, event.input, event.rule) for event in heard.of(AgentAsked)]
    assert asked == [("Bash", f"touch {name}", f"Bash(touch {name})") for name in ("a", "b", "c")]
    assert [(lab.root / name).exists() for name in ("a", "b", "c", "in.txt")] == [
        True, True, False, True,
    ]  # fmt: skip
    assert [event.prevented for event in heard.of(ToolFinished)] == ["", "", "", "denied", ""]
    assert not heard.of(ToolDenied)
    assert not heard.of(AgentAskedNoMore)
    said = (lab.tmp / "attempt/results/iter-001/transcript.jsonl").read_text()
    assert "About touch c: no c here" in said


def test_edits_outside_are_asked_about_with_their_change(lab: Lab) -> None:
    outside = lab.tmp / "outside.txt"
    with lab.agent(scripted(write(str(outside)), Answer(text="done"))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(permissions=Permissions("ask")), heard)
        asked = heard.wait_for(is_asked)
        assert isinstance(asked, AgentAsked)
        assert asked.input == f"add {outside}\nnew"
        assert asked.rule == f"Edit({outside})"
        assert session.answer(asked.request_id, AgentAnswer("once"))
        heard.finished()
    assert outside.read_text() == "new\n"


# -- ends ------------------------------------------------------------------------------------------


def test_an_interrupted_turn_ends_in_order_and_goes_on_later(lab: Lab) -> None:
    with lab.agent(scripted(bash(SLEEPER), Answer(text="continued"))) as agent:
        heard, turn = Heard(), lab.turn()
        session = agent.start(turn, heard)
        heard.wait_for(lambda event: isinstance(event, ToolStarted))
        session.stop("interrupted")
        interrupted = heard.finished()
        if lab.binary == str(CODEX_STUB):
            # A new process of the stub plays the second session of its scenario.
            file = lab.tmp / "scenario.json"
            file.write_text(json.dumps({"about": "", "answers": [{"text": "continued"}]}))
        again = Heard()
        agent.start(lab.turn(resume=turn.session_id, prompt="go on"), again)
        resumed = again.finished()
    assert interrupted.outcome == "interrupted"
    assert [event.prevented for event in heard.of(ToolFinished)] == ["interrupted"]
    assert interrupted.tool_errors == 0
    assert resumed.outcome == "success", resumed
    assert again.of(AgentSpoke)[-1].text == "continued"
    assert resumed.tokens == 12_432, "what the session before has used is not its own"


@pytest.mark.parametrize("outcome", ["stopped", "interrupted"])
def test_a_stopped_agent_leaves_nothing(lab: Lab, outcome: str) -> None:
    detached = f"trap '' INT TERM; setsid {SLEEPER} & echo $! > pid; wait"
    with lab.agent(scripted(bash(detached))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(), heard)
        file = lab.root / "pid"
        until(lambda: file.exists() and file.read_text())
        began = time.monotonic()
        session.stop(outcome)
        finished = heard.finished()
    assert time.monotonic() - began < 6
    assert finished.outcome == outcome
    assert not alive(session.pid)
    assert not alive(int(file.read_text()))


def test_stopped_while_it_asks(lab: Lab) -> None:
    with lab.agent(scripted(bash("touch a"))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(permissions=Permissions("ask")), heard)
        asked = heard.wait_for(is_asked)
        assert isinstance(asked, AgentAsked)
        session.stop("interrupted")
        finished = heard.finished()
    assert finished.outcome == "interrupted"
    assert finished.duration_s < 6
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


# -- what no program should do ---------------------------------------------------------------------


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
        "Codex ended with code 3 before it began: ERROR cannot open the database of sessions; run "
        "`codex` by hand to see why."
    )
    assert not session.send(GUIDANCE, "hello")


def test_noise_and_unknown_kinds_are_kept_and_said(stub: Lab) -> None:
    with stub.agent(scripted(bash("ls"), Answer(text="done"), hostile="noisy")) as agent:
        heard = Heard()
        agent.start(stub.turn(), heard)
        assert heard.finished().outcome == "success"
    noted = [event.text for event in heard.of(AgentNoted)]
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
        assert isinstance(asked, AgentAsked)
        assert session.answer(asked.request_id, AgentAnswer("once"))
        assert heard.finished().outcome == "success"
    assert len(heard.of(AgentAsked)) == 1
    assert (stub.root / "a").exists()


@pytest.mark.parametrize(
    ("habit", "outcome", "reason"),
    [
        ("asks and dies", "error", "the agent has ended"),
        ("takes back", "success", "the agent took it back"),
    ],
)
def test_a_question_that_wants_no_answer_any_more(
    stub: Lab, habit: str, outcome: str, reason: str
) -> None:
    with stub.agent(scripted(bash("touch a"), Answer(text="x"), hostile=habit)) as agent:
        heard = Heard()
        session = agent.start(stub.turn(permissions=Permissions("ask")), heard)
        assert heard.finished().outcome == outcome
    (asked,), (gone,) = heard.of(AgentAsked), heard.of(AgentAskedNoMore)
    assert (gone.request_id, gone.reason) == (asked.request_id, reason)
    assert not session.answer(asked.request_id, AgentAnswer("once"))
    assert not (stub.root / "a").exists()


def test_what_comes_after_a_cancel_changes_nothing(stub: Lab) -> None:
    habit = "answers after a cancel"
    with stub.agent(scripted(bash(SLEEPER), hostile=habit)) as agent:
        heard = Heard()
        session = agent.start(stub.turn(permissions=Permissions("ask", ("Bash",))), heard)
        heard.wait_for(lambda event: isinstance(event, ToolStarted))
        session.stop("interrupted")
        finished = heard.finished()
    assert finished.outcome == "interrupted"
    assert not heard.of(AgentAsked)
    assert not (stub.root / "late").exists()


def test_ten_megabytes_in_a_line(stub: Lab) -> None:
    with stub.agent(scripted(bash("ls"), Answer(text="done"), hostile="huge")) as agent:
        heard = Heard()
        agent.start(stub.turn(), heard)
        assert heard.finished().outcome == "success"
    assert [event.summary for event in heard.of(ToolFinished)] == ["1 line"]


def test_one_that_does_not_listen_is_gone_in_time(
    stub: Lab,
) -> None:
    with stub.agent(scripted(bash(SLEEPER), hostile="stubborn")) as agent:
        heard = Heard()
        session = agent.start(stub.turn(), heard)
        heard.wait_for(lambda event: isinstance(event, ToolStarted))
        began = time.monotonic()
        session.stop("interrupted")
        finished = heard.finished()
    assert time.monotonic() - began < 6
    assert finished.outcome == "interrupted"
    assert not alive(session.pid)


# -- the program -----------------------------------------------------------------------------------


def test_a_missing_or_old_program_is_one_sentence(stub: Lab) -> None:
    nowhere = {"PATH": str(stub.tmp)}
    with pytest.raises(UsageError, match=r"'codex' \(--agent codex\) is not on PATH") as missing:
        CODEX.check(context_in(stub.root, name="codex", environ=nowhere))
    said = "\n".join(missing.value.ways)
    assert "codex in the 1 folder of PATH" in said
    assert "npm install -g @openai/codex" in said
    assert not CODEX.looks_ready(context_in(stub.root).settings, nowhere)
    environ = {**stub_environment(stub.tmp, stub.tmp), "STUB_VERSION": "0.20.0"}
    old = context_in(stub.root, binary=str(CODEX_STUB), environ=environ)
    with pytest.raises(UsageError, match=r"Codex 0.20.0 \(.*\) is too old for ralph-tui, which"):
        CODEX.check(old)
    now = dataclasses.replace(old, environ={**environ, "STUB_VERSION": "0.169.0"})
    assert CODEX.found(now) == f"0.169.0, {CODEX_STUB}"
    # One that does not tell is taken for a new one.
    mute = dataclasses.replace(old, environ={**environ, "STUB_VERSION": "of tomorrow"})
    assert CODEX.found(mute) == f"version not told, {CODEX_STUB}"


def test_what_it_says_it_can_do_is_what_is_asserted_here() -> None:
    told = CODEX.abilities
    assert told.resume == CodexAgent.resumes
    assert told.words_mid_turn == codex_session.CodexSession.takes_guidance
    assert (told.questions, told.refusal_goes_on, told.context) == (True, True, "live")
    assert (told.cost, told.limits) == (False, "with reset")


def tools(heard: Heard) -> list[tuple[str, bool]]:
    """Each tool, and whether it did its work."""
    over = {event.tool_id: event.ok for event in heard.of(ToolFinished)}
    return [(event.tool, over[event.tool_id]) for event in heard.of(ToolStarted)]
