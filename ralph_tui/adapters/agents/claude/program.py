"""Claude Code as it is installed: found, and asked once for its version and its flags."""

from pathlib import Path

from ralph_tui.adapters.agents import AgentContext, no_agent
from ralph_tui.adapters.agents.claude import PROGRAM
from ralph_tui.adapters.agents.claude.flags import OLDEST, Program, listed_flags, parse_version
from ralph_tui.adapters.agents.programs import binary_of, find_program
from ralph_tui.adapters.agents.run_once import run_once
from ralph_tui.errors import ProcessError, UsageError
from ralph_tui.text.sanitize import one_line

PROBE_S = 5.0
"""Seconds a program may take to say which version it is."""
KNOWN = (2, 1, 197)
"""From here on every flag is known; older versions are asked for theirs."""

_asked: dict[tuple[object, ...], Program] = {}
"""Programs that have answered: the check before a run and the build in it ask a program once."""


def installed_program(context: AgentContext) -> Program:
    """The program of the settings; raises ``UsageError`` when it is missing or too old."""
    path = find_program(binary_of(context.settings, PROGRAM), context.environ)
    if path is None:
        raise _missing(context)
    key = (path, _stamp(path), context.root, tuple(sorted(context.environ.items())))
    if key not in _asked:
        _asked[key] = _ask(path, context)
    program = _asked[key]
    if program.version is not None and program.version < OLDEST:
        raise UsageError(
            f"Claude Code {_dotted(program.version)} ({path}) is too old for ralph-tui, which needs"
            f" {_dotted(OLDEST)} or newer; run `claude update`."
        )
    return program


def _missing(context: AgentContext) -> UsageError:
    """Of a program that was named, its name is the first to be looked at."""
    binary = context.settings.binary
    if binary is None:
        return no_agent(context.settings, context.environ)
    what = "is no program that can be run" if "/" in binary else "is not on PATH"
    named = f"{one_line(binary)!r} (agent.binary) {what}"
    return no_agent(context.settings, context.environ, named)


def described(context: AgentContext) -> str:
    """``2.1.198, /usr/bin/claude``; raises as `installed_program`."""
    program = installed_program(context)
    version = _dotted(program.version) if program.version else "version not told"
    return f"{version}, {program.path}"


def _ask(path: str, context: AgentContext) -> Program:
    """Its version and what it knows; one that does not tell is taken for a new one."""
    version = parse_version(_printed([path, "--version"], context))
    if version is None or version < OLDEST or version >= KNOWN:
        return Program(path, version)
    return Program(path, version, listed_flags(_printed([path, "--help"], context)))


def _printed(argv: list[str], context: AgentContext) -> str:
    try:
        return run_once(argv, context, timeout_s=PROBE_S).out
    except ProcessError:
        return ""


def _stamp(path: str) -> tuple[int, int]:
    """Changes when the program is updated."""
    try:
        facts = Path(path).stat()
    except OSError:
        return (0, 0)
    return (facts.st_mtime_ns, facts.st_size)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
