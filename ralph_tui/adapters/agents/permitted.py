"""What is permitted without a question to an agent that asks us, rather than keeping rules itself.

Rule: what ``permissions.mode`` says of edits: files in the worktree, the completion command, and
the lines of ``permissions.allow``, which are written as Claude Code writes them. What is not
understood is not permitted.
"""

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from ralph_tui.adapters.agents.denials import rules_for_denied
from ralph_tui.adapters.agents.permission_rules import rules_for_command, shell_parts

_LINE = re.compile(r"(?P<tool>[\w-]{1,200})(?:\((?P<what>.*)\))?\Z", re.DOTALL)
_WRITES = ("Edit", "Write", "MultiEdit")
_EXPANDED = re.compile(r"[$`]|[<>]\(")
_TO_NOWHERE = re.compile(r"\d?>>?\s*/dev/null\b|\d?>&\d|&>\s*/dev/null\b")
_FILTERS = frozenset(
    {"cat", "cut", "echo", "grep", "head", "ls", "pwd", "sort", "tail", "true", "uniq", "wc"}
)
"""Programs that only read, in a worktree that may be read anyway."""


class Permitted:
    """The rules of one session; `root` is the worktree."""

    def __init__(self, command: str, allow: Iterable[str], root: str) -> None:
        self._root = os.path.realpath(root)
        self._lines: list[tuple[str, str | None]] = []
        for line in (*rules_for_command(command), *allow):
            if match := _LINE.match(line.strip()):
                self._lines.append((match["tool"], match["what"]))

    def shell(self, command: str) -> bool:
        """Whether a shell command may be run: each of its parts, or all of it as it stands."""
        rules = list(self._of("Bash"))
        if None in rules or command.strip() in rules:
            return True
        bare = _TO_NOWHERE.sub("", command)
        if _EXPANDED.search(bare) or _redirected(bare):
            return False
        parts = shell_parts(bare)
        return bool(parts) and all(self._part(part, rules) for part in parts)

    def write(self, paths: Sequence[str]) -> bool:
        """Whether these files may be changed: those of the worktree, but for git's own."""
        return bool(paths) and all(
            (self.holds(path) and ".git" not in self._relative(path).split("/"))
            or self._listed(path, _WRITES)
            for path in paths
        )

    def read(self, paths: Sequence[str]) -> bool:
        """Whether these may be looked at: those of the worktree."""
        return all(self.holds(path) or self._listed(path, ("Read", *_WRITES)) for path in paths)

    def fetch(self, url: str) -> bool:
        """Whether this address may be asked."""
        rules = list(self._of("WebFetch"))
        return None in rules or f"domain:{_host(url)}" in rules

    def tool(self, name: str) -> bool:
        """Whether a tool of this name may be used whatever it is given."""
        server = "__".join(name.split("__")[:2]) if name.startswith("mcp__") else name
        return (name, None) in self._lines or (server, None) in self._lines

    def holds(self, path: str) -> bool:
        """Whether the file lies in the worktree, whatever links lead to it."""
        whole = os.path.realpath(os.path.join(self._root, path))  # noqa: PTH118
        return whole == self._root or whole.startswith(self._root + "/")

    def _part(self, part: str, rules: Sequence[str | None]) -> bool:
        words = part.split()
        if words[0] == "cd":
            return len(words) == 2 and self.holds(words[1].strip("'\""))
        if any(_fits(part, rule) for rule in rules if rule is not None):
            return True
        return words[0] in _FILTERS and not any(_leads_away(word) for word in words[1:])

    def _of(self, tool: str) -> Iterator[str | None]:
        return (what for name, what in self._lines if name == tool)

    def _listed(self, path: str, tools: Sequence[str]) -> bool:
        whole = os.path.realpath(os.path.join(self._root, path))  # noqa: PTH118
        return any(
            what is None or _glob(what, self._root).fullmatch(whole)
            for tool in tools
            for what in self._of(tool)
        )

    def _relative(self, path: str) -> str:
        return os.path.relpath(os.path.realpath(os.path.join(self._root, path)), self._root)  # noqa: PTH118


def lines_for_shell(command: str, root: str) -> list[str]:
    """The ``permissions.allow`` lines that together would permit a shell command."""
    return rules_for_denied("Bash", {"command": command}, roots=[root])


def lines_for_file(path: str, root: str, *, writes: bool) -> list[str]:
    """The line for a file; none for one in the worktree, which no line permits."""
    return rules_for_denied("Edit" if writes else "Read", {"file_path": path}, roots=[root])


def line_for_address(url: str) -> str:
    """The line for what is fetched."""
    host = _host(url)
    return f"WebFetch(domain:{host})" if host else "WebFetch"


def _fits(part: str, rule: str) -> bool:
    """Whether one command is that of a rule: exactly, or as its beginning."""
    if rule == "*":
        return True
    for ending in (":*", " *"):
        if rule.endswith(ending) and "*" not in (begin := rule.removesuffix(ending)):
            return part == begin or part.startswith(f"{begin} ")
    if "*" in rule:
        return re.fullmatch(".*".join(map(re.escape, rule.split("*"))), part, re.DOTALL) is not None
    return part == rule


def _redirected(command: str) -> bool:
    """Whether it reads or writes a file by redirection."""
    return any(character in "<>" for character in _unquoted(command))


def _unquoted(command: str) -> Iterator[str]:
    quote = ""
    characters = iter(command)
    for character in characters:
        if character == "\\" and quote != "'":
            next(characters, "")
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        else:
            yield character


def _leads_away(word: str) -> bool:
    word = word.strip("'\"")
    return word.startswith(("/", "~")) or ".." in word


def _glob(pattern: str, root: str) -> re.Pattern[str]:
    """A path in a rule: ``//`` begins at the system's root, ``~`` at home, else the worktree."""
    if pattern.startswith("//"):
        whole = pattern[1:]
    elif pattern.startswith("~/"):
        whole = os.path.expanduser(pattern)  # noqa: PTH111
    else:
        whole = posixpath.join(root, pattern.lstrip("/"))
    parts = re.split(r"(\*\*|\*)", whole)
    meant = {"**": ".*", "*": "[^/]*"}
    return re.compile("".join(meant.get(part, re.escape(part)) for part in parts))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
