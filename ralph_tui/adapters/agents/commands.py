"""Shell commands that run an agent: which program they begin with, and whether it is there. Light.

Rule: a run is refused only for what is certain. What a shell has yet to work out (a variable, a
substitution, its own keywords) is left to the shell.
"""

import os
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.programs import find_program
from ralph_tui.errors import UsageError
from ralph_tui.text.sanitize import clip, one_line

_PLAIN = re.compile(r"[\w@%+:,./~-]+")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_OF_THE_SHELL = frozenset(
    {".", ":", "[", "alias", "break", "case", "cd", "command", "continue", "echo", "eval", "exec",
     "exit", "export", "false", "for", "if", "printf", "pwd", "read", "readonly", "return", "set",
     "shift", "test", "time", "times", "trap", "true", "ulimit", "umask", "unset", "until",
     "wait", "while"}
)  # fmt: skip
"""What no program needs to be there for."""


def begins_with(command: str) -> str:
    """The program that a shell looks for first; empty where that cannot be told."""
    words = shlex.shlex(command.split("\n", 1)[0], posix=True, punctuation_chars=True)
    words.whitespace_split = True
    try:
        word = next((word for word in words if not _ASSIGNED.fullmatch(word)), "")
        if next(words, "").startswith("("):  # the name of a function
            return ""
    except ValueError:  # a quote that ends on another line
        return ""
    known = _PLAIN.fullmatch(word) and word not in _OF_THE_SHELL
    return word if known else ""


def missing_program(command: str, environ: Mapping[str, str], root: Path) -> str:
    """The program that a command begins with, where it cannot be run in `root`; else empty."""
    word = begins_with(command)
    if not word:
        return ""
    path = word
    if "/" in word:
        path = str(root / os.path.expanduser(word))  # noqa: PTH111 - a name may be no path
    return "" if find_program(path, environ) else word


def looks_runnable(command: str | None, environ: Mapping[str, str]) -> bool:
    """Whether a quick look from here finds what it begins with."""
    return command is not None and not missing_program(command, environ, Path.cwd())


def checks_command(name: str, example: str) -> Callable[[AgentContext], None]:
    """The check of the agent `name`, which runs ``agent.command``."""

    def check(context: AgentContext) -> None:
        command = context.settings.command
        if not command:
            raise UsageError(
                f"The agent `{name}` needs a command: give one with --agent-command,"
                f' for example --agent-command "{example}".'
            )
        if word := missing_program(command, context.environ, context.root):
            what = "is no program that can be run" if "/" in word else "is not on PATH"
            raise UsageError(
                f"the command of the agent, {clip(one_line(command), 80)!r} (--agent-command),"
                f" begins with {clip(word, 80)!r}, which {what}: install it, or correct the command"
            )

    return check
