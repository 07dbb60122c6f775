"""The table of abilities matches the sessions of each agent's double."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.agents import AGENTS, AgentDescription
from ralph_tui.events import SessionFinished, SessionStarted, UsageReported
from ralph_tui.ports.agents import Permissions, Turn
from tests.agent_sessions import Heard, context_in
from tests.doubles.codex_launch import CODEX_STUB, stub_environment
from tests.doubles.launch import LOGIN, STUB
from tests.unit.adapters.agents.acp.bench import Bench

DESCRIBED = {agent.name: agent for agent in AGENTS}
Story = list[dict[str, Any]]
WORKS: Story = [{"text": "at work"}]
LIMITED: Story = [{"fault": "429", "resets_in_s": 9000}]


def of_a_stub(name: str, tmp: Path, story: Story) -> tuple[Heard, bool]:
    """A session of Claude's or Codex's stub; whether its agent resumes sessions."""
    root, state = tmp / "project", tmp / "state"
    root.mkdir()
    file = tmp / "scenario.json"
    file.write_text(json.dumps({"about": "", "subscription": True, "answers": story}))
    environ = {**stub_environment(file, state), **LOGIN, "IS_SANDBOX": "1"}
    binary = str(CODEX_STUB if name == "codex" else STUB)
    agent = DESCRIBED[name].build(context_in(root, binary=binary, environ=environ))
    folder = tmp / "attempt/results/iter-001"
    folder.mkdir(parents=True)
    turn = Turn(
        iteration=1,
        prompt="Do the work",
        session_id="11111111-0000-4000-8000-000000000001",
        transcript=folder / "transcript.jsonl",
        stderr=folder / "stderr.log",
        command="true",
        permissions=Permissions("skip"),
    )
    heard = Heard()
    agent.start(turn, heard)
    heard.finished()
    return heard, agent.resumes


def of_acp(name: str, tmp: Path, story: Story) -> tuple[Heard, bool]:
    """A session of the double that speaks the protocol as this agent does."""
    bench = Bench(tmp)
    prompt: Story = [{"say": "at work"}]
    if story is LIMITED:  # by its status, or in words if it has none
        code = 429 if DESCRIBED[name].abilities.limits else -32603
        prompt = [{"fail": {"code": code, "message": "Too many requests"}}]
    bench.run(name, prompt, turn=bench.turn("skip"))
    assert bench.agent is not None
    return bench.heard, bench.agent.resumes


BY = pytest.mark.parametrize(
    ("agent", "play"),
    [
        pytest.param(DESCRIBED[name], play, id=name)
        for play, names in ((of_a_stub, ("claude", "codex")), (of_acp, ("gemini", "opencode")))
        for name in names
    ],
)
Play = Callable[[str, Path, Story], tuple[Heard, bool]]


@BY
def test_what_a_session_takes_and_tells(
    agent: AgentDescription, play: Play, tmp_path: Path
) -> None:
    heard, resumes = play(agent.name, tmp_path, WORKS)
    claimed, (finished,) = agent.abilities, heard.of(SessionFinished)
    assert finished.outcome == "success"
    assert heard.of(SessionStarted)[0].takes_guidance == claimed.words_mid_turn
    known = [e for e in heard.of(UsageReported) if e.context_tokens is not None]
    assert bool(known) == (claimed.context != "")
    assert (finished.cost_usd is not None) == claimed.cost, (
        "an unreported value is None, never zero"
    )
    assert resumes == claimed.resume


@BY
def test_what_a_limit_looks_like(agent: AgentDescription, play: Play, tmp_path: Path) -> None:
    heard, _ = play(agent.name, tmp_path, LIMITED)
    (finished,) = heard.of(SessionFinished)
    assert (finished.outcome, finished.limit) == ("limited", "usage_limit")
    assert (finished.resets_at is not None) == (agent.abilities.limits == "with reset")
