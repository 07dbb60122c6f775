"""OpenCode's own permission rules for a session, given to it in its environment. Pure.

By itself it asks for next to nothing, and a refused question ends its turn. So what we would refuse
anyway its rules deny, of which its model hears and goes on; what we might permit it asks us for.
Nothing is written into a project or its settings.
"""

import json
import re
from collections.abc import Mapping

from ralph_tui.adapters.agents.json_fields import as_map
from ralph_tui.adapters.agents.permission_rules import rules_for_command
from ralph_tui.adapters.agents.permits import FILTERS
from ralph_tui.ports import Permissions
from ralph_tui.text.foreign_json import parse_json

VARIABLE = "OPENCODE_CONFIG_CONTENT"
"""The environment variable that is read as one more configuration file."""
_HARMLESS = (
    "edit", "glob", "grep", "list", "lsp", "skill", "task", "todoread", "todowrite",
)  # fmt: skip
_ENV_FILES = {"*": "allow", "*.env": "ask", "*.env.*": "ask", "*.env.example": "allow"}
_BASH = re.compile(r"\ABash(?:\((?P<what>.*)\))?\Z", re.DOTALL)
_REACHES_OUT = ("Edit", "Write", "Read")

Rules = dict[str, object]


def with_rules(
    environ: Mapping[str, str], permissions: Permissions, command: str
) -> dict[str, str]:
    """The environment with the rules of a session; `command` is the completion command.

    With ``skip`` its rules stay as its user has set them, and each question is answered with yes.
    """
    if permissions.mode == "skip":
        return dict(environ)
    try:
        content = dict(as_map(parse_json(environ.get(VARIABLE, ""))))
    except ValueError:
        content = {}
    content["permission"] = rules(permissions, command)
    return {**environ, VARIABLE: json.dumps(content)}


def rules(permissions: Permissions, command: str) -> Rules:
    """The section ``permission``: the last rule that fits decides."""
    lines = [*rules_for_command(command), *map(str.strip, permissions.allow)]
    asks = permissions.mode == "ask"
    reaches = asks or any(line.startswith(_REACHES_OUT) for line in lines)
    return {
        "*": "ask",
        **dict.fromkeys(_HARMLESS, "allow"),
        "read": _ENV_FILES,
        "question": "deny",
        "bash": "ask" if asks else {"*": "deny", **dict.fromkeys(_commands(lines), "ask")},
        "external_directory": "ask" if reaches else "deny",
    }


def _commands(lines: list[str]) -> list[str]:
    """What our own rules may permit, as its patterns."""
    patterns = [pattern for name in sorted(FILTERS) for pattern in (name, f"{name} *")]
    for line in lines:
        match = _BASH.match(line)
        if match is None:
            continue
        what = match["what"]
        if what is None:
            return ["*"]
        begin = re.sub(r"(?::| )\*\Z", "", what)
        patterns += [begin] if begin == what else [begin, f"{begin} *"]
    return list(dict.fromkeys(patterns))
