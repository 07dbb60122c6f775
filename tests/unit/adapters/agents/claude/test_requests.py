"""Claude Code's recorded questions: what the user sees and which answer it gets."""

import json
from pathlib import Path
from typing import Any

from ralph_tui.adapters.agents.claude.program import permission_flags
from ralph_tui.adapters.agents.claude.requests import (
    Requests,
    decision,
    describe_effect,
    request_event,
)
from ralph_tui.adapters.agents.claude.stream_reader import StreamReader
from ralph_tui.adapters.agents.claude.tool_calls import ToolCalls
from ralph_tui.adapters.agents.claude.usage import Ledger
from ralph_tui.events import AgentAsked, AgentAskedNoMore, ToolDenied, ToolFinished
from ralph_tui.ports.agents import AgentAnswer, Permissions
from tests.paths import FIXTURES
from tests.rows import each_row

Json = dict[str, Any]
LINES = [
    json.loads(line)
    for line in (FIXTURES / "agents" / "claude-asks.jsonl").read_text("utf-8").splitlines()
]
REFUSED = AgentAnswer("refuse", "No network.")


def requests_of(recording: str) -> list[Json]:
    return [line["msg"] for line in LINES if line["from"] == recording]


def asked(message: Json) -> AgentAsked:
    return request_event(1, message["request_id"], message["request"])


def response(message: Json, answer: AgentAnswer) -> dict[str, Any]:
    return decision(message["request"], answer)


def test_what_is_asked_and_exactly_what_a_session_would_allow() -> None:
    shown = [
        (one.tool, one.input, one.rule) for one in map(asked, requests_of("claude-permissions"))
    ]
    outside = "/home/user/home/user/outside.txt"
    assert shown == [
        ("Edit", "/home/user/project/calc.py\n-a - b\n+a + b", ""),
        ("Bash", "npm test", "Bash(npm test *)"),
        ("Bash", "git push origin main", "Bash(git push *)"),
        ("Bash", f"touch {outside}", f"Bash(touch {outside}), files in /home/user/work"),
        (
            "Bash",
            "curl -s http://127.0.0.1:1 && git tag x",
            "Bash(curl -s http://127.0.0.1:1), Bash(git tag *)",
        ),
        ("WebFetch", "https://example.org/x", "WebFetch(domain:example.org)"),
    ]


def test_why_it_is_asked() -> None:
    edit, test, _, outside, *_ = map(asked, requests_of("claude-permissions"))
    assert edit.why == ""
    assert test.why == "run\nThis command requires approval"
    assert outside.why == "run\noutside the project: /home/user/home/user/outside.txt"


def test_a_subagent_is_named() -> None:
    (one,) = map(asked, requests_of("claude-permission-subagent"))
    assert one.parent == "a3c988f08ca44e8c3"


@each_row("version", ["1.0.128", "2.0.20", "2.1.197"])
def test_older_versions_say_less(version: str) -> None:
    first = asked(requests_of(f"claude-{version}-permission")[0])
    rule = "Bash(npm test *)" if version == "2.1.197" else "Bash(npm test)"
    assert (first.tool, first.input, first.rule) == ("Bash", "npm test", rule)


def test_once_is_what_was_asked_and_nothing_more() -> None:
    message = requests_of("claude-permissions")[2]
    answer = response(message, AgentAnswer("once"))
    assert answer == {"behavior": "allow", "updatedInput": message["request"]["input"]}


def test_a_session_is_a_session_and_nothing_is_written_into_the_project() -> None:
    for message in requests_of("claude-permissions"):
        answer = response(message, AgentAnswer("session"))
        given = answer.get("updatedPermissions", [])
        assert {one["destination"] for one in given} <= {"session"}
        assert "setMode" not in [one["type"] for one in given]
        assert bool(given) == bool(asked(message).rule)


@each_row(
    "suggestion",
    [
        {"type": "setMode", "mode": "bypassPermissions"},
        {"type": "addRules", "behavior": "deny", "rules": [{"toolName": "Bash"}]},
        {"type": "addRules", "behavior": "allow", "rules": [{"ruleContent": "x"}]},
        {"type": "addDirectories", "directories": ["/srv", 3]},
        {"type": "newThing"},
        "text",
    ],
)
def test_of_a_suggestion_that_is_not_understood_nothing_is_offered(suggestion: object) -> None:
    known = requests_of("claude-permissions")[2]["request"]
    request = {**known, "permission_suggestions": [*known["permission_suggestions"], suggestion]}
    assert request_event(1, "r", request).rule == ""
    assert "updatedPermissions" not in decision(request, AgentAnswer("session"))


def test_a_refusal_is_words_for_the_model() -> None:
    message = requests_of("claude-permissions")[4]
    assert response(message, REFUSED) == {"behavior": "deny", "message": "No network."}
    assert response(message, AgentAnswer("refuse"))["message"], "without words it is no answer"


CHOICE: Json = {
    "subtype": "can_use_tool",
    "tool_name": "AskUserQuestion",
    "requires_user_interaction": True,
    "input": {
        "questions": [
            {
                "question": "Which\x1b[31m colour?",
                "header": "Colour",
                "options": [{"label": "Blue", "description": "calm"}, {"label": "Red"}],
                "multiSelect": False,
            },
            {"question": " "},
            {"question": "Which sizes?", "options": [{"label": "S"}], "multiSelect": True},
        ]
    },
}


