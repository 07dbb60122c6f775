"""Messages about a run's agents before it begins."""

import argparse
from pathlib import Path

import pytest

from ralph_tui.adapters.agents import AgentContext, choose_agent
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.options import add_settings, check_settings, load_settings
from ralph_tui.config.settings import Settings
from ralph_tui.runtime.lineup import line_up
from tests.rows import each_row


@each_row(("name", "mode", "expected"), [
    ("command", "ask", True),
    ("command", "edits", False),
    ("command", "skip", False),
    ("acp", "ask", False),
])  # fmt: skip
def test_an_agent_that_cannot_ask_is_told_of(
    tmp_path: Path, name: str, mode: str, *, expected: bool
) -> None:
    settings = Settings.model_validate(
        {"agent": {"name": name, "command": "cat"}, "permissions": {"mode": mode}}
    )
    agent = choose_agent(settings.agent)
    notes = line_up(agent, AgentContext(settings.agent, tmp_path), settings).notes
    said = [note for note in notes if "cannot ask" in note]
    assert bool(said) is expected
    assert all("it can do anything that you can do" in note for note in said)


def test_an_agent_that_is_its_own_fallback_is_told_of(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {"agent": {"name": "command", "command": "cat", "fallback": ["command"]}}
    )
    agent = choose_agent(settings.agent)
    notes = line_up(agent, AgentContext(settings.agent, tmp_path), settings).notes
    assert notes == ("command (agent.fallback) is already the main agent; the fallback is ignored",)


def test_a_token_budget_that_does_not_hold_an_agent_is_reported(tmp_path: Path) -> None:
    program = tmp_path / "opencode"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    settings = Settings.model_validate({"agent": {"name": "opencode"}})
    context = AgentContext(settings.agent, tmp_path, environ={"PATH": str(tmp_path)})
    (note,) = line_up(choose_agent(settings.agent), context, settings).notes
    assert note == (
        "opencode reports only the tokens of each prompt's last call; token counts are too "
        "low, and token budgets may be exceeded"
    )


@each_row(("name", "limit", "said"), [
    ("command", "budget_usd",
     "does not report its cost; the dollar budget does not limit it"),
    ("command", "iteration_budget_usd",
     "does not report its cost; the dollar budget does not limit it"),
    ("acp", "budget_usd",
     "may not report its cost; the dollar budget applies only to reported cost"),
    ("demo", "budget_usd", ""),
    ("command", "budget_tokens",
     "does not report its tokens; the token budget does not limit it"),
    ("command", "iteration_budget_tokens",
     "does not report its tokens; the token budget does not limit it"),
    ("demo", "budget_tokens", ""),
])  # fmt: skip
def test_a_budget_that_does_not_hold_an_agent_is_reported(
    tmp_path: Path, name: str, limit: str, said: str
) -> None:
    settings = Settings.model_validate(
        {"agent": {"name": name, "command": "cat"}, "limits": {limit: 1}}
    )
    agent = choose_agent(settings.agent)
    notes = line_up(agent, AgentContext(settings.agent, tmp_path), settings).notes
    assert notes == ((f"{name} {said}",) if said else ())


@each_row(("fallback", "refused"), [('["command"]', False), ("acp", False), ('["codex"]', True)])
def test_a_command_may_be_that_of_an_agent_that_takes_over(fallback: str, *, refused: bool) -> None:
    parser = argparse.ArgumentParser()
    add_settings(parser)
    words = ["--agent", "claude", "--agent-command", "sh worker.sh"]
    given = parser.parse_args([*words, "--set", f"agent.fallback={fallback}"])
    if refused:
        with pytest.raises(UsageError, match="or add a fallback that uses it"):
            check_settings(given)
    else:
        check_settings(given)
        assert load_settings(given, None).settings.agent.command == "sh worker.sh"
