"""The agents `gemini`, `opencode` and `acp`: programs that speak the Agent Client Protocol.

One adapter drives them all, `quirks` says in what they differ. Their descriptions.
"""

from typing import TYPE_CHECKING

from ralph_tui.adapters.agents.acp.quirks import ANY, GEMINI, OPENCODE, Quirks
from ralph_tui.adapters.agents.description import AgentContext, AgentDescription
from ralph_tui.adapters.agents.programs import Program, checks_command, looks_runnable

if TYPE_CHECKING:
    from ralph_tui.ports import Agent


def _described(name: str, quirks: Quirks, seen_versions: str) -> AgentDescription:
    usual = quirks.commands[0]
    program = Program(usual)

    def check(context: AgentContext) -> None:
        # A command line is parsed without it.
        from ralph_tui.adapters.agents.installed import program_path  # noqa: PLC0415

        program_path(context, usual)

    def found(context: AgentContext) -> str:
        from ralph_tui.adapters.agents.acp.program import described  # noqa: PLC0415 - as above

        return described(context, quirks)

    def build(context: AgentContext) -> "Agent":
        from ralph_tui.adapters.agents.acp.agent import known_agent  # noqa: PLC0415 - as above

        return known_agent(name, quirks, context)

    return AgentDescription(
        name=name,
        looks_ready=program.is_installed,
        check=check,
        build=build,
        is_default=program.is_installed,
        default_when="else where installed",
        program=usual,
        title=quirks.title,
        looks_for=program.looked_for,
        found=found,
        install=quirks.install,
        login=quirks.login,
        abilities=quirks.abilities,
        seen_versions=seen_versions,
    )


def _build_any(context: AgentContext) -> "Agent":
    from ralph_tui.adapters.agents.acp.agent import any_agent  # noqa: PLC0415 - as above

    return any_agent(ANY_ACP.name, context)


GEMINI_ACP = _described("gemini", GEMINI, "0.61.0")
OPENCODE_ACP = _described("opencode", OPENCODE, "1.18.33")
ANY_ACP = AgentDescription(
    name="acp",
    looks_ready=lambda settings, environ: looks_runnable(settings.command, environ),
    check=checks_command("acp", "my-agent --acp"),
    build=_build_any,
    abilities=ANY.abilities,
    takes_command=True,
    hint="runs any program that speaks the Agent Client Protocol (--agent-command)",
)
__all__ = ["ANY_ACP", "GEMINI_ACP", "OPENCODE_ACP"]
