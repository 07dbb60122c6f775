"""Permissions in Claude Code's notation: what the completion command needs. Pure.

A shell command is permitted part by part, so each part of ``a && b`` has a rule of its own.
"""

import re
from collections.abc import Mapping

_SUBCOMMANDS: Mapping[str, int] = {
    **dict.fromkeys(
        ("git", "npm", "pnpm", "yarn", "bun", "cargo", "go", "docker", "podman", "kubectl", "pip",
         "pip3", "uv", "uvx", "npx", "make", "just", "gh", "brew", "apt", "apt-get", "dotnet",
         "mvn", "gradle", "poetry", "pipx", "python", "python3", "node", "deno", "ruby", "bash",
         "sh", "sudo", "env", "bundle", "composer", "terraform", "systemctl"),
        1,
    ),
}  # fmt: skip
"""How many further words say what these programs do."""
_TAKE_ONE_MORE = frozenset({"run", "exec", "compose", "-m", "tool"})
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=[^\s'\"$`()]*\Z")
_PLAIN_WORD = re.compile(r"[\w@%+./:=~^,-]+\Z")
_WORDS = re.compile(r"\S+")


def rules_for_command(command: str) -> list[str]:
    """The rules that let an agent run the completion command, whole and with more arguments."""
    parts = [part for part in shell_parts(command) if "\n" not in part]
    whole = [command.strip()] if command.strip() and "\n" not in command.strip() else []
    exact = [f"Bash({part})" for part in whole]
    return list(dict.fromkeys((*exact, *(f"Bash({part}:*)" for part in (*whole, *parts)))))


def shell_parts(command: str) -> list[str]:
    """The commands between ``&&``, ``||``, ``;``, ``|``, ``&`` and newlines outside of quotes."""
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
    """The beginning of a command that says what it does: ``npm run build``, ``touch``."""
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
