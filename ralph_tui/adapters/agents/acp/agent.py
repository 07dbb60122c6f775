"""Agents that speak the Agent Client Protocol, and how their sessions start.

OpenCode gets extra permission rules in its environment. By default it asks for almost nothing, and
a refused question ends its turn. The extra rules deny what ralph-tui would refuse anyway, so that
the model can continue; for everything else, OpenCode asks. Nothing is written to the project or to
its settings.
"""

import json
import re
import shlex
from collections.abc import Mapping

from ralph_tui.adapters.agents.acp import ANY_ACP
from ralph_tui.adapters.agents.acp.opening import Ledger, Plan
from ralph_tui.adapters.agents.acp.quirks import Quirks, of_command
from ralph_tui.adapters.agents.acp.session import AcpSession
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.installed import VERSION_UNKNOWN, probe_output, program_path
from ralph_tui.adapters.agents.permissions import FILTERS, rules_for_command
from ralph_tui.adapters.agents.process_session import start_child
from ralph_tui.ports.agents import Permissions, Turn
from ralph_tui.ports.host import Emit
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.json_fields import as_map

_VERSION = re.compile(r"\b\d{1,6}\.\d{1,6}\.\d{1,9}[\w.+-]{0,30}")
VARIABLE = "OPENCODE_CONFIG_CONTENT"
"""The environment variable that OpenCode reads as one more configuration file."""
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
    """Return the environment with a session's rules; `command` is the completion command.

    With ``skip``, the user's own rules stay and every question is answered with yes.
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
    """Return OpenCode's ``permission`` section, in which the last matching rule decides."""
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
    """Return OpenCode's patterns for commands that the session's rules may permit."""
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


class AcpAgent:
    """An ACP program; each session starts a new process."""

    def __init__(
        self, name: str, command_line: list[str], quirks: Quirks, context: AgentContext
    ) -> None:
        self.name = name
        self.resumes = quirks.resumes
        self.ledger = Ledger()
        self._command_line = command_line
        self._quirks = quirks
        self._context = context

    def start(self, turn: Turn, emit: Emit) -> AcpSession:
        context = self._context
        if self._quirks.takes_rules:
            environ = with_rules(context.environ, turn.permissions, turn.command)
            context = context._replace(environ=environ)
        child = start_child(self._command_line, context, turn)
        plan = Plan(
            self._quirks,
            str(context.root),
            context.settings.model,
            context.settings.silence_s,
            self.ledger,
        )
        session = AcpSession(child, turn, emit, context.timeout_s, plan=plan)
        session.begin(self.name)
        return session


def known_agent(context: AgentContext, name: str, quirks: Quirks) -> AcpAgent:
    """Return an agent whose quirks are known; raise ``UsageError`` if its program is missing."""
    model = context.settings.model
    flags = ["-m", model] if model and quirks.model_by_flag else []
    program = [program_path(context, quirks.commands[0]), *quirks.arguments, *flags]
    return AcpAgent(name, program, quirks, context)


def any_agent(context: AgentContext) -> AcpAgent:
    """Return the agent that runs ``agent.command``, with its program's quirks if they are known."""
    command = context.settings.command or ""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    return AcpAgent(ANY_ACP.name, ["/bin/sh", "-c", command], of_command(words), context)


def describe(context: AgentContext, quirks: Quirks) -> str:
    """Describe the program, as in ``0.61.0, /usr/bin/gemini``; ``UsageError`` if it is missing."""
    path = program_path(context, quirks.commands[0])
    version = _VERSION.search(probe_output([path, "--version"], context))
    return f"{version[0] if version else VERSION_UNKNOWN}, {path}"
