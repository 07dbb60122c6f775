"""Codex's permission requests, as approvals with Codex's own answers. Pure."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from ralph_tui.adapters.agents.codex.items import (
    ToolItems,
    changes_of,
    command_of,
    format_changes,
    format_json,
    paths_of,
)
from ralph_tui.adapters.agents.codex.reader import CodexReader
from ralph_tui.adapters.agents.requests import parse_choice
from ralph_tui.adapters.agents.rpc.approvals import Approval
from ralph_tui.adapters.agents.rpc.messages import Id, Request
from ralph_tui.ports.agents import AgentAnswer
from ralph_tui.text.json_fields import as_list, as_map, as_text

Json = Mapping[str, object]


@dataclass
class _Use(Approval):
    """A command, a URL or file changes."""

    yes: Json | None = field(default_factory=lambda: {"decision": "accept"})
    no: Json = field(default_factory=lambda: {"decision": "decline"})
    cancelled: Json = field(default_factory=lambda: {"decision": "cancel"})


@dataclass
class _Questions(Approval):
    """Questions that the model itself asks."""

    names: list[str] = field(default_factory=list)
    """Codex's ids of the questions."""

    def answer(self, given: AgentAnswer) -> Json:
        chosen = () if given.decision == "refuse" else given.choices
        answers = zip(self.names, chosen, strict=False)
        return {"answers": {name: {"answers": list(words)} for name, words in answers}}


def approval_of(request: Request, reader: CodexReader) -> Approval | None:
    """Build the approval for a request; None for an unknown kind, or if no answer is possible."""
    params = request.params
    made = _MAKERS.get(request.method)
    found = None if made is None else made(request.id, params, reader.tools)
    if found is not None:
        found.tool_id = as_text(params.get("itemId"))
        found.parent = reader.parent_of(params)
        found.why = found.why or as_text(params.get("reason"))
    return found


def _command(number: Id, params: Json, tools: ToolItems) -> Approval | None:
    network = as_map(params.get("networkApprovalContext"))
    if host := as_text(network.get("host")):
        url, command = f"https://{host}", command_of(params)
        why = f"needed by: {command}" if command else ""
        return _Use(number, "WebFetch", "fetch", shown=url, why=why, url=url)
    command = command_of(params) or command_of(tools.item(as_text(params.get("itemId"))))
    if not command:
        return None
    if as_text(params.get("kind")) not in ("", "command"):
        # Input for a running program: the rules for its command do not cover it.
        return _Use(number, "Bash", shown=command)
    if (folder := as_text(params.get("cwd"))) not in ("", *tools.roots):
        # The working directory is part of a command's effect.
        command = f"cd {shlex.quote(folder)} && {command}"
    return _Use(number, "Bash", "execute", shown=command, command=command)


def _changes(number: Id, params: Json, tools: ToolItems) -> Approval:
    changes = changes_of(tools.item(as_text(params.get("itemId"))))
    paths, folder = paths_of(changes), as_text(params.get("grantRoot"))
    shown = format_changes(changes, tools.roots)
    if folder:
        # Permission for a whole folder is never granted along with permission for one change.
        shown, paths = f"{shown}\nand everything below {folder}", [folder]
    once = bool(folder)
    return _Use(number, "Edit", "edit", shown=shown, paths=paths, once=once)


def _further(number: Id, params: Json, tools: ToolItems) -> Approval:
    """Build the approval for additional sandbox permissions that last for the turn."""
    wanted = as_map(params.get("permissions"))
    nothing: Json = {"permissions": {}}
    return Approval(
        number,
        "additional permissions",
        shown=format_json(wanted),
        yes={"permissions": wanted, "scope": "turn"},
        no=nothing,
        cancelled=nothing,
    )


def _elicitation(number: Id, params: Json, tools: ToolItems) -> Approval | None:
    """Build the approval for an MCP server's question; None if it needs more than a yes or no."""
    form = as_map(as_map(params.get("requestedSchema")).get("properties"))
    if form or as_text(params.get("url")):
        return None
    return Approval(
        number,
        f"mcp__{as_text(params.get('serverName'))}",
        shown=as_text(params.get("message")),
        yes={"action": "accept", "content": {}},
        no={"action": "decline"},
        cancelled={"action": "cancel"},
    )


def _questions(number: Id, params: Json, tools: ToolItems) -> Approval | None:
    questions = [as_map(item) for item in as_list(params.get("questions"))]
    if not questions:
        return None
    nothing: Json = {"answers": {}}
    names = [as_text(item.get("id")) for item in questions]
    choices = list(map(parse_choice, questions))
    return _Questions(number, "ask", choices=choices, names=names, no=nothing, cancelled=nothing)


_MAKERS = {
    "item/commandExecution/requestApproval": _command,
    "item/fileChange/requestApproval": _changes,
    "item/permissions/requestApproval": _further,
    "mcpServer/elicitation/request": _elicitation,
    "item/tool/requestUserInput": _questions,
}
