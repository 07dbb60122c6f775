"""Codex as it is installed: found, and asked once for its version."""

import re

from ralph_tui.adapters.agents import AgentContext
from ralph_tui.adapters.agents.codex import PROGRAM
from ralph_tui.adapters.agents.installed import dotted, printed, program_path, stamp
from ralph_tui.base.errors import UsageError

Version = tuple[int, ...]

OLDEST: Version = (0, 111, 0)
"""The oldest version that was seen to work."""
_VERSION = re.compile(r"(?:\bcodex(?:-cli)? |\A\s*v?)(\d{1,6})\.(\d{1,6})\.(\d{1,12})\b")
"""The oldest said the number alone."""

_asked: dict[tuple[object, ...], Version | None] = {}
"""Programs that have answered: the check before a run and the build in it ask a program once."""


def installed_program(context: AgentContext) -> tuple[str, Version | None]:
    """The program of the settings and its version, None where it does not tell.

    Raises ``UsageError`` when it is missing or too old.
    """
    path = program_path(context, PROGRAM)
    key = stamp(path, context)
    if key not in _asked:
        match = _VERSION.search(printed([path, "--version"], context))
        _asked[key] = tuple(map(int, match.groups())) if match else None
    version = _asked[key]
    if version is not None and version < OLDEST:
        raise UsageError(
            f"Codex {dotted(version)} ({path}) is too old for ralph-tui, which needs"
            f" {dotted(OLDEST)} or newer; run `npm install -g @openai/codex`."
        )
    return path, version


def described(context: AgentContext) -> str:
    """``0.169.0, /usr/bin/codex``; raises as `installed_program`."""
    path, version = installed_program(context)
    return f"{dotted(version)}, {path}"
