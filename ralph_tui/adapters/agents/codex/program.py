"""The installed Codex: find the program and ask for its version once."""

import re

from ralph_tui.adapters.agents import AgentContext
from ralph_tui.adapters.agents.codex import PROGRAM
from ralph_tui.adapters.agents.installed import format_version, probe_output, program_path, stamp
from ralph_tui.base.errors import UsageError

Version = tuple[int, ...]

OLDEST: Version = (0, 111, 0)
"""The oldest version known to work."""
_VERSION = re.compile(r"(?:\bcodex(?:-cli)? |\A\s*v?)(\d{1,6})\.(\d{1,6})\.(\d{1,12})\b")
"""The oldest versions print only the number."""

_probed: dict[tuple[object, ...], Version | None] = {}
"""Cache of versions, so that the check and the build run each program only once."""


def installed_program(context: AgentContext) -> tuple[str, Version | None]:
    """Return the configured program and its version, which may be None.

    Raises ``UsageError`` if the program is missing or too old.
    """
    path = program_path(context, PROGRAM)
    key = stamp(path, context)
    if key not in _probed:
        match = _VERSION.search(probe_output([path, "--version"], context))
        _probed[key] = tuple(map(int, match.groups())) if match else None
    version = _probed[key]
    if version is not None and version < OLDEST:
        raise UsageError(
            f"Codex {format_version(version)} ({path}) is too old for ralph-tui, which needs"
            f" {format_version(OLDEST)} or newer; run `npm install -g @openai/codex`."
        )
    return path, version


def describe(context: AgentContext) -> str:
    """Describe the program, as in ``0.169.0, /usr/bin/codex``; see `installed_program`."""
    path, version = installed_program(context)
    return f"{format_version(version)}, {path}"
