"""The programs that speak the protocol, as they are installed."""

import re

from ralph_tui.adapters.agents.acp.quirks import Quirks
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.installed import NOT_TOLD, printed, program_path

_VERSION = re.compile(r"\b\d{1,6}\.\d{1,6}\.\d{1,9}[\w.+-]{0,30}")


def described(context: AgentContext, quirks: Quirks) -> str:
    """``0.61.0, /usr/bin/gemini``; raises ``UsageError`` when it is missing."""
    path = program_path(context, quirks.commands[0])
    version = _VERSION.search(printed([path, "--version"], context))
    return f"{version[0] if version else NOT_TOLD}, {path}"