def test_choices_are_answered_by_the_question_as_it_was_put() -> None:
    one = request_event(1, "r", CHOICE)
    assert [(c.question, c.multiple) for c in one.choices] == [
        ("Which colour?", False),
        ("Which sizes?", True),
    ]
    assert [option.label for option in one.choices[0].options] == ["Blue", "Red"]
    answer = decision(CHOICE, AgentAnswer("once", choices=(("Blue",), ("S", "XL"))))
    assert answer["updatedInput"] == {
        **CHOICE["input"],
        "answers": {"Which\x1b[31m colour?": "Blue", "Which sizes?": "S, XL"},
    }


def test_a_request_is_answered_once_and_can_be_taken_back() -> None:
    requests, (message, cancel) = Requests(1), requests_of("claude-permission-cancelled")
    (first,) = requests.feed(message)
    assert isinstance(first, AgentAsked)
    assert not list(requests.feed(message)), "asked twice, it is one question"
    (gone,) = requests.feed(cancel)
    assert isinstance(gone, AgentAskedNoMore)
    assert not list(requests.feed(cancel))
    assert requests.answer(message["request_id"], REFUSED) is None
    list(requests.feed(message))
    _, line = requests.answer(message["request_id"], REFUSED) or ({}, {})
    assert line["type"] == "control_response"
    assert requests.answer(message["request_id"], REFUSED) is None


@each_row(
    "line",
    [
        {"type": "control_request"},
        {"type": "control_request", "request": {"subtype": "can_use_tool"}},
        {"type": "control_request", "request_id": "r", "request": {"subtype": "hook_callback"}},
        {"type": "control_request", "request_id": 3, "request": {"subtype": "can_use_tool"}},
        {"type": "control_cancel_request", "request_id": "never asked"},
    ],
)
def test_what_is_no_question_asks_nothing(line: Json) -> None:
    assert not list(Requests(1).feed(line))


def test_garbage_in_a_question_is_shown_as_it_is() -> None:
    request = {"subtype": "can_use_tool", "tool_name": 3, "input": {"a": [1, None]}}
    one = request_event(1, "r", request)
    assert (one.tool, one.rule) == ("a tool", "")
    assert json.loads(one.input) == {"a": [1, None]}


def test_an_edit_of_many_places_is_one_diff() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c\nd", "new_string": ""}]
    assert describe_effect("MultiEdit", {"file_path": "/x", "edits": edits}) == "/x\n-a\n+b\n-c\n-d"
    assert describe_effect("Write", {"file_path": "/x", "content": "1\n2"}) == "/x\n+1\n+2"


@each_row("named", [True, False])
def test_what_was_refused_is_no_failure_and_no_denial(*, named: bool) -> None:
    calls = ToolCalls(1, "/r")
    calls.seek(0, 10.0)
    list(calls.started({"id": "t1", "name": "Bash", "input": {"command": "git push"}}, None))
    request: Json = {"tool_name": "Bash", "input": {"command": "git push"}}
    calls.record_decision(
        {**request, **({"tool_use_id": "t1"} if named else {})}, 300.0, refused=True
    )
    calls.seek(0, 301.0)
    (finished,) = calls.finished({"tool_use_id": "t1", "is_error": True, "content": "no"}, None)
    assert isinstance(finished, ToolFinished)
    assert (finished.prevented, finished.duration_s) == ("denied", 1.0)
    assert not list(calls.denied({"tool_use_id": "t1", "tool_name": "Bash"}))
    assert calls.errors == 0


def test_its_flags_ask_and_keep_plans_out() -> None:
    flags = permission_flags(Permissions("ask", ("WebSearch",)), "make")
    assert flags[:5] == [
        *("--disallowedTools", "EnterPlanMode", "ExitPlanMode"),
        *("--permission-prompt-tool", "stdio"),
    ]
    assert flags[5:] == permission_flags(Permissions("edits", ("WebSearch",)), "make")
    assert "--permission-prompt-tool" not in permission_flags(Permissions("skip"), "make")


@each_row("cancelled", [True, False])
def test_a_question_that_was_broken_off_is_no_denial(*, cancelled: bool) -> None:
    """Claude Code lists it as a denial, whether the turn or its input ended."""
    reader = StreamReader(1, Path("/r"), Ledger())
    used = {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "a"}}
    ask = {"subtype": "can_use_tool", "tool_name": "Write", "tool_use_id": "t1", "input": {}}
    failed = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "aborted"}
    denial = {"tool_name": "Write", "tool_use_id": "t1", "tool_input": {"file_path": "a"}}
    lines: list[Json] = [
        {"type": "assistant", "message": {"content": [used]}},
        {"type": "control_request", "request_id": "r", "request": ask},
        *([{"type": "control_cancel_request", "request_id": "r"}] if cancelled else []),
        {"type": "user", "message": {"content": [failed]}},
        {"type": "result", "subtype": "success", "permission_denials": [denial]},
    ]
    events = [
        event for n, line in enumerate(lines) for event in reader.feed(json.dumps(line), n, n)
    ]
    assert not [event for event in events if isinstance(event, ToolDenied)]
    (finished,) = [event for event in events if isinstance(event, ToolFinished)]
    assert finished.prevented == "interrupted"
    assert reader.tools.errors == 0
