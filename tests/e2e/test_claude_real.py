"""The agent `claude` on Claude Code itself, against a scripted service on the loopback."""

import dataclasses
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.agents.claude import CLAUDE
from ralph_tui.adapters.agents.claude.agent import ClaudeAgent
from ralph_tui.adapters.agents.claude.stream_agent import StreamSession
from ralph_tui.layers.intelligence.system_context import system_context
from ralph_tui.ports.agents import Ask, Permissions, Turn
from tests.agent_sessions import Heard, alive, context_in, numbered_turn
from tests.doubles.api import Api
from tests.doubles.launch import prepare, real_binary, real_environment
from tests.doubles.scenario import Answer, Scenario, ToolUse, load
from tests.waiting import until

BINARY = real_binary()
GUIDANCE = "22222222-0000-4000-8000-000000000001"

pytestmark = [
    pytest.mark.real_agent,
    pytest.mark.skipif(BINARY is None, reason="Claude Code is not installed"),
]


class Lab:
    """A project, a scripted service, and an agent that drives the real binary."""

    def __init__(self, tmp_path: Path) -> None:
        self.tmp = tmp_path
        self.root = tmp_path / "project"
        self.root.mkdir()
        self.sessions = 0

    @contextmanager
    def agent(self, scenario: Scenario) -> Iterator[ClaudeAgent]:
        prepare(scenario, self.root)
        with Api(scenario) as api:
            self.api = api
            environ = real_environment(api.url, self.tmp / "home", scenario)
            agent = CLAUDE.build(
                context_in(self.root, binary=BINARY or "", model=scenario.model, environ=environ)
            )
            assert isinstance(agent, ClaudeAgent)
            yield agent

    def scripted(self, *answers: Answer) -> Scenario:
        return Scenario("here", "made here", [answers])

    def load(self, name: str) -> Scenario:
        return load(name, root=str(self.root), python=sys.executable)

    def turn(self, **fields: object) -> Turn:
        self.sessions += 1
        return numbered_turn(self.tmp, self.sessions, **fields)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def bash(command: str) -> Answer:
    return Answer(tools=[ToolUse("Bash", {"command": command, "description": "run"})])


SLEEPER = f"{sys.executable} -c 'import time; time.sleep(60)'"


def test_a_bug_is_fixed(lab: Lab) -> None:
    with lab.agent(lab.load("success")) as agent:
        heard = Heard()
        agent.start(lab.turn(), heard)
        finished = heard.finished()
    assert finished.outcome == "success"
    assert "a + b" in (lab.root / "calc.py").read_text()
    assert (finished.tool_calls, finished.tool_errors, finished.leftovers) == (3, 0, 0)
    assert finished.cost_usd is not None
    assert finished.cost_usd > 0
    assert not [note for note in heard.of(ev.AgentNoted) if "Unknown kind" in note.text]
    assert heard.of(ev.UsageReported)[-1].context_window
    described = heard.of(ev.SessionDescribed)[0]
    assert (described.billing, described.permission_mode) == ("API key", "bypassPermissions")


@pytest.mark.parametrize(
    ("scenario", "outcome", "limit"),
    [
        ("overloaded", "limited", "overload"),
        ("limited_until_reset", "limited", "usage_limit"),
        ("auth_401", "auth", None),
        ("forbidden_403", "auth", None),
        ("context_overflow", "context_full", None),
        ("bad_model", "unknown_model", None),
        ("outage", "limited", "outage"),
        ("broken_service", "limited", "outage"),
    ],
)
def test_a_failing_service_has_a_name(
    lab: Lab, scenario: str, outcome: str, limit: str | None
) -> None:
    played = lab.load(scenario)
    # No slow start of the program outlasts the limit.
    answers = [
        dataclasses.replace(answer, resets_in_s=1000 * answer.resets_in_s)
        for answer in played.answers(0)
    ]
    played = dataclasses.replace(played, sessions=[answers])
    with lab.agent(played) as agent:
        heard = Heard()
        agent.start(lab.turn(), heard)
        finished = heard.finished()
    assert (finished.outcome, finished.limit) == (outcome, limit), finished
    assert finished.reason
    assert (finished.resets_at is not None) == (scenario == "limited_until_reset")


