"""Which kind of action a tool is, whatever the agent calls it."""

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


def action_type(tool: str) -> ActionKind:
    """One of the schema's seven kinds; ``task`` where no other fits."""
    name = re.sub(r"[^a-z]", "", tool.lower())
    return next((kind for kind, tools in _TOOLS.items() if name in tools), "task")
