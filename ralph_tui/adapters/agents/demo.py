"""The agent `demo`: the scripted one of the sample project, which speaks Claude Code's stream."""

from ralph_tui.adapters.agents.description import Abilities, AgentContext, AgentDescription, lazily


def command_line(context: AgentContext) -> list[str]:
    """The scripted program; raises ``UsageError`` for a scenario that does not exist."""
    from ralph_tui import demo  # noqa: PLC0415 - a command line is parsed without it

    return demo.command(context.scenario, fast=context.fast)


def _check(context: AgentContext) -> None:
    command_line(context)


DEMO = AgentDescription(
    name="demo",
    looks_ready=lambda settings, environ: True,
    check=_check,
    build=lazily("demo_agent:DemoAgent"),
    small_model="demo-agent",
    abilities=Abilities(
        questions=True, refusal_goes_on=True, words_mid_turn=True, context="live", cost=True
    ),
    reserved="the demo's agent works only in its own project: try ralph-tui demo",
)
