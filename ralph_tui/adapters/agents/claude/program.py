"""Claude Code as it is installed: found, and asked once for its version and its flags."""

from ralph_tui.adapters.agents import AgentContext
from ralph_tui.adapters.agents.claude import PROGRAM
from ralph_tui.adapters.agents.claude.flags import OLDEST, Program, listed_flags, parse_version
from ralph_tui.adapters.agents.installed import dotted, printed, program_path, stamp
from ralph_tui.errors import UsageError

KNOWN = (2, 1, 197)
"""From here on every flag is known; older versions are asked for theirs."""

_asked: dict[tuple[object, ...], Program] = {}
"""Programs that have answered: the check before a run and the build in it ask a program once."""


def installed_program(context: AgentContext) -> Program:
    """The program of the settings; raises ``UsageError`` when it is missing or too old."""
    path = program_path(context, PROGRAM)
    key = stamp(path, context)
    if key not in _asked:
        _asked[key] = _ask(path, context)
    program = _asked[key]
    if program.version is not None and program.version < OLDEST:
        raise UsageError(
            f"Claude Code {dotted(program.version)} ({path}) is too old for ralph-tui, which needs"
            f" {dotted(OLDEST)} or newer; run `claude update`."
        )
    return program


def described(context: AgentContext) -> str:
    """``2.1.198, /usr/bin/claude``; raises as `installed_program`."""
    program = installed_program(context)
    return f"{dotted(program.version)}, {program.path}"


def _ask(path: str, context: AgentContext) -> Program:
    """Its version and what it knows; one that does not tell is taken for a new one."""
    version = parse_version(printed([path, "--version"], context))
    if version is None or version < OLDEST or version >= KNOWN:
        return Program(path, version)
    return Program(path, version, listed_flags(printed([path, "--help"], context)))
