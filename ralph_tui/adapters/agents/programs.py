"""Checks that agents' programs, and the programs in shell commands, exist. Light.

Rule: a run is refused only if its program is certainly missing. Variables, substitutions and
keywords are left to the shell.
"""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.base.errors import UsageError
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line

if TYPE_CHECKING:
    from ralph_tui.config.settings import AgentSettings


def find_program(binary: str, environ: Mapping[str, str]) -> str | None:
    """Return the absolute path of a program, given by name or path, or None if it cannot be run."""
    found = shutil.which(os.path.expanduser(binary), path=environ.get("PATH"))  # noqa: PTH111
    return None if found is None else str(Path(found).absolute())


def binary_of(settings: "AgentSettings", usual: str) -> str:
    """Return the program in ``agent.binary``, or the `usual` one."""
    return settings.binary or usual


class Program(NamedTuple):
    """An agent's program, by its usual name, with functions for the agent's description."""

    usual: str

    def is_installed(self, settings: "AgentSettings", environ: Mapping[str, str]) -> bool:
        """True if the program can be run."""
        return find_program(binary_of(settings, self.usual), environ) is not None

    def search_place(self, settings: "AgentSettings", environ: Mapping[str, str]) -> str:
        """Say where ralph-tui looked for the program, as in ``claude in the 9 folders of PATH``."""
        binary = binary_of(settings, self.usual)
        if "/" in binary:
            return f"the program {binary}"
        # The folders themselves would fill a screen, and users can print PATH.
        folders = count(
            len([part for part in environ.get("PATH", "").split(os.pathsep) if part]), "folder"
        )
        return f"{binary} in the {folders} of PATH"


_PLAIN = re.compile(r"[\w@%+:,./~-]+")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_OF_THE_SHELL = frozenset(
    {".", ":", "[", "alias", "break", "case", "cd", "command", "continue", "echo", "eval", "exec",
     "exit", "export", "false", "for", "if", "printf", "pwd", "read", "readonly", "return", "set",
     "shift", "test", "time", "times", "trap", "true", "ulimit", "umask", "unset", "until",
     "wait", "while"}
)  # fmt: skip
"""Shell builtins and keywords, which need no program of their own."""


def first_program(command: str) -> str:
    """Return the program that a shell would run first, or "" if that is uncertain."""
    words = shlex.shlex(command.split("\n", 1)[0], posix=True, punctuation_chars=True)
    words.whitespace_split = True
    try:
        word = next((word for word in words if not _ASSIGNED.fullmatch(word)), "")
        if next(words, "").startswith("("):  # a function definition
            return ""
    except ValueError:  # the quote ends on another line
        return ""
    known = _PLAIN.fullmatch(word) and word not in _OF_THE_SHELL
    return word if known else ""


def missing_program(command: str, environ: Mapping[str, str], root: Path) -> str:
    """Return the first program of a command if it cannot be run in `root`, or ""."""
    word = first_program(command)
    if not word:
        return ""
    path = word
    if "/" in word:
        path = str(root / os.path.expanduser(word))  # noqa: PTH111 - the name may not be a path
    return "" if find_program(path, environ) else word


def can_run(command: str | None, environ: Mapping[str, str]) -> bool:
    """True if the first program of the command can be run from the current folder."""
    return command is not None and not missing_program(command, environ, Path.cwd())


def checks_command(name: str, example: str) -> Callable[[AgentContext], None]:
    """Return the check for the agent `name`, which runs ``agent.command``."""

    def check(context: AgentContext) -> None:
        command = context.settings.command
        if not command:
            raise UsageError(
                f"The agent `{name}` needs a command; add one with --agent-command,"
                f' for example --agent-command "{example}".'
            )
        if word := missing_program(command, context.environ, context.root):
            what = "is not an executable program" if "/" in word else "is not on PATH"
            raise UsageError(
                f"the agent's command, {clip(one_line(command), 80)!r} (--agent-command),"
                f" starts with {clip(word, 80)!r}, which {what}; install it, or correct the command"
            )

    return check