def test_an_interrupted_turn_ends_in_order_and_goes_on_later(lab: Lab) -> None:
    with lab.agent(lab.scripted(bash(SLEEPER), Answer(text="continued"))) as agent:
        heard, turn = Heard(), lab.turn()
        session = agent.start(turn, heard)
        heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
        session.stop("interrupted")
        interrupted = heard.finished()
        again = Heard()
        agent.start(lab.turn(resume=turn.session_id, prompt="continue"), again)
        resumed = again.finished()
    assert interrupted.outcome == "interrupted"
    assert interrupted.leftovers == 0
    assert interrupted.cost_usd is not None
    assert interrupted.cost_usd > 0
    assert resumed.outcome == "success", resumed
    assert again.of(ev.AgentSpoke)[-1].text == "continued"
    assert resumed.cost_usd == pytest.approx(interrupted.cost_usd, rel=0.05)


def test_a_stopped_agent_leaves_nothing(lab: Lab) -> None:
    detached = f"setsid {SLEEPER} & echo $! > pid; wait"
    with lab.agent(lab.scripted(bash(detached))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(), heard)
        assert isinstance(session, StreamSession)
        heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
        file = lab.root / "pid"
        until(lambda: file.exists() and file.read_text())
        session.stop("stopped")
        finished = heard.finished()
    assert finished.outcome == "stopped"
    assert not alive(session.pid)
    assert not alive(int(file.read_text()))


def test_what_holds_for_every_iteration_is_in_the_system_prompt(lab: Lab) -> None:
    context = system_context("true")
    with lab.agent(lab.scripted(Answer(text="done"))) as agent:
        heard = Heard()
        agent.start(lab.turn(system_context=context), heard)
        assert heard.finished().outcome == "success"
    (asked,) = [request for request in lab.api.requests if request.answer == "done"]
    assert "End every session as the prompt asks" in asked.system
    assert "End every session" not in asked.first


def test_guidance_reaches_the_running_turn(lab: Lab) -> None:
    wait = "while [ ! -e go ]; do sleep 0.05; done"
    with lab.agent(lab.scripted(bash(wait), Answer(text="as you wish"))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(), heard)
        heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
        assert session.send(GUIDANCE, "mind the tests")
        (lab.root / "go").touch()
        finished = heard.finished()
    assert finished.outcome == "success"
    assert [event.guidance_id for event in heard.of(ev.GuidanceAcknowledged)] == [GUIDANCE]


def test_the_line_for_a_denied_tool_permits_it(lab: Lab) -> None:
    write = f'{sys.executable} -c \'open("a", "w")\''
    with lab.agent(lab.scripted(bash(write), Answer(text="no"))) as agent:
        heard = Heard()
        agent.start(lab.turn(permissions=Permissions()), heard)
        assert heard.finished().outcome == "success"
    permit = heard.of(ev.ToolDenied)[0].permit
    assert permit.endswith(" -c:*)") or permit == f"Bash({sys.executable}:*)"
    assert not (lab.root / "a").exists()
    with lab.agent(lab.scripted(bash(write), Answer(text="yes"))) as agent:
        heard = Heard()
        agent.start(lab.turn(permissions=Permissions("edits", (permit,))), heard)
        heard.finished()
    assert not heard.of(ev.ToolDenied)
    assert (lab.root / "a").exists()


REFUSED = [
    ("Bash", {"command": "cd {root} && echo a && touch ok && curl -sV && wget -V"}),
    ("Bash", {"command": "touch {out}/z"}),
    ("Bash", {"command": "echo hi > {out}/z"}),
    ("Bash", {"command": "cat {out}/x.txt"}),
    ("Read", {"file_path": "{out}/x.txt"}),
    ("Write", {"file_path": "{out}/y.txt", "content": "hi"}),
    ("Bash", {"command": "echo $(uname -a; id)"}),
    ("Bash", {"command": "for i in 1 2; do chmod +x $i; done"}),
    ("Bash", {"command": "rm -rf {out}"}),
]
PROTECTED = ("Write", {"file_path": "{root}/.claude/settings.json", "content": "{}"})


