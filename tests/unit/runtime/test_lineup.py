"""What is said of a run's agents before it begins."""

from pathlib import Path

import pytest

from ralph_tui.adapters.agents import AgentContext, choose_agent
from ralph_tui.config.settings import Settings
from ralph_tui.runtime.lineup import line_up


@pytest.mark.parametrize(("name", "mode", "told"), [
    ("command", "ask", True),
    ("command", "edits", False),
    ("command", "skip", False),
    ("acp", "ask", False),
])  # fmt: skip
def test_an_agent_that_cannot_ask_is_told_of(
    tmp_path: Path, name: str, mode: str, *, told: bool
) -> None:
    settings = Settings.model_validate(
        {"agent": {"name": name, "command": "cat"}, "permissions": {"mode": mode}}
    )
    agent = choose_agent(settings.agent)
    notes = line_up(agent, AgentContext(settings.agent, tmp_path), settings).notes
    said = [note for note in notes if "cannot ask" in note]
    assert bool(said) is told
    assert all("its program may do whatever you may do" in note for note in said)
