"""What an agent may do without a question, for agents whose program leaves that to us.

The lines of ``permissions.allow`` are one notation for all of them: ``Bash(git push:*)``,
``Bash(make lint)``, ``Edit(//srv/shared/**)``. Rule: a command is permitted part by part, and what
a shell would put into it (``$(...)``, a file that it writes) is permitted by no beginning of words.
"""

import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from ralph_tui.adapters.agents.permission_rules import rules_for_command, shell_parts
from ralph_tui.ports import Permissions

_RULE = re.compile(r"\A(?P<tool>[\w-]+)(?:\((?P<what>.*)\))?\Z", re.DOTALL)
_HARMLESS_REDIRECTION = re.compile(r"\s*(?:[12]?>&[12]|[12&]?>\s*/dev/null)(?=\s|\Z)")
_SHELL = re.compile(r"[`<>]|\$[\w({@*#?!$-]")
_PROTECTED = frozenset({".git", ".claude", ".codex", ".gemini", ".opencode"})
"""Folders in a project whose files say what programs run."""
_EDITS = ("Edit", "Write")
FILTERS = frozenset(
    {"cat", "cut", "echo", "grep", "head", "ls", "pwd", "sort", "tail", "true", "uniq", "wc"}
)
"""Programs that read what comes to them, or files of the worktree, which may be read anyway."""


class Permits:
    """The permissions of one session."""

    def __init__(self, permissions: Permissions, command: str, root: Path) -> None:
        """`command` is the completion command, `root` the worktree."""
        self.everything = permissions.mode == "skip"
        self._whole = command.strip()
        self._root = os.path.realpath(root)
        self._rules = [*rules_for_command(command), *map(str.strip, permissions.allow)]

    def command(self, text: str) -> bool:
        """Whether the shell command may run."""
        text = text.strip()
        if self.everything or (text and text == self._whole):
            return True
        rules = self._of("Bash")
        if "" in rules or (text and text in rules):
            return True
        parts = shell_parts(text)
        return bool(parts) and all(self._part(part, rules) for part in parts)

    def edit(self, paths: Iterable[str]) -> bool:
        """Whether all the files may be written; a path that is not absolute is in the worktree."""
        return self.everything or all(map(self._file, paths))

    def read(self, paths: Iterable[str]) -> bool:
        """Whether all the files may be looked at: those of the worktree."""
        return self.everything or all(
            self.holds(path) or self._named("Read", path) or self._file(path) for path in paths
        )

    def fetch(self, url: str) -> bool:
        """Whether the address may be asked."""
        rules = self._of("WebFetch")
        return self.everything or "" in rules or f"domain:{host_of(url)}" in rules

    def tool(self, name: str) -> bool:
        """Whether the tool of this name may be used, whatever it is given."""
        server = "__".join(name.split("__")[:2]) if name.startswith("mcp__") else name
        return self.everything or name in self._rules or server in self._rules

    def holds(self, path: str) -> bool:
        """Whether the file lies in the worktree, whatever links lead to it."""
        return "\0" not in path and self._is_inside(self._real(path))

    def _part(self, part: str, rules: list[str]) -> bool:
        if part in rules:
            return True
        plain = _HARMLESS_REDIRECTION.sub("", part)
        if _SHELL.search(plain):
            return False
        return self._stays_inside(plain) or any(_begins(plain, rule) for rule in rules)

    def _stays_inside(self, part: str) -> bool:
        """Whether it only changes to a folder of the worktree, or only reads there."""
        try:
            words = shlex.split(part)
        except ValueError:
            return False
        if len(words) == 2 and words[0] == "cd":
            return self.holds(words[1])
        return words[:1] != [] and words[0] in FILTERS and all(map(self._stays, words[1:]))

    def _stays(self, word: str) -> bool:
        """Whether a word of a command, if it is a path, leads to no place outside."""
        if word.startswith("-"):
            return "/" not in word and "=" not in word
        return not word.startswith("~") and self.holds(word)

    def _file(self, path: str) -> bool:
        if "\0" in path:
            return False
        real = self._real(path)
        if self._is_inside(real):
            return not _PROTECTED & set(Path(real).relative_to(self._root).parts)
        return any(self._named(tool, path) for tool in _EDITS)

    def _named(self, tool: str, path: str) -> bool:
        """Whether a line permits the tool this file."""
        return "\0" not in path and any(
            rule == "" or _holds(rule, self._real(path)) for rule in self._of(tool)
        )

    def _real(self, path: str) -> str:
        """Where it leads, over every link."""
        return os.path.realpath(Path(self._root, path))

    def _is_inside(self, real: str) -> bool:
        return Path(real).is_relative_to(self._root)

    def _of(self, tool: str) -> list[str]:
        """What stands in the brackets of the rules for a tool; empty: all of it."""
        matches = map(_RULE.match, self._rules)
        return [match["what"] or "" for match in matches if match and match["tool"] == tool]


def _begins(part: str, rule: str) -> bool:
    """``git push:*`` and ``git push *`` permit what begins with these words."""
    for end in (":*", " *"):
        if rule.endswith(end):
            words = rule.removesuffix(end)
            return bool(words) and (part == words or part.startswith(f"{words} "))
    return False


def _holds(rule: str, real: str) -> bool:
    """``//srv/shared/**`` permits the files below a folder."""
    if not rule.startswith("//") or not rule.endswith("/**"):
        return False
    return Path(real).is_relative_to(os.path.realpath(rule[1:].removesuffix("**")))


def host_of(url: str) -> str:
    """The host of an address; empty where it names none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
