"""The agent `codex`: Codex CLI, driven over its app-server. Its description."""

from typing import TYPE_CHECKING

from ralph_tui.adapters.agents.description import Abilities, AgentContext, AgentDescription
from ralph_tui.adapters.agents.programs import Program

if TYPE_CHECKING:
    from ralph_tui.ports import Agent

PROGRAM = "codex"
"""Its usual name."""
_PROGRAM = Program(PROGRAM)


def _found(context: AgentContext) -> str:
    from ralph_tui.adapters.agents.codex.program import described  # noqa: PLC0415 - as below

    return described(context)


def _check(context: AgentContext) -> None:
    # A command line is parsed without it.
    from ralph_tui.adapters.agents.codex.program import installed_program  # noqa: PLC0415

    installed_program(context)


def _build(context: AgentContext) -> "Agent":
    from ralph_tui.adapters.agents.codex.agent import CodexAgent  # noqa: PLC0415 - as above

    return CodexAgent(context)


CODEX = AgentDescription(
    name="codex",
    looks_ready=_PROGRAM.is_installed,
    check=_check,
    build=_build,
    is_default=_PROGRAM.is_installed,
    default_when="else where installed",
    program=PROGRAM,
    title="Codex CLI",
    looks_for=_PROGRAM.looked_for,
    found=_found,
    install="npm install -g @openai/codex",
    login="run `codex login`, or set the key that Codex's config.toml names (env_key)",
    abilities=Abilities(
        questions=True,
        refusal_goes_on=True,
        words_mid_turn=True,
        context="live",
        limits="with reset",
        resume=True,
    ),
    seen_versions="0.111.0 to 0.171.0",
)
