"""The agent `claude`: Claude Code, driven over its stream-json. Its description."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.agents.description import Abilities, AgentContext, AgentDescription
from ralph_tui.text.format import count

if TYPE_CHECKING:
    from ralph_tui.config.settings import AgentSettings
    from ralph_tui.ports import Agent

PROGRAM = "claude"
"""The default of ``agent.binary``."""


def find_program(binary: str, environ: Mapping[str, str]) -> str | None:
    """The program's absolute path, by name or path; None where it cannot be run."""
    found = shutil.which(os.path.expanduser(binary), path=environ.get("PATH"))  # noqa: PTH111
    return None if found is None else str(Path(found).absolute())


def _is_installed(settings: "AgentSettings", environ: Mapping[str, str]) -> bool:
    return find_program(settings.binary, environ) is not None


def _is_default(settings: "AgentSettings", environ: Mapping[str, str]) -> bool:
    # Only this agent has a program that can be named; the check says what is wrong with it.
    return settings.binary != PROGRAM or _is_installed(settings, environ)


def _looks_for(settings: "AgentSettings", environ: Mapping[str, str]) -> str:
    if "/" in settings.binary:
        return f"the program {settings.binary}"
    # The folders themselves fill a screen, and whoever wants them knows how to ask for them.
    folders = count(
        len([part for part in environ.get("PATH", "").split(os.pathsep) if part]), "folder"
    )
    return f"{settings.binary} in the {folders} of PATH"


def _found(context: AgentContext) -> str:
    from ralph_tui.adapters.agents.claude.program import described  # noqa: PLC0415 - as below

    return described(context)


def _check(context: AgentContext) -> None:
    # A command line is parsed without it.
    from ralph_tui.adapters.agents.claude.program import installed_program  # noqa: PLC0415

    installed_program(context)


def _build(context: AgentContext) -> "Agent":
    from ralph_tui.adapters.agents.claude.agent import ClaudeAgent  # noqa: PLC0415 - as above

    return ClaudeAgent(context)


CLAUDE = AgentDescription(
    name="claude",
    looks_ready=_is_installed,
    check=_check,
    build=_build,
    is_default=_is_default,
    small_model="haiku",
    default_when="where installed",
    program=PROGRAM,
    title="Claude Code",
    looks_for=_looks_for,
    found=_found,
    install="npm install -g @anthropic-ai/claude-code",
    abilities=Abilities(
        questions=True,
        refusal_goes_on=True,
        words_mid_turn=True,
        context="live",
        cost=True,
        limits="with reset",
        resume=True,
    ),
    seen_versions="1.0.60 to 2.1.330",
)
