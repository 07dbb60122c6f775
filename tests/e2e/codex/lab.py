"""A place for sessions of Codex, its stub or itself, on a scripted model."""

import dataclasses
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.agents.codex import CODEX
from ralph_tui.adapters.agents.codex.agent import CodexAgent
from ralph_tui.ports.agents import Turn
from tests.agent_sessions import Heard, context_in, numbered_turn
from tests.doubles.codex_launch import CODEX_STUB, real_codex, real_environment, stub_environment
from tests.doubles.launch import prepare
from tests.doubles.scenario import Answer, Scenario, ToolUse
from tests.waiting import until

REAL = real_codex()
GUIDANCE = "22222222-0000-4000-8000-000000000001"
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
            fields = dataclasses.asdict(scenario)
            file.write_text(json.dumps({key: fields[key] for key in fields if key != "name"}))
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
        return numbered_turn(self.tmp, self.sessions, **fields)


def scripted(*answers: Answer, hostile: str = "") -> Scenario:
    return Scenario("here", "made here", [answers], hostile=hostile)


def bash(command: str) -> Answer:
    return Answer(tools=[ToolUse("Bash", {"command": command})])


def write(path: str) -> Answer:
    return Answer(tools=[ToolUse("Write", {"file_path": path, "content": "new\n"})])


def nth_question(heard: Heard, number: int) -> str:
    """Wait for a question, counted from 0; return its request id."""
    asked = until(lambda: heard.of(ev.AgentAsked)[number : number + 1])
    return asked[0].request_id


def is_asked(event: object) -> bool:
    return isinstance(event, ev.AgentAsked)


def tools(heard: Heard) -> list[tuple[str, bool]]:
    """Each tool, and whether it did its work."""
    over = {event.tool_id: event.ok for event in heard.of(ev.ToolFinished)}
    return [(event.tool, over[event.tool_id]) for event in heard.of(ev.ToolStarted)]
