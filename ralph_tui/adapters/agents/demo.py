"""The agent `demo`: the sample project's scripted agent, which prints Claude Code's stream."""

import sys

from ralph_tui.adapters.agents.description import Abilities, AgentDescription, lazily


def program(scenario: str, *, fast: bool = False) -> list[str]:
    """Return the command line of the scripted agent."""
    # -P: it runs inside the sample project, whose modules must not shadow the agent's.
    words = [sys.executable, "-P", "-m", "ralph_tui.demo.agent", "--scenario", scenario]
    return [*words, "--fast"] if fast else words


DEMO = AgentDescription(
    name="demo",
    is_ready=lambda settings, environ: True,
    check=lambda context: None,
    build=lazily("demo_agent:DemoAgent"),
    small_model="demo-agent",
    abilities=Abilities(
        questions=True, refusal_continues=True, words_mid_turn=True, context="live", cost=True
    ),
    reserved="the demo's agent works only in its own project; run ralph-tui demo",
)
