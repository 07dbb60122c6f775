"""Agents' programs as they are installed: found, and asked in a few words what they are."""

from pathlib import Path

from ralph_tui.adapters.agents import AgentContext, no_agent
from ralph_tui.adapters.agents.programs import binary_of, find_program
from ralph_tui.adapters.agents.run_once import run_once
from ralph_tui.errors import ProcessError
from ralph_tui.text.sanitize import one_line

NOT_TOLD = "version not told"
PROBE_S = 5.0
"""Seconds a program may take to say which version it is."""


def program_path(context: AgentContext, usual: str) -> str:
    """Where the program of the settings is; raises ``UsageError``. `usual` is its own name."""
    path = find_program(binary_of(context.settings, usual), context.environ)
    if path is not None:
        return path
    # Of a program that was named, its name is the first to be looked at.
    binary, name = context.settings.binary, context.settings.name
    if binary is None and name is None:
        raise no_agent(context.settings, context.environ)
    what = "is no program that can be run" if "/" in (binary or "") else "is not on PATH"
    named = (
        f"{usual!r} (--agent {name})" if binary is None else f"{one_line(binary)!r} (agent.binary)"
    )
    raise no_agent(context.settings, context.environ, f"{named} {what}")


def printed(argv: list[str], context: AgentContext) -> str:
    """What it prints within `PROBE_S` seconds; empty where it cannot be run."""
    try:
        return run_once(argv, context, timeout_s=PROBE_S).out
    except ProcessError:
        return ""


def stamp(path: str, context: AgentContext) -> tuple[object, ...]:
    """Changes when the program is updated, or would answer otherwise."""
    try:
        facts = Path(path).stat()
        changed = (facts.st_mtime_ns, facts.st_size)
    except OSError:
        changed = (0, 0)
    return (path, changed, context.root, tuple(sorted(context.environ.items())))


def dotted(version: tuple[int, ...] | None) -> str:
    """``2.1.198``."""
    return ".".join(map(str, version)) if version else NOT_TOLD
