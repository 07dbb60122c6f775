"""The agent `demo`: the scripted one of the sample project, which speaks Claude Code's stream."""

from typing import TYPE_CHECKING

from ralph_tui.adapters.agents.description import Abilities, AgentContext, AgentDescription

if TYPE_CHECKING:
    from ralph_tui.ports import Agent


def _check(context: AgentContext) -> None:
    _command_line(context)


def _build(context: AgentContext) -> "Agent":
    # A command line is parsed without it.
    from ralph_tui.adapters.agents.demo_agent import DemoAgent  # noqa: PLC0415

    return DemoAgent(DEMO, _command_line(context), context)


def _command_line(context: AgentContext) -> list[str]:
    from ralph_tui import demo  # noqa: PLC0415 - as above

    return demo.command(context.scenario, fast=context.fast)


DEMO = AgentDescription(
    name="demo",
    looks_ready=lambda settings, environ: True,
    check=_check,
    build=_build,
    small_model="demo-agent",
    abilities=Abilities(
        questions=True, refusal_goes_on=True, words_mid_turn=True, context="live", cost=True
    ),
    reserved="the demo's agent works only in its own project: try ralph-tui demo",
)
