"""Which lines of ``permissions.allow`` would permit a use of a tool that Claude Code denied. Pure.

Rule: every line that is needed is named, and none that would not help. A path outside the project
is permitted by a rule for its folder, whatever tool reaches for it; what the agent protects in any
case, and what a rule of the user's own denies, is permitted by no line at all.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from ralph_tui.adapters.agents.json_fields import as_text
from ralph_tui.adapters.agents.permission_rules import prefix, shell_parts

Json = Mapping[str, object]

_LONGEST_COMMAND = 2000
_FINAL = frozenset({"safetyCheck", "rule"})
"""Reasons that come before any rule that allows."""
_FINAL_WORDS = "cannot be auto-allowed"
"""...as versions say it that name no reason."""
_WRITERS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_READERS = frozenset({"Read", "Glob", "Grep", "LS"})
_PATHS = ("file_path", "notebook_path", "path")
_READING_PROGRAMS = frozenset(
    {"cat", "cd", "cut", "diff", "file", "find", "grep", "head", "less", "ls", "more", "rg", "sort",
     "stat", "tail", "tree", "uniq", "wc"}
)  # fmt: skip
_PROGRAMS_FOR_FOLDERS = frozenset({"cd", "find", "ls", "mkdir", "rm", "rmdir", "tree"})
"""What they name is a folder, or may be one."""
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
"""Characters of a path that mean something else in a rule."""


def rules_for_denied(
    tool: str, arguments: Json, message: str = "", reason: str = "", roots: Sequence[str] = ()
) -> list[str]:
    """The lines that together permit this use of a tool; empty where none does.

    `message` and `reason` are the agent's own words and its class for them; `roots` the project.
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
        # Edits and reads in the project are permitted: only what is protected is left.
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
        told = " ".join(words.split())
        blamed = [part for part in parts if " ".join(part.split()) in told]
    else:
        if _EXPANDED.search(command) and "\n" not in command:
            # What is expanded is not looked into: only the command as it stands is permitted.
            return [f"Bash({command.strip()})"]
        if len(parts) > 1 and message.startswith("This command changes directory"):
            return ["Bash"]
        first = message.split(" ", 1)[0]
        blamed = [part for part in parts if first and part.split()[0] == first][:1]
    blamed = blamed or [part for part in parts if part.split()[0] not in _HARMLESS] or parts[:1]
    rules = [f"Bash({prefix(part)}:*)" for part in blamed if prefix(part)]
    return list(dict.fromkeys(rules)) or ["Bash"]


def _without_keywords(part: str) -> str:
    """The command in a part of a loop or a condition; empty where there is none."""
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
