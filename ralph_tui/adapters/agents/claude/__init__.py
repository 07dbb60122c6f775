"""The agent `claude`: Claude Code, driven over its stream-json. This module only describes it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ralph_tui.adapters.agents.description import Abilities, AgentDescription, lazily
from ralph_tui.adapters.agents.programs import Program

if TYPE_CHECKING:
    from ralph_tui.config.settings import AgentSettings

PROGRAM = "claude"
"""The program's usual name."""
_PROGRAM = Program(PROGRAM)


def _is_default(settings: "AgentSettings", environ: Mapping[str, str]) -> bool:
    # A program in the settings belongs to this agent; `check` reports any problem with it.
    return settings.binary is not None or _PROGRAM.is_installed(settings, environ)


CLAUDE = AgentDescription(
    name="claude",
    is_ready=_PROGRAM.is_installed,
    check=lazily("claude.program:installed_program"),
    build=lazily("claude.agent:ClaudeAgent"),
    is_default=_is_default,
    small_model="haiku",
    default_when="where installed",
    program=PROGRAM,
    title="Claude Code",
    search_place=_PROGRAM.search_place,
    found=lazily("claude.program:describe"),
    install="npm install -g @anthropic-ai/claude-code",
    login="run `claude` and then /login, or set ANTHROPIC_API_KEY to a valid key",
    abilities=Abilities(
        questions=True,
        refusal_continues=True,
        words_mid_turn=True,
        context="live",
        cost=True,
        limits="with reset",
        resume=True,
    ),
    seen_versions="1.0.60 to 2.1.332",
)
