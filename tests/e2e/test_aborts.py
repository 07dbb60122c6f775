"""Aborts in a row, each in the midst of a command, leave no process."""

import json
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ralph_tui.adapters.agents.acp.agent import AcpAgent
from ralph_tui.adapters.agents.acp.quirks import ANY
from ralph_tui.adapters.agents.claude import CLAUDE
from ralph_tui.ports.agents import Agent, Permissions, Turn
from tests.agent_sessions import Heard, context_in
from tests.doubles import acp
from tests.doubles.api import Api
from tests.doubles.launch import real_binary, real_environment
from tests.doubles.scenario import Answer, Scenario, ToolUse
from tests.e2e.cli import processes_of
from tests.waiting import until

TIMES = 5
COMMAND = "(sleep 1000 & echo $$ > began; sleep 1000)"
Start = Callable[[Path, str], Iterator[Agent]]


def plain_acp(root: Path, run_id: str) -> Iterator[Agent]:
    """An ACP program about which nothing else is known."""
    script = root.parent / "script.json"
    steps = [{"use": "bash", "command": COMMAND}]
    script.write_text(json.dumps({"plays": "any", "prompts": [steps]}))
    context = context_in(root)._replace(run_id=run_id)
    yield AcpAgent("any", [sys.executable, "-S", acp.__file__, str(script)], ANY, context)


def claude(root: Path, run_id: str) -> Iterator[Agent]:
    """Claude Code itself."""
    use = ToolUse("Bash", {"command": COMMAND, "description": "wait"})
    scenario = Scenario("here", "made here", [[Answer(tools=[use])] * (TIMES * 2)])
    with Api(scenario) as api:
        environ = real_environment(api.url, root.parent / "home", scenario)
        context = context_in(
            root, binary=real_binary() or "", model=scenario.model, environ=environ
        )
        yield CLAUDE.build(context._replace(run_id=run_id))


@pytest.mark.parametrize(
    "start",
    [
        plain_acp,
        pytest.param(
            claude,
            marks=[
                pytest.mark.real_agent,
                pytest.mark.skipif(real_binary() is None, reason="Claude Code is not installed"),
            ],
        ),
    ],
)
def test_of_several_aborts_none_leaves_a_process(tmp_path: Path, start: Start) -> None:
    root, run_id = tmp_path / "project", f"aborts-{uuid.uuid4()}"
    began = root / "began"
    root.mkdir()
    with contextmanager(start)(root, run_id) as agent:
        for number in range(1, TIMES + 1):
            heard = Heard()
            session = agent.start(_turn(tmp_path, number), heard)
            until(lambda: began.exists() and began.read_text().strip())
            assert processes_of(run_id)
            session.stop("stopped")
            assert heard.finished().outcome == "stopped"
            until(lambda: not processes_of(run_id))
            began.unlink()


def _turn(tmp: Path, number: int) -> Turn:
    folder = tmp / "attempt" / f"iter-{number:03}"
    folder.mkdir(parents=True)
    return Turn(
        iteration=number,
        prompt="Do the work",
        session_id=str(uuid.uuid4()),
        transcript=folder / "transcript.jsonl",
        stderr=folder / "stderr.log",
        command="true",
        permissions=Permissions("skip"),
    )