def test_the_lines_for_what_was_denied_permit_it(lab: Lab) -> None:
    out = lab.tmp / "out"
    out.mkdir()
    (out / "x.txt").write_text("hi\n")

    def use(tool: str, given: dict[str, str]) -> Answer:
        places = {"{root}": str(lab.root), "{out}": str(out)}
        for place, path in places.items():
            given = {name: text.replace(place, path) for name, text in given.items()}
        about = {"description": "run"} if tool == "Bash" else {}
        return Answer(tools=[ToolUse(tool, {**given, **about})])

    def denied(permissions: Permissions) -> list[ev.ToolDenied]:
        answers = [use(*asked) for asked in (*REFUSED, PROTECTED)]
        with lab.agent(lab.scripted(*answers, Answer(text="done"))) as agent:
            heard = Heard()
            agent.start(lab.turn(permissions=permissions), heard)
            finished = heard.finished()
            assert finished.outcome == "success"
        failed = [event for event in heard.of(ev.ToolFinished) if not event.ok]
        assert finished.tool_errors == len(failed) - len(heard.of(ev.ToolDenied))
        return heard.of(ev.ToolDenied)

    first = denied(Permissions())
    assert len(first) > len(REFUSED)
    lines = tuple(dict.fromkeys(line for event in first for line in event.lines))
    assert "Bash" not in lines
    left = denied(Permissions("edits", lines))
    assert [(event.tool, event.final) for event in left] == [("Write", True)], left


@pytest.mark.parametrize(
    "command",
    ["echo ok && test -d .", f"{sys.executable} -c 'print((1, 2))'", "FOO=1 ls -la 2>&1 | wc -l"],
)
def test_the_completion_command_is_permitted(lab: Lab, command: str) -> None:
    with lab.agent(lab.scripted(bash(command), Answer(text="done"))) as agent:
        heard = Heard()
        agent.start(lab.turn(command=command, permissions=Permissions()), heard)
        heard.finished()
    assert not heard.of(ev.ToolDenied)
    assert [event.ok for event in heard.of(ev.ToolFinished)] == [True]


def test_a_budget_holds(lab: Lab) -> None:
    dear = dataclasses.replace(bash("echo hi"), input_tokens=10_000, output_tokens=4000)
    with lab.agent(lab.scripted(*[dear] * 12)) as agent:
        heard = Heard()
        agent.start(lab.turn(budget_usd=0.1), heard)
        finished = heard.finished()
    assert finished.outcome == "budget"
    assert finished.cost_usd is not None
    assert finished.cost_usd >= 0.1


def test_a_question_is_answered_and_paid_for(lab: Lab) -> None:
    with lab.agent(lab.scripted()) as agent:
        asked = agent.ask(Ask("How is it?", timeout_s=30))
    # The scripted service answers what offers no tools with a summary: that is no object.
    assert asked.answer is None
    assert "contains no JSON object" in asked.error
    assert asked.cost_usd is not None
    assert asked.cost_usd > 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused")
def test_root_without_a_sandbox_is_refused_by_us_and_by_it(lab: Lab) -> None:
    with lab.agent(lab.scripted()) as agent:
        bare = {name: v for name, v in agent.context.environ.items() if name != "IS_SANDBOX"}
        refused = ClaudeAgent(agent.context._replace(environ=bare))
        heard, by_it = Heard(), Heard()
        refused.start(lab.turn(), heard)
        refused.begin(lab.turn(), by_it)
        assert "IS_SANDBOX=1" in heard.finished().reason
        assert "root" in by_it.finished().reason
        assert isinstance(by_it.events[-1], ev.SessionFinished)
