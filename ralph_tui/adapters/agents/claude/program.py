"""The installed Claude Code: its version, its flags, and the command lines that they allow."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ralph_tui.adapters.agents import AgentContext
from ralph_tui.adapters.agents.claude import PROGRAM
from ralph_tui.adapters.agents.claude.requests import NO_PLANS
from ralph_tui.adapters.agents.installed import format_version, probe_output, program_path, stamp
from ralph_tui.adapters.agents.permissions import rules_for_command
from ralph_tui.base.errors import UsageError
from ralph_tui.ports.agents import Permissions, Turn

Version = tuple[int, ...]

OLDEST: Version = (1, 0, 60)
"""The oldest version known to work."""

CONTEXT = "--append-system-prompt"
LONGEST_CONTEXT = 60_000
"""Maximum size in bytes: half of Linux's limit for one argument."""

_SINCE: Mapping[str, Version] = {
    "--replay-user-messages": (1, 0, 86),
    "--max-budget-usd": (2, 0, 28),
    "--tools": (2, 0, 31),
    "--no-session-persistence": (2, 0, 60),
}
"""Versions that introduced a flag; the output of ``--help`` takes precedence."""

_VERSION = re.compile(r"\A\s*(\d{1,6})\.(\d{1,6})\.(\d{1,9})\b")
_FLAG = re.compile(r"(?<![\w-])--[a-zA-Z][a-zA-Z-]+")
_TOOLS = (
    "Bash", "Edit", "Write", "NotebookEdit", "WebFetch", "WebSearch", "Task", "Read", "Glob",
    "Grep",
)  # fmt: skip


def parse_version(probe_output: str) -> Version | None:
    """Parse output such as ``2.1.328 (Claude Code)``; return None for anything else."""
    match = _VERSION.match(probe_output)
    return tuple(map(int, match.groups())) if match else None


@dataclass(frozen=True)
class Program:
    """An installed copy of Claude Code."""

    path: str
    version: Version | None = None
    """None if unknown, which is treated as the newest version."""
    listed: frozenset[str] = frozenset()
    """Flags listed in its help; empty if the help was not read."""

    def knows(self, flag: str) -> bool:
        """True if the program accepts the flag."""
        if self.listed:
            return flag in self.listed
        return self.version is None or self.version >= _SINCE.get(flag, OLDEST)

    def fits_context(self, turn: Turn) -> bool:
        """True if the system context fits on the command line, whose length is limited."""
        return (
            bool(turn.system_context)
            and self.knows(CONTEXT)
            and (len(turn.system_context.encode("utf-8", "replace")) <= LONGEST_CONTEXT)
        )

    def session(self, turn: Turn, model: str | None) -> list[str]:
        """Return the command line of a session that takes guidance."""
        optional = []
        if self.knows("--replay-user-messages"):
            optional.append("--replay-user-messages")
        if turn.budget_usd is not None and self.knows("--max-budget-usd"):
            optional += ["--max-budget-usd", f"{turn.budget_usd:.6f}"]
        if self.fits_context(turn):
            optional += [CONTEXT, turn.system_context]
        return [
            self.path,
            "-p",
            "--input-format", "stream-json",
            "--output-format", "stream-json",
            "--verbose",
            *permission_flags(turn.permissions, turn.command),
            *optional,
            *(["--model", model] if model else []),
            *(["--resume", turn.resume] if turn.resume else ["--session-id", turn.session_id]),
        ]  # fmt: skip

    def question(self, model: str | None) -> list[str]:
        """Return the command line for a one-shot question on stdin, answered without tools."""
        # An empty list disables all tools; older versions need the list of tools to disable.
        tools = ["--tools", ""] if self.knows("--tools") else ["--disallowedTools", *_TOOLS]
        unsaved = "--no-session-persistence"
        return [
            self.path,
            "-p",
            "--output-format", "json",
            *tools,
            *([unsaved] if self.knows(unsaved) else []),
            *(["--model", model] if model else []),
        ]  # fmt: skip


def listed_flags(help_text: str) -> frozenset[str]:
    """Return the flags listed in a help text, or an empty set if it is not Claude Code's."""
    found = frozenset(_FLAG.findall(help_text))
    return found if "--output-format" in found else frozenset()


def permission_flags(permissions: Permissions, command: str) -> list[str]:
    """Return the permission flags. Another flag must follow the list of tools, to end it."""
    if permissions.mode == "skip":
        return ["--dangerously-skip-permissions"]
    # Asking enables tools that wait for the approval of a plan.
    asks = ["--disallowedTools", *NO_PLANS, "--permission-prompt-tool", "stdio"]
    rules = [*rules_for_command(command), *permissions.allow]
    # a rule must not look like a flag
    allowed = [rule for rule in dict.fromkeys(map(str.strip, rules)) if rule and rule[0] != "-"]
    return [
        *(asks if permissions.mode == "ask" else []),
        *(["--allowedTools", *allowed] if allowed else []),
        "--permission-mode",
        "acceptEdits",
    ]


KNOWN = (2, 1, 197)
"""From this version on, all flags are known; for older ones, ``--help`` is read."""

_probed: dict[tuple[object, ...], Program] = {}
"""Cache of programs, so that the check and the build run each program only once."""


def installed_program(context: AgentContext) -> Program:
    """Return the configured program; raise ``UsageError`` if it is missing or too old."""
    path = program_path(context, PROGRAM)
    key = stamp(path, context)
    if key not in _probed:
        _probed[key] = _probe(path, context)
    program = _probed[key]
    if program.version is not None and program.version < OLDEST:
        raise UsageError(
            f"Claude Code {format_version(program.version)} ({path}) is too old for ralph-tui, "
            f"which needs {format_version(OLDEST)} or newer; run `claude update`."
        )
    return program


def describe(context: AgentContext) -> str:
    """Describe the program, as in ``2.1.198, /usr/bin/claude``; see `installed_program`."""
    program = installed_program(context)
    return f"{format_version(program.version)}, {program.path}"


def _probe(path: str, context: AgentContext) -> Program:
    """Run the program to get its version and flags; an unknown version counts as the newest."""
    version = parse_version(probe_output([path, "--version"], context))
    if version is None or version < OLDEST or version >= KNOWN:
        return Program(path, version)
    return Program(path, version, listed_flags(probe_output([path, "--help"], context)))
