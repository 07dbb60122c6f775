"""The agent `codex`: Codex CLI, driven over its app-server. This module only describes it."""

from ralph_tui.adapters.agents.description import Abilities, AgentDescription, lazily
from ralph_tui.adapters.agents.programs import Program

PROGRAM = "codex"
"""The program's usual name."""
_PROGRAM = Program(PROGRAM)

CODEX = AgentDescription(
    name="codex",
    is_ready=_PROGRAM.is_installed,
    check=lazily("codex.program:installed_program"),
    build=lazily("codex.agent:CodexAgent"),
    is_default=_PROGRAM.is_installed,
    default_when="else where installed",
    program=PROGRAM,
    title="Codex CLI",
    search_place=_PROGRAM.search_place,
    found=lazily("codex.program:describe"),
    install="npm install -g @openai/codex",
    login="run `codex login`, or set the key that Codex's config.toml names (env_key)",
    abilities=Abilities(
        questions=True,
        refusal_continues=True,
        words_mid_turn=True,
        context="live",
        limits="with reset",
        resume=True,
    ),
    seen_versions="0.111.0 to 0.171.0",
)
