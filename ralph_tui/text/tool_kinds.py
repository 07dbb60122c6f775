"""Maps an agent's own tool names to kinds of action."""

import re
from typing import Literal

ActionKind = Literal["read", "write", "edit", "bash", "grep", "glob", "task"]

_TOOLS: dict[ActionKind, tuple[str, ...]] = {
    "read": ("read", "notebookread", "webfetch", "websearch", "view"),
    "write": ("write", "create"),
    "edit": ("edit", "multiedit", "notebookedit", "applypatch", "strreplace"),
    "bash": ("bash", "bashoutput", "killshell", "killbash", "shell", "exec", "commandexecution"),
    "grep": ("grep", "search"),
    "glob": ("glob", "ls", "listdir"),
}

_RUNNERS = re.compile(
    r"\b(pytest|unittest|tox|nox|rspec|phpunit|ctest|bats|prove|jest|vitest|mocha|playwright"
    r"|(npm|pnpm|yarn|bun|go|cargo|deno|dotnet|mix|swift|mvn|gradlew?|make|just|rake)\b.*"
    r"\b(test|tests|check|nextest|t))\b"
)
_FAILING = re.compile(r"\d+ fail(ed|ing|ures?)\b")


def shows_failing_tests(tool: str, command: str, result: str) -> bool:
    """True if a command failed only because tests fail, which it was run to find out."""
    if action_type(tool) != "bash":
        return False
    return bool(_FAILING.search(result) or (result == "exit 1" and _RUNNERS.search(command)))


def action_type(tool: str) -> ActionKind:
    """Return one of the schema's seven kinds; ``task`` if no other fits."""
    name = re.sub(r"[^a-z]", "", tool.lower())
    return next((kind for kind, tools in _TOOLS.items() if name in tools), "task")
