"""Permissions of agents, in Claude Code's notation for all of them. Pure.

Examples of ``permissions.allow``: ``Bash(git push:*)``, ``Bash(make lint)``,
``Edit(//srv/shared/**)``. Each part of a shell command such as ``a && b`` needs its own rule. A
prefix rule never permits expansions (``$(...)``) or redirections to files.

`Permits` decides for agents whose program leaves permissions to ralph-tui. `rules_for_denied`
returns the lines that would permit a denied call, and no others. A path outside the project needs a
rule for its folder. No line permits what the agent itself protects, or what one of the user's rules
denies.
"""

import os
import posixpath
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from ralph_tui.ports.agents import Permissions
from ralph_tui.text.json_fields import as_text

_SUBCOMMANDS: Mapping[str, int] = {
    **dict.fromkeys(
        ("git", "npm", "pnpm", "yarn", "bun", "cargo", "go", "docker", "podman", "kubectl", "pip",
         "pip3", "uv", "uvx", "npx", "make", "just", "gh", "brew", "apt", "apt-get", "dotnet",
         "mvn", "gradle", "poetry", "pipx", "python", "python3", "node", "deno", "ruby", "bash",
         "sh", "sudo", "env", "bundle", "composer", "terraform", "systemctl"),
        1,
    ),
}  # fmt: skip
"""Number of words after the program's name that determine what the command does."""
_TAKE_ONE_MORE = frozenset({"run", "exec", "compose", "-m", "tool"})
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=[^\s'\"$`()]*\Z")
_PLAIN_WORD = re.compile(r"[\w@%+./:=~^,-]+\Z")
_WORDS = re.compile(r"\S+")


def rules_for_command(command: str) -> list[str]:
    """Return the rules that permit the completion command, with or without more arguments."""
    parts = [part for part in shell_parts(command) if "\n" not in part]
    whole = [command.strip()] if command.strip() and "\n" not in command.strip() else []
    exact = [f"Bash({part})" for part in whole]
    return list(dict.fromkeys((*exact, *(f"Bash({part}:*)" for part in (*whole, *parts)))))


def shell_parts(command: str) -> list[str]:
    """Split a command at ``&&``, ``||``, ``;``, ``|``, ``&`` and newlines that are not quoted."""
    parts, part, quote = [], "", ""
    characters = iter(command)
    for character in characters:
        if character == "\\" and quote != "'":
            part += character + next(characters, "")
        elif quote:
            part += character
            quote = "" if character == quote else quote
        elif character in "'\"":
            part += character
            quote = character
        elif character == "&" and part.endswith(">"):
            # A redirection such as 2>&1.
            part += character
        elif character in "&|;\n":
            parts.append(part)
            part = ""
        else:
            part += character
    return [stripped for part in (*parts, part) if (stripped := part.strip())]


def prefix(part: str) -> str:
    """Return the words that determine what a command does: ``npm run build``, ``touch``."""
    words = _WORDS.findall(part)
    kept: list[str] = []
    while words and _ASSIGNMENT.match(words[0]):
        kept.append(words.pop(0))
    if not words:
        return " ".join(kept)
    program = words.pop(0)
    kept.append(program)
    more = _SUBCOMMANDS.get(program.rpartition("/")[2], 0)
    while more and words and _PLAIN_WORD.match(words[0]):
        kept.append(words.pop(0))
        more += (kept[-1] in _TAKE_ONE_MORE) - 1
    return " ".join(kept)


_RULE = re.compile(r"\A(?P<tool>[\w-]+)(?:\((?P<what>.*)\))?\Z", re.DOTALL)
_HARMLESS_REDIRECTION = re.compile(r"\s*(?:[12]?>&[12]|[12&]?>\s*/dev/null)(?=\s|\Z)")
_SHELL = re.compile(r"[`<>]|\$[\w({@*#?!$-]")
_PROTECTED = frozenset({".git", ".claude", ".codex", ".gemini", ".opencode"})
"""Folders in a project whose files decide which programs run."""
_EDITS = ("Edit", "Write")
FILTERS = frozenset(
    {"cat", "cut", "echo", "grep", "head", "ls", "pwd", "sort", "tail", "true", "uniq", "wc"}
)
"""Programs that only read stdin or files in the worktree, which any agent may do."""


class Permits:
    """The permissions of one session."""

    def __init__(self, permissions: Permissions, command: str, root: Path) -> None:
        """`command` is the completion command, `root` the worktree."""
        self.everything = permissions.mode == "skip"
        self._whole = command.strip()
        self._root = os.path.realpath(root)
        self._rules = [*rules_for_command(command), *map(str.strip, permissions.allow)]

    def command(self, text: str) -> bool:
        """True if the shell command may run."""
        text = text.strip()
        if self.everything or (text and text == self._whole):
            return True
        rules = self._of("Bash")
        if "" in rules or (text and text in rules):
            return True
        parts = shell_parts(text)
        return bool(parts) and all(self._part(part, rules) for part in parts)

    def edit(self, paths: Iterable[str]) -> bool:
        """True if all files may be written; relative paths are in the worktree."""
        return self.everything or all(map(self._file, paths))

    def read(self, paths: Iterable[str]) -> bool:
        """True if all files may be read, which is always the case in the worktree."""
        return self.everything or all(
            self.is_in_worktree(path) or self._is_permitted("Read", path) or self._file(path)
            for path in paths
        )

    def fetch(self, url: str) -> bool:
        """True if the address may be fetched."""
        rules = self._of("WebFetch")
        return self.everything or "" in rules or f"domain:{host_of(url)}" in rules

    def tool(self, name: str) -> bool:
        """True if the named tool may be used with any arguments."""
        server = "__".join(name.split("__")[:2]) if name.startswith("mcp__") else name
        return self.everything or name in self._rules or server in self._rules

    def is_in_worktree(self, path: str) -> bool:
        """True if the file is in the worktree after following links."""
        return "\0" not in path and self._is_inside(self._real(path))

    def _part(self, part: str, rules: list[str]) -> bool:
        if part in rules:
            return True
        plain = _HARMLESS_REDIRECTION.sub("", part)
        if _SHELL.search(plain):
            return False
        return self._is_harmless(plain) or any(_matches_prefix(plain, rule) for rule in rules)

    def _is_harmless(self, part: str) -> bool:
        """True if the command only enters a folder of the worktree, or only reads there."""
        try:
            words = shlex.split(part)
        except ValueError:
            return False
        if len(words) == 2 and words[0] == "cd":
            return self.is_in_worktree(words[1])
        return words[:1] != [] and words[0] in FILTERS and all(map(self._is_local, words[1:]))

    def _is_local(self, word: str) -> bool:
        """True if a word of a command cannot be a path outside the worktree."""
        if word.startswith("-"):
            return "/" not in word and "=" not in word
        return not word.startswith("~") and self.is_in_worktree(word)

    def _file(self, path: str) -> bool:
        if "\0" in path:
            return False
        real = self._real(path)
        if self._is_inside(real):
            return not _PROTECTED & set(Path(real).relative_to(self._root).parts)
        return any(self._is_permitted(tool, path) for tool in _EDITS)

    def _is_permitted(self, tool: str, path: str) -> bool:
        """True if a rule permits the tool for this file."""
        return "\0" not in path and any(
            rule == "" or _matches_folder(rule, self._real(path)) for rule in self._of(tool)
        )

    def _real(self, path: str) -> str:
        return os.path.realpath(Path(self._root, path))

    def _is_inside(self, real: str) -> bool:
        return Path(real).is_relative_to(self._root)

    def _of(self, tool: str) -> list[str]:
        """Return the parenthesised parts of a tool's rules; an empty part permits every use."""
        matches = map(_RULE.match, self._rules)
        return [match["what"] or "" for match in matches if match and match["tool"] == tool]


def _matches_prefix(part: str, rule: str) -> bool:
    """True if a prefix rule, such as ``git push:*`` or ``git push *``, matches the command."""
    for end in (":*", " *"):
        if rule.endswith(end):
            words = rule.removesuffix(end)
            return bool(words) and (part == words or part.startswith(f"{words} "))
    return False


def _matches_folder(rule: str, real: str) -> bool:
    """True if a folder rule, such as ``//srv/shared/**``, matches the file."""
    if not rule.startswith("//") or not rule.endswith("/**"):
        return False
    return Path(real).is_relative_to(os.path.realpath(rule[1:].removesuffix("**")))


def host_of(url: str) -> str:
    """Return the host of a URL, or ""."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


Json = Mapping[str, object]

_LONGEST_COMMAND = 2000
_FINAL = frozenset({"safetyCheck", "rule"})
"""Reasons for a denial that no allow rule overrides."""
_FINAL_WORDS = "cannot be auto-allowed"
"""Text that marks such a denial in messages from versions that give no reasons."""
_WRITERS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_READERS = frozenset({"Read", "Glob", "Grep", "LS"})
_PATHS = ("file_path", "notebook_path", "path")
_READING_PROGRAMS = frozenset(
    {"cat", "cd", "cut", "diff", "file", "find", "grep", "head", "less", "ls", "more", "rg", "sort",
     "stat", "tail", "tree", "uniq", "wc"}
)  # fmt: skip
_PROGRAMS_FOR_FOLDERS = frozenset({"cd", "find", "ls", "mkdir", "rm", "rmdir", "tree"})
"""Programs whose argument may be a folder."""
_HARMLESS = frozenset(
    {"cd", "echo", "ls", "cat", "pwd", "true", "false", "head", "tail", "wc", "which", "test", "["}
)
"""Programs that need no rule of their own inside the project."""
_BLOCKED_PATH = re.compile(
    r"\A(?P<what>[^'\n]{1,200}) (?:in|to|from) '(?P<path>/[^'\n]*)' (?:was blocked|needs approval)"
)
_NAMED_PARTS = "parts require approval:"
_EXPANDED = re.compile(r"\$[\w({@*#?!$-]|`|[<>]\(")
_KEYWORDS = re.compile(r"(?:(?:do|then|else|elif|if|while|until|!|\{|\()\s+)+")
_EMPTY_PARTS = re.compile(r"(?:for|case|select)\s|(?:done|fi|esac)\b|[})]")
_UNUSABLE = re.compile(r"[*?\[\](){}\\\n,]")
"""Characters in a path that mean something else in a rule."""


def rules_for_denied(
    tool: str, arguments: Json, message: str = "", reason: str = "", roots: Sequence[str] = ()
) -> list[str]:
    """Return the lines that together permit a tool call, or an empty list if none can.

    `message` and `reason` are the agent's; `roots` are the project's folders.
    """
    if reason in _FINAL or _FINAL_WORDS in message:
        return []
    if tool in _WRITERS or tool in _READERS:
        path = next((text for name in _PATHS if (text := as_text(arguments.get(name)))), "")
        return _for_file(tool, path, roots)
    if tool == "Bash":
        return _for_command(as_text(arguments.get("command"))[:_LONGEST_COMMAND], message, roots)
    if tool == "WebFetch":
        host = _host(as_text(arguments.get("url")))
        return [f"WebFetch(domain:{host})" if host else "WebFetch"]
    return [tool]


def _for_file(tool: str, path: str, roots: Sequence[str]) -> list[str]:
    kind = "Read" if tool in _READERS else "Edit"
    if not path.startswith("/"):
        return [kind] if not path else []
    if _inside(path, roots):
        # Edits and reads in the project are permitted: this path is a protected one.
        return []
    folder = path if tool in ("Glob", "Grep", "LS") else posixpath.dirname(path)
    return [_rule_for_folder(kind, folder)]


def _for_command(command: str, message: str, roots: Sequence[str]) -> list[str]:
    parts = [part for raw in shell_parts(command) if (part := _without_keywords(raw))]
    blocked = _BLOCKED_PATH.match(message)
    if blocked and not _inside(blocked["path"], roots):
        program, path = blocked["what"].split()[0], blocked["path"]
        kind = "Read" if program in _READING_PROGRAMS else "Edit"
        folder = path if program in _PROGRAMS_FOR_FOLDERS else posixpath.dirname(path)
        return [_rule_for_folder(kind, folder)]
    _, named, words = message.partition(_NAMED_PARTS)
    if named:
        text = " ".join(words.split())
        blamed = [part for part in parts if " ".join(part.split()) in text]
    else:
        if _EXPANDED.search(command) and "\n" not in command:
            # Expansions are not analysed: only the exact command is permitted.
            return [f"Bash({command.strip()})"]
        if len(parts) > 1 and message.startswith("This command changes directory"):
            return ["Bash"]
        first = message.split(" ", 1)[0]
        blamed = [part for part in parts if first and part.split()[0] == first][:1]
    blamed = blamed or [part for part in parts if part.split()[0] not in _HARMLESS] or parts[:1]
    rules = [f"Bash({prefix(part)}:*)" for part in blamed if prefix(part)]
    return list(dict.fromkeys(rules)) or ["Bash"]


def _without_keywords(part: str) -> str:
    """Return the command in a part of a loop or condition, or ""."""
    part = _KEYWORDS.sub("", part, count=1) if _KEYWORDS.match(part) else part
    return "" if _EMPTY_PARTS.match(part) else part.strip()


def _rule_for_folder(kind: str, folder: str) -> str:
    folder = posixpath.normpath(folder).lstrip("/")
    if _UNUSABLE.search(folder):
        return kind
    return f"{kind}(//{folder}/**)" if folder else f"{kind}(//**)"


def _inside(path: str, roots: Sequence[str]) -> bool:
    path = posixpath.normpath(path)
    return any(root and (path + "/").startswith(root.rstrip("/") + "/") for root in roots)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
