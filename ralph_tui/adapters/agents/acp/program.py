"""The programs that speak the protocol, as they are installed."""

import re

from ralph_tui.adapters.agents.acp.quirks import Quirks
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.programs import binary_of, find_program
from ralph_tui.adapters.agents.run_once import run_once
from ralph_tui.errors import ProcessError, UsageError
from ralph_tui.text.sanitize import clip, one_line

PROBE_S = 10.0
"""Seconds a program may take to say which version it is."""
_VERSION = re.compile(r"\b\d{1,6}\.\d{1,6}\.\d{1,9}[\w.+-]{0,30}")


def installed_program(context: AgentContext, quirks: Quirks) -> str:
    """Its absolute path; raises ``UsageError`` when it is missing."""
    usual = quirks.commands[0]
    binary = binary_of(context.settings, usual)
    path = find_program(binary, context.environ)
    if path is None:
        what = "is no program that can be run" if "/" in binary else "is not on PATH"
        named = " (agent.binary)" if context.settings.binary else ""
        raise UsageError(
            f"{clip(one_line(repr(binary)), 300)}{named} {what}: install {quirks.title} with"
            f" `{quirks.install}`, or name its file with --set agent.binary=PATH."
        )
    return path


def described(context: AgentContext, quirks: Quirks) -> str:
    """``0.61.0, /usr/bin/gemini``; raises as `installed_program`."""
    path = installed_program(context, quirks)
    try:
        told = _VERSION.search(run_once([path, "--version"], context, timeout_s=PROBE_S).out)
    except ProcessError:
        told = None
    return f"{told[0] if told else 'version not told'}, {path}"
