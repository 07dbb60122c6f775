"""One entry in `AGENTS` is enough to add an agent."""

import argparse
import subprocess
import sys

import pytest

from ralph_tui.adapters import agents
from ralph_tui.adapters.agents import AgentDescription, choose_agent, find_agent, selectable_agents
from ralph_tui.adapters.agents.acp.quirks import GEMINI, OPENCODE
from ralph_tui.adapters.agents.claude import CLAUDE, PROGRAM
from ralph_tui.adapters.agents.claude.agent import ClaudeAgent
from ralph_tui.adapters.agents.claude.stream_agent import StreamSession
from ralph_tui.adapters.agents.command.agent import CommandAgent, CommandSession
from ralph_tui.adapters.agents.demo_agent import DemoAgent
from ralph_tui.adapters.agents.description import Abilities
from ralph_tui.adapters.agents.programs import binary_of
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.options import add_settings, load_settings
from ralph_tui.config.settings import AgentSettings
from ralph_tui.ports.agents import Agent


def never_built(context: agents.AgentContext) -> Agent:
    raise AssertionError


FURTHER = AgentDescription(
    name="further",
    is_ready=lambda settings, environ: True,
    check=lambda context: None,
    build=never_built,
    is_default=lambda settings, environ: "FURTHER" in environ,
    default_when="in tests",
    hint="goes further",
)


@pytest.fixture(autouse=True)
def further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "AGENTS", (*agents.AGENTS, FURTHER))


def test_it_is_chosen_by_name_and_by_default() -> None:
    assert choose_agent(AgentSettings(name="further"), {}) is FURTHER
    assert find_agent(AgentSettings(), {"PATH": "", "FURTHER": "1"}) is FURTHER
    assert find_agent(AgentSettings(), {"PATH": ""}) is None


def test_it_is_offered_in_the_help_and_in_the_error() -> None:
    parser = argparse.ArgumentParser()
    add_settings(parser)
    words = " ".join(parser.format_help().split())
    assert "the agent: claude, codex, gemini, opencode, acp, command, further (default" in words
    assert "default: the first installed of claude, codex, gemini, opencode, further" in words
    assert "speaks ACP" in words
    names = ", ".join(agent.name for agent in selectable_agents())
    with pytest.raises(UsageError, match=f"choose one of {names}"):
        choose_agent(AgentSettings(name="foo"), {})


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--agent-command", "my-agent"], "command"),
        (["--agent-command", "my-agent", "--agent", "claude"], "claude"),
        ([], None),
    ],
)
def test_a_command_for_the_agent_means_the_agent_that_runs_it(
    words: list[str], named: str | None
) -> None:
    parser = argparse.ArgumentParser()
    add_settings(parser)
    assert load_settings(parser.parse_args(words), None).settings.agent.name == named


def test_the_agent_of_the_demo_is_not_offered() -> None:
    assert "demo" not in [agent.name for agent in selectable_agents()]


def test_a_program_that_is_named_is_that_of_claude_where_no_agent_is() -> None:
    assert binary_of(AgentSettings(), PROGRAM) == PROGRAM
    assert binary_of(AgentSettings(binary="./my-claude"), PROGRAM) == "./my-claude"
    assert not CLAUDE.is_default(AgentSettings(), {"PATH": ""})
    assert CLAUDE.is_default(AgentSettings(binary="./my-claude"), {"PATH": ""})


def test_descriptions_load_no_agent() -> None:
    code = (
        "import sys, ralph_tui.adapters.agents\n"
        "print([n for n in sys.modules if n == 'pydantic' or n.endswith(('.agent', '.program'))])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "[]\n"


def test_what_an_agent_says_it_can_do_is_what_its_sessions_do() -> None:
    claimed = {agent.name: agent.abilities for agent in agents.AGENTS}
    assert claimed["claude"].resume == ClaudeAgent.resumes
    assert claimed["claude"].words_mid_turn == StreamSession.takes_guidance
    assert bool(claimed["claude"].context) == StreamSession.tells_context
    assert claimed["gemini"] == GEMINI.abilities
    assert claimed["opencode"] == OPENCODE.abilities
    assert claimed["acp"] == Abilities()
    assert claimed["command"] == Abilities(tokens="")
    assert not CommandAgent.resumes
    assert not CommandSession.takes_guidance
    assert not CommandSession.tells_context
    assert claimed["demo"].resume == DemoAgent.resumes
