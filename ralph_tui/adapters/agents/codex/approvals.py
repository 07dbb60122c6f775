"""What Codex asks leave for, whether the session's rules give it, and how it is answered. Pure.

Leave is given once, or for this session by a rule that we keep: Codex's own rules would be written
into its folder, and would hold for good.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from ralph_tui.adapters.agents.asked import asked, choice
from ralph_tui.adapters.agents.codex.items import (
    ToolItems,
    as_shown,
    changes_of,
    command_of,
    paths_of,
    shown_changes,
)
from ralph_tui.adapters.agents.codex.reader import CodexReader
from ralph_tui.adapters.agents.json_fields import as_list, as_map, as_text
from ralph_tui.adapters.agents.permissions import Permits, rules_for_denied
from ralph_tui.adapters.agents.rpc.messages import Id, Request
from ralph_tui.events import AgentAsked, ToolDenied
from ralph_tui.events.asking import AgentChoice
from ralph_tui.ports import AgentAnswer
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]


@dataclass
class Approval:
    """Something that is asked and not answered."""

    id: Id
    tool: str
    tool_id: str = ""
    shown: str = ""
    why: str = ""
    rule: str = ""
    """What an answer for the session allows: the same again; empty: that cannot be said."""
    command: str = ""
    url: str = ""
    paths: list[str] = field(default_factory=list)
    yes: Json = field(default_factory=lambda: {"decision": "accept"})
    no: Json = field(default_factory=lambda: {"decision": "decline"})
    cancelled: Json = field(default_factory=lambda: {"decision": "cancel"})
    choices: list[AgentChoice] = field(default_factory=list)
    """Questions of the model's own, instead of a permission."""
    names: list[str] = field(default_factory=list)
    """What Codex calls each of them."""
    parent: str | None = None
    """The thread of the subagent that asks."""

    @property
    def subject(self) -> str:
        """What it is about, in a line."""
        return shorten((self.shown or self.why or self.tool).strip().split("\n", 1)[0])

    def permitted(self, permits: Permits) -> bool:
        """Whether the rules of the session permit it."""
        if self.choices:
            return False
        if permits.everything:
            return True
        if self.command:
            return permits.command(self.command)
        if self.url:
            return permits.fetch(self.url)
        return bool(self.paths) and permits.edit(self.paths)

    def answer(self, given: AgentAnswer) -> Json:
        """The owner's answer in Codex's words."""
        if self.choices:
            chosen = () if given.decision == "refuse" else given.choices
            answers = zip(self.names, chosen, strict=False)
            return {"answers": {name: {"answers": list(words)} for name, words in answers}}
        return self.no if given.decision == "refuse" else self.yes

    def event(self, iteration: int, request_id: str) -> AgentAsked:
        """That the owner is asked."""
        return asked(
            iteration,
            request_id,
            self.tool,
            input=self.shown,
            why=self.why,
            rule=self.rule,
            choices=self.choices,
            parent=self.parent,
        )

    def denied(self, iteration: int, root: str) -> ToolDenied:
        """That the rules do not permit it, and which lines would."""
        lines = self._lines(root)
        return ToolDenied(
            iteration=iteration,
            tool=shorten(self.tool, 80),
            tool_id=shorten(self.tool_id) or None,
            message=shorten(f"Not permitted: {self.subject}"),
            permit=shorten(lines[0]) if lines else "",
            also=[shorten(line) for line in lines[1:]],
            final=not lines,
        )

    def _lines(self, root: str) -> list[str]:
        if self.command:
            return rules_for_denied("Bash", {"command": self.command}, roots=[root])
        if self.url:
            return rules_for_denied("WebFetch", {"url": self.url})
        lines = [rules_for_denied("Edit", {"file_path": path}, roots=[root]) for path in self.paths]
        return list(dict.fromkeys(line for found in lines for line in found))


def approval_of(request: Request, reader: CodexReader) -> Approval | None:
    """What a request asks; None for one of another kind, or one that cannot be answered."""
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
        url = f"https://{host}"
        command = command_of(params)
        why = f"needed by: {command}" if command else ""
        return Approval(number, "WebFetch", shown=url, why=why, url=url, rule=_fetch(host))
    command = command_of(params) or command_of(tools.item(as_text(params.get("itemId"))))
    if not command:
        return None
    if as_text(params.get("kind")) not in ("", "command"):
        # Words for a program that runs: what it is permitted to be says nothing about them.
        return Approval(number, "Bash", shown=command)
    if (folder := as_text(params.get("cwd"))) not in ("", *tools.roots):
        # Where it runs is a part of what it does.
        command = f"cd {shlex.quote(folder)} && {command}"
    return Approval(number, "Bash", shown=command, command=command, rule=f"Bash({command})")


def _fetch(host: str) -> str:
    return f"WebFetch(domain:{host})"


def _changes(number: Id, params: Json, tools: ToolItems) -> Approval:
    changes = changes_of(tools.item(as_text(params.get("itemId"))))
    paths, folder = paths_of(changes), as_text(params.get("grantRoot"))
    shown = shown_changes(changes, tools.roots)
    if folder:
        # Leave to write all of a folder from now on is never given beside that for one change.
        return Approval(number, "Edit", shown=f"{shown}\nand all below {folder}", paths=[folder])
    rule = f"Edit({', '.join(paths)})" if paths else ""
    return Approval(number, "Edit", shown=shown, paths=paths, rule=rule)


def _further(number: Id, params: Json, tools: ToolItems) -> Approval:
    """More room in the sandbox, for the turn."""
    wanted = as_map(params.get("permissions"))
    return Approval(
        number,
        "further permissions",
        shown=as_shown(wanted),
        yes={"permissions": wanted, "scope": "turn"},
        no={"permissions": {}},
        cancelled={"permissions": {}},
    )


def _elicited(number: Id, params: Json, tools: ToolItems) -> Approval | None:
    """A question of an MCP server; one that wants more than yes or no gets no answer from us."""
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
    choices = [
        choice(
            as_text(item.get("question")),
            as_text(item.get("header")),
            [
                (as_text(option.get("label")), as_text(option.get("description")))
                for option in map(as_map, as_list(item.get("options")))
            ],
        )
        for item in questions
    ]
    if not choices:
        return None
    names = [as_text(item.get("id")) for item in questions]
    nothing: Json = {"answers": {}}
    return Approval(
        number,
        "ask",
        choices=choices,
        names=names,
        no=nothing,
        cancelled=nothing,
    )


_MAKERS = {
    "item/commandExecution/requestApproval": _command,
    "item/fileChange/requestApproval": _changes,
    "item/permissions/requestApproval": _further,
    "mcpServer/elicitation/request": _elicited,
    "item/tool/requestUserInput": _questions,
}
