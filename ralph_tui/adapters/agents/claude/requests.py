"""Claude Code's permission requests in its stream, and our answers in its format.

Rule: a permission for the session is one that the program suggested, and lasts for that session
only. Nothing is written to the project or its settings. A suggestion is offered only if all of it
is understood. Pure, except for the open requests.
"""

import json
from collections.abc import Mapping

from ralph_tui.adapters.agents.requests import MAX_INPUT, asked, parse_choice
from ralph_tui.events import AgentAsked, AgentAskedNoMore, Event
from ralph_tui.events.asking import AgentChoice
from ralph_tui.ports.agents import AgentAnswer
from ralph_tui.text.json_fields import as_list, as_map, as_text
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]

MAX_OPEN = 20
"""Maximum number of open requests per session; any more are refused."""
NO_APPROVER = "No one can approve it now. Continue without it."
WITHDRAWN = "the agent withdrew it"
NO_PLANS = ("EnterPlanMode", "ExitPlanMode")
"""Tools that wait for the approval of a plan, which no run needs; asking would enable them."""
_CHOICE = "AskUserQuestion"
_WHOLE = {"Bash": "command", "WebFetch": "url", "WebSearch": "query", "Read": "file_path"}
"""Tools whose calls are fully described by one field, with the name of that field."""
_PATHS = ("file_path", "notebook_path")


class Requests:
    """The open requests of a session, by id."""

    def __init__(self, iteration: int) -> None:
        self._iteration = iteration
        self._open: dict[str, Json] = {}

    def __len__(self) -> int:
        return len(self._open)

    def feed(self, fields: Json) -> list[Event]:
        """Handle a ``control_request`` (possibly a question) or a ``control_cancel_request``."""
        request, request_id = as_map(fields.get("request")), _id(fields)
        if as_text(fields.get("type")) == "control_cancel_request":
            if self._open.pop(request_id, None) is None:
                return []
            k = self._iteration
            return [AgentAskedNoMore(iteration=k, request_id=request_id, reason=WITHDRAWN)]
        known = not request_id or request_id in self._open
        if known or as_text(request.get("subtype")) != "can_use_tool":
            return []
        self._open[request_id] = fields
        return [request_event(self._iteration, request_id, request)]

    def answer(self, request_id: str, answer: AgentAnswer) -> tuple[Json, dict[str, object]] | None:
        """Return a request and the line that answers it, or None if it is not open."""
        fields = self._open.pop(request_id, None)
        if fields is None:
            return None
        request = as_map(fields.get("request"))
        response = {
            "subtype": "success",
            "request_id": fields.get("request_id"),
            "response": decision(request, answer),
        }
        return request, {"type": "control_response", "response": response}


def request_event(iteration: int, request_id: str, request: Json) -> AgentAsked:
    """Build the event for a request."""
    tool, arguments = as_text(request.get("tool_name")), as_map(request.get("input"))
    return asked(
        iteration,
        request_id,
        tool or "a tool",
        input=describe_effect(tool, arguments),
        why=_why(request, arguments),
        rule=rule_words(allowances(request)),
        choices=_choices(arguments) if tool == _CHOICE else (),
        parent=shorten(as_text(request.get("agent_id"))) or None,
    )


def describe_effect(tool: str, arguments: Json) -> str:
    """Return a command or URL, an edit's file and diff, or otherwise the whole input."""
    if tool in _WHOLE and (whole := as_text(arguments.get(_WHOLE[tool]))):
        return whole
    path = next((text for name in _PATHS if (text := as_text(arguments.get(name)))), "")
    edits = [as_map(edit) for edit in as_list(arguments.get("edits"))] or [arguments]
    if path and any("new_string" in edit or "content" in edit for edit in edits):
        return "\n".join([path, *(line for edit in edits for line in _diff(edit))])
    return json.dumps(arguments, ensure_ascii=False, indent=1, default=str) if arguments else ""


def _diff(edit: Json) -> list[str]:
    before = as_text(edit.get("old_string"))[: MAX_INPUT * 2]
    after = as_text(edit.get("new_string")) or as_text(edit.get("content"))
    removed = [f"-{line}" for line in before.splitlines()]
    return [*removed, *(f"+{line}" for line in after[: MAX_INPUT * 2].splitlines())]


def _why(request: Json, arguments: Json) -> str:
    """Explain a request: its purpose in the agent's words, and why it needs permission."""
    path = as_text(request.get("blocked_path"))
    said = (
        as_text(arguments.get("description")),
        as_text(request.get("decision_reason")),
        f"outside the project: {path}" if path else "",
    )
    return "\n".join(dict.fromkeys(part.strip() for part in said if part.strip()))


def allowances(request: Json) -> list[dict[str, object]]:
    """Return the suggested rules, limited to this session; empty unless all are understood."""
    found: list[dict[str, object]] = []
    for suggestion in map(as_map, as_list(request.get("permission_suggestions"))):
        kind = as_text(suggestion.get("type"))
        rules = [as_map(rule) for rule in as_list(suggestion.get("rules"))]
        folders = [as_text(folder) for folder in as_list(suggestion.get("directories"))]
        if kind == "setMode" and suggestion.get("mode") == "acceptEdits":
            continue  # the session is already in that mode
        allows = suggestion.get("behavior") == "allow" and all(map(_rule, rules))
        if kind == "addRules" and allows:
            about: dict[str, object] = {"rules": rules, "behavior": "allow"}
        elif kind == "addDirectories" and all(folders):
            about = {"directories": folders}
        else:
            return []
        found.append({"type": kind, **about, "destination": "session"})
    return found


def rule_words(allowed: list[dict[str, object]]) -> str:
    """List rules in words, as in ``Bash(curl *), Bash(git push *), files in /srv/data``."""
    said: list[str] = []
    for one in allowed:
        said += [_rule(as_map(rule)) for rule in as_list(one.get("rules"))]
        said += [f"files in {folder}" for folder in as_list(one.get("directories"))]
    return ", ".join(said)


def _rule(rule: Json) -> str:
    tool, content = as_text(rule.get("toolName")), as_text(rule.get("ruleContent"))
    return f"{tool}({content})" if tool and content else tool


def _choices(arguments: Json) -> list[AgentChoice]:
    return list(map(parse_choice, _questions(arguments)))


def _questions(arguments: Json) -> list[Json]:
    questions = map(as_map, as_list(arguments.get("questions")))
    return [one for one in questions if as_text(one.get("question")).strip()]


def decision(request: Json, answer: AgentAnswer) -> dict[str, object]:
    """Return the answer in the program's format."""
    if answer.decision == "refuse":
        return {"behavior": "deny", "message": answer.words or "Refused. Continue without it."}
    arguments = as_map(request.get("input"))
    allowed: dict[str, object] = {"behavior": "allow", "updatedInput": dict(arguments)}
    if answer.choices:
        questions = [as_text(one.get("question")) for one in _questions(arguments)]
        chosen = {
            question: ", ".join(labels)
            for question, labels in zip(questions, answer.choices, strict=False)
        }
        allowed["updatedInput"] = {**arguments, "answers": chosen}
    elif answer.decision == "session" and (rules := allowances(request)):
        allowed["updatedPermissions"] = rules
    return allowed


def _id(fields: Json) -> str:
    return shorten(as_text(fields.get("request_id")))
