"""The agents `gemini`, `opencode` and `acp`: programs that speak the Agent Client Protocol.

One adapter drives them all; `quirks` lists their differences. This module only describes them.
"""

from ralph_tui.adapters.agents.acp.quirks import ANY, GEMINI, OPENCODE, Quirks
from ralph_tui.adapters.agents.description import AgentDescription, lazily
from ralph_tui.adapters.agents.programs import Program, can_run, checks_command


def _acp_description(name: str, quirks: Quirks, seen_versions: str) -> AgentDescription:
    usual = quirks.commands[0]
    program = Program(usual)
    return AgentDescription(
        name=name,
        is_ready=program.is_installed,
        check=lazily("installed:program_path", usual),
        build=lazily("acp.agent:known_agent", name, quirks),
        is_default=program.is_installed,
        default_when="else where installed",
        program=usual,
        title=quirks.title,
        search_place=program.search_place,
        found=lazily("acp.agent:describe", quirks),
        install=quirks.install,
        login=quirks.login,
        abilities=quirks.abilities,
        seen_versions=seen_versions,
    )


GEMINI_ACP = _acp_description("gemini", GEMINI, "0.61.0")
OPENCODE_ACP = _acp_description("opencode", OPENCODE, "1.18.33")
ANY_ACP = AgentDescription(
    name="acp",
    is_ready=lambda settings, environ: can_run(settings.command, environ),
    check=checks_command("acp", "my-agent --acp"),
    build=lazily("acp.agent:any_agent"),
    abilities=ANY.abilities,
    takes_command=True,
    hint="runs any program that speaks the Agent Client Protocol (--agent-command)",
)
__all__ = ["ANY_ACP", "GEMINI_ACP", "OPENCODE_ACP"]
