"""Recorded and arbitrary Codex app-server messages are read without errors."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.adapters.agents.codex.approvals import approval_of
from ralph_tui.adapters.agents.codex.ends import Windows
from ralph_tui.adapters.agents.codex.items import (
    ToolItems,
    command_of,
    result_of,
    summary_of,
    tool_of,
)
from ralph_tui.adapters.agents.codex.reader import CodexReader, Ledger
from ralph_tui.adapters.agents.ends import FailedCall
from ralph_tui.adapters.agents.permissions import Permits
from ralph_tui.adapters.agents.rpc.messages import Notification, Request, Response, read_message
from ralph_tui.ports.agents import AgentAnswer, Permissions
from ralph_tui.text.json_fields import as_map
from tests.paths import FIXTURES
from tests.rows import each_row
from tests.unit.adapters.agents.rpc.test_messages import JSON

RECORDED = FIXTURES / "agents"
NAMES = sorted(path.stem for path in RECORDED.glob("codex-appserver-*.jsonl"))
ROOT = Path("/home/user/project")
NOW = datetime(2026, 11, 21, 22, 45, tzinfo=UTC)


def lines(name: str) -> Iterator[str]:
    for line in (RECORDED / f"{name}.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record.get("dir") == "out":
            yield json.dumps(record["msg"])


class Read:
    """A recording once read: its events, requests, and unknown messages."""

    def __init__(self, name: str, ledger: Ledger | None = None) -> None:
        self.reader = CodexReader(1, ROOT, ledger)
        self.events: list[ev.Event] = []
        self.asked: list[Request] = []
        self.unknown: list[str] = []
        for number, line in enumerate(lines(name)):
            self.reader.seek(number, number / 10, NOW)
            self._take(read_message(line))
        self.events += self.reader.closed()

    def _take(self, message: object) -> None:
        match message:
            case Notification(method, params):
                found = self.reader.take(method, params)
                if found is None:
                    self.unknown.append(method)
                self.events += found or ()
            case Response(result=result) if "thread" in as_map(result):
                self.events += self.reader.began(as_map(result), "0.169.0")
            case Response(result=result) if "turn" in as_map(result):
                self.reader.turn_began(as_map(result)["turn"])
            case Request():
                self.asked.append(message)
            case _:
                pass

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@each_row("name", NAMES)
def test_nothing_recorded_is_unknown(name: str) -> None:
    read = Read(name)
    assert not read.unknown
    assert read.reader.end is not None
    (described,) = read.of(ev.SessionDescribed)[:1]
    assert (described.model, described.version) == ("gpt-5.5", "0.169.0")
    begun = [event.tool_id for event in read.of(ev.ToolStarted)]
    over = [event.tool_id for event in read.of(ev.ToolFinished)]
    assert sorted(begun) == sorted(over)
    assert len(begun) == len(set(begun)) == read.reader.tools.calls


def test_work_that_was_approved_and_declined() -> None:
    read = Read("codex-appserver-approve")
    assert [(e.tool, e.summary) for e in read.of(ev.ToolStarted)] == [
        ("Bash", "touch x.txt"),
        ("Bash", "touch y.txt"),
        ("Edit", "calc.py"),
        ("Bash", "git push"),
    ]
    assert [(e.ok, e.summary, e.prevented) for e in read.of(ev.ToolFinished)] == [
        (True, "no output", ""),
        (False, "denied", "denied"),
        (True, "+1 −1", ""),
        (False, "denied", "denied"),
    ]
    assert [event.text for event in read.of(ev.AgentSpoke)] == ["end"]
    usage = read.of(ev.UsageReported)[-1]
    assert (usage.tokens, usage.context_tokens, usage.context_window) == (49950, 10196, 258_400)
    assert usage.cost_usd is None
    assert read.reader.tools.errors == 0
    assert read.reader.end is not None
    assert read.reader.end.outcome == "success"


def test_a_limit_ends_when_its_window_does() -> None:
    read = Read("codex-appserver-limit")
    end = read.reader.end
    assert end is not None
    assert (end.outcome, end.limit) == ("limited", "usage_limit")
    assert end.resets_at == datetime(2026, 11, 22, 0, 43, 30, tzinfo=UTC)
    near = [event.text for event in read.of(ev.AgentNoted) if "near" in event.text]
    assert near == ["Usage limit is near (5-hour window, 92% used, resets at 2026-11-22 00:43 UTC)"]
    assert read.of(ev.SessionDescribed)[-1].billing == "subscription"


def test_without_windows_the_sentence_says_when() -> None:
    reader = CodexReader(1, ROOT)
    reader.seek(0, 0.0, NOW)
    error = {"message": "Try again at 11:05 PM.", "codexErrorInfo": "usageLimitExceeded"}
    reader.take("turn/completed", {"turn": {"status": "failed", "error": error}})
    assert reader.end is not None
    assert reader.end.resets_at == NOW.replace(hour=23, minute=5)


def test_retries_are_told_and_are_no_work() -> None:
    read = Read("codex-appserver-e429")
    retries = [event for event in read.of(ev.AgentNoted) if event.level == "warn"]
    said = "The service refuses (429); the agent is retrying: Reconnecting... 1/2"
    assert next(event.text for event in retries if "is retrying" in event.text) == said
    refused = [event for event in retries if "is retrying" in event.text]
    assert {event.service for event in refused} == {"usage_limit"}
    end = read.reader.end
    assert end is not None
    assert (end.outcome, end.limit, end.resets_at) == ("limited", "usage_limit", None)


def test_a_window_that_overflowed() -> None:
    reader = Read("codex-appserver-context").reader
    assert reader.end is not None
    assert reader.end.outcome == "context_full"
    # It is reported as a full window of tokens, although none were used.
    assert (reader.usage.tokens, reader.usage.context) == (9751, 258_400)


def test_guidance_is_known_by_its_words_where_it_has_no_name() -> None:
    reader = CodexReader(1, ROOT)
    reader.receipts.awaited["g-1"] = "GUIDE: plus"
    reported: list[ev.Event] = []
    for line in lines("codex-appserver-steer"):
        message = read_message(line)
        if isinstance(message, Notification):
            reported += reader.take(message.method, message.params) or ()
    ids = [event.guidance_id for event in reported if isinstance(event, ev.GuidanceAcknowledged)]
    assert ids == ["g-1"]


def test_guidance_is_known_by_its_name() -> None:
    reader = CodexReader(1, ROOT)
    reader.receipts.awaited.update({"g-1": "a", "g-2": "a"})
    item = {"type": "userMessage", "clientId": "g-2", "content": [{"type": "text", "text": "a"}]}
    reported = [*(reader.take("item/started", {"item": item}) or ())]
    reported += reader.take("item/completed", {"item": item}) or ()
    assert [e.guidance_id for e in reported if isinstance(e, ev.GuidanceAcknowledged)] == ["g-2"]
    item["clientId"] = "somebody else's"
    assert not reader.take("item/started", {"item": item})


def test_claims_are_those_of_the_main_thread() -> None:
    reader = CodexReader(1, ROOT)
    reader.thread = "main"
    text = '{"ralph": {"completion": 40, "summary": "half"}}\n<promise>COMPLETE</promise>'
    item = {"type": "agentMessage", "text": text}
    reported = reader.take("item/completed", {"threadId": "main", "item": item}) or ()
    assert [type(event) for event in reported] == [ev.AgentSpoke, ev.AgentReported, ev.PromiseMade]
    reported = reader.take("item/completed", {"threadId": "other", "item": item}) or ()
    assert [(type(event), getattr(event, "parent", "")) for event in reported] == [
        (ev.AgentSpoke, "other")
    ]


def test_a_subagent_ends_no_turn_and_fills_no_context() -> None:
    reader = CodexReader(1, ROOT)
    reader.thread = "main"
    reader.take("turn/started", {"threadId": "main", "turn": {"id": "t"}})
    reader.take("turn/completed", {"threadId": "other", "turn": {"status": "completed"}})
    assert reader.end is None
    usage = {"total": {"totalTokens": 700}, "last": {"totalTokens": 700}, "modelContextWindow": 9}
    reader.take("thread/tokenUsage/updated", {"threadId": "other", "tokenUsage": usage})
    assert (reader.usage.tokens, reader.usage.context, reader.usage.window) == (700, None, None)
    command = {"type": "commandExecution", "id": "c", "command": "ls"}
    (begun,) = reader.take("item/started", {"threadId": "other", "item": command}) or ()
    assert isinstance(begun, ev.ToolStarted)
    assert begun.parent == "other"


def test_a_thread_that_goes_on_counts_from_where_it_was() -> None:
    ledger = Ledger()
    first = Read("codex-appserver-approve", ledger)
    assert first.reader.usage.tokens == 49950
    again = CodexReader(2, ROOT, ledger)
    again.thread = first.reader.thread
    fields = {"total": {"totalTokens": 60_000}, "last": {"totalTokens": 10_050}}
    again.take("thread/tokenUsage/updated", {"threadId": again.thread, "tokenUsage": fields})
    assert again.usage.tokens == 10_050


def test_a_thread_of_another_process_counts_what_is_told_in_its_turn() -> None:
    def usage_of(total: int, last: int) -> dict[str, object]:
        usage = {"total": {"totalTokens": total}, "last": {"totalTokens": last}}
        return {"threadId": "t", "tokenUsage": usage}

    reader = CodexReader(1, ROOT)
    reader.thread = "t"
    reader.take("thread/tokenUsage/updated", usage_of(5000, 700))
    assert reader.usage.tokens == 0, "before its turn: it is of the sessions before"
    reader.take("turn/started", {"threadId": "t", "turn": {"id": "x"}})
    reader.take("thread/tokenUsage/updated", usage_of(5900, 900))
    assert reader.usage.tokens == 900


def test_a_context_that_is_compacted_is_told() -> None:
    reader = CodexReader(1, ROOT)
    usage = {"last": {"totalTokens": 200}, "modelContextWindow": 258}
    reader.take("thread/tokenUsage/updated", {"tokenUsage": usage})
    (reported,) = reader.take("item/completed", {"item": {"type": "contextCompaction"}}) or ()
    assert isinstance(reported, ev.ContextCompacted)
    assert (reported.before, reported.window) == (200, 258)


@each_row(
    ("item", "tool", "summary", "result"),
    [
        (
            {"type": "commandExecution", "command": "/bin/bash -lc 'npm test'", "exitCode": 1},
            "Bash", "npm test", "exit 1",
        ),
        (
            {"type": "commandExecution", "command": "ls 'a", "aggregatedOutput": "a\nb\n"},
            "Bash", "ls 'a", "2 lines",
        ),
        (
            {"type": "mcpToolCall", "server": "db", "tool": "query", "arguments": {"query": "x"},
             "result": {"content": [{"type": "text", "text": "a"}]}},
            "mcp__db__query", "x", "1 line",
        ),
        (
            {"type": "mcpToolCall", "server": "db", "tool": "query", "status": "failed",
             "error": {"message": "no such table"}},
            "mcp__db__query", "", "no such table",
        ),
        ({"type": "webSearch", "query": "how to"}, "WebSearch", "how to", ""),
        ({"type": "collabAgentToolCall", "prompt": "look"}, "Task", "look", ""),
        (
            {"type": "fileChange", "changes": [
                {"path": f"{ROOT}/a", "kind": {"type": "add"}, "diff": "1\n2\n"},
                {"path": f"{ROOT}/b", "kind": {"type": "delete"}, "diff": "1\n"}]},
            "Edit", "a and 1 more", "+2 −1",
        ),
        ({"type": "reasoning"}, "", "", ""),
    ],
)  # fmt: skip
def test_items(item: dict[str, object], tool: str, summary: str, result: str) -> None:
    assert tool_of(item) == tool
    if tool:
        assert (summary_of(item, [str(ROOT)]), result_of(item)) == (summary, result)


@each_row(
    ("kind", "diff", "line"),
    [
        ("update", "@@ -80,2 +88,3 @@\n a\n+b\n+c\n d\n", 90),
        ("add", "1\n2\n", 2),
        ("delete", "1\n", None),
        ("update", "no hunk", None),
    ],
)
def test_an_edit_names_the_line_of_its_last_change(kind: str, diff: str, line: int | None) -> None:
    change = {"path": f"{ROOT}/a", "kind": {"type": kind}, "diff": diff}
    item = {"type": "fileChange", "id": "i", "status": "completed", "changes": [change]}
    _, over = ToolItems(1, str(ROOT)).finished(item, None)
    assert isinstance(over, ev.ToolFinished)
    assert over.last_line == line


def test_a_shell_is_left_away_and_nothing_else() -> None:
    assert command_of({"command": "/bin/zsh -lc 'a && b'"}) == "a && b"
    assert command_of({"command": "bash -c a b"}) == "bash -c a b"
    # A project file may have the same name.
    assert command_of({"command": f"{ROOT}/bash -lc 'a'"}) == f"{ROOT}/bash -lc 'a'"
    assert command_of({"command": "python -c 'x'"}) == "python -c 'x'"


def test_a_tool_that_outlives_its_turn_ends_with_the_server() -> None:
    command = {"type": "commandExecution", "id": "c", "command": "ls", "exitCode": 0}
    over = {"turn": {"status": "completed"}}
    for finished_late in (True, False):
        reader = CodexReader(1, ROOT)
        reported = [*(reader.take("item/started", {"item": command}) or ())]
        reported += reader.take("turn/completed", over) or ()
        if finished_late:
            reported += reader.take("item/completed", {"item": command}) or ()
        reported += reader.closed()
        reported += reader.take("item/completed", {"item": command}) or ()
        _, finished = reported
        assert isinstance(finished, ev.ToolFinished)
        assert finished.ok == finished_late
        assert finished.prevented == ("" if finished_late else "interrupted")
        assert reader.tools.calls == 1


@each_row(("begun", "ended"), [("t", True), ("next", False)])
def test_a_turn_that_is_over_before_it_is_told_to_begin_is_over(begun: str, *, ended: bool) -> None:
    reader = CodexReader(1, ROOT)
    reader.take("turn/completed", {"turn": {"id": "t", "status": "completed"}})
    reader.turn_began({"id": begun})
    assert (reader.end is not None, reader.turn == "") == (ended, ended)


@given(st.dictionaries(st.sampled_from(["primary", "secondary"]), st.dictionaries(
    st.sampled_from(["usedPercent", "windowDurationMins", "resetsAt"]),
    JSON | st.integers(0, 10**12) | st.floats(0, 1e300))))  # fmt: skip
def test_any_windows_harm_nothing(fields: dict[str, Any]) -> None:
    windows = Windows()
    assert all("near" in sentence for sentence in windows.take(fields))
    end = windows.end(FailedCall("limited", "usage_limit"), NOW)
    assert end.resets_at is None or end.resets_at > NOW


METHODS = sorted(
    {read.method for name in NAMES for line in lines(name)
     if isinstance(read := read_message(line), Notification | Request)}
    | {"item/permissions/requestApproval", "mcpServer/elicitation/request",
       "item/tool/requestUserInput", "model/rerouted", "mcpServer/startupStatus/updated"}
)  # fmt: skip
FIELDS = (
    "item", "turn", "threadId", "error", "willRetry", "tokenUsage", "rateLimits", "requestId",
    "itemId", "command", "changes", "permissions", "questions", "networkApprovalContext", "reason",
)  # fmt: skip
KINDS = (
    "commandExecution", "fileChange", "mcpToolCall", "agentMessage", "userMessage", "webSearch",
    "contextCompaction", "plan", "new",
)  # fmt: skip
PARTS = (
    "id", "command", "changes", "status", "exitCode", "text", "arguments", "result", "content",
    "clientId", "server",
)  # fmt: skip
ITEMS = st.fixed_dictionaries({"type": st.sampled_from(KINDS)}, optional=dict.fromkeys(PARTS, JSON))
PARAMS = st.dictionaries(st.sampled_from(FIELDS), JSON | ITEMS, max_size=5)


@given(st.lists(st.tuples(st.sampled_from(METHODS) | st.text(), PARAMS), max_size=6))
def test_anything_in_any_order_harms_nothing(messages: list[tuple[str, dict[str, Any]]]) -> None:
    reader = CodexReader(1, ROOT)
    for number, (method, params) in enumerate(messages):
        reader.seek(number, float(number), NOW + timedelta(seconds=number))
        for event in reader.take(method, params) or ():
            assert event.kind
        asked = approval_of(Request(number, method, params), reader)
        if asked is not None:
            assert asked.event(1, "a").kind == "agent_asked"
            assert asked.denied(1, str(ROOT)).kind == "tool_denied"
            json.dumps([asked.answer(AgentAnswer("once")), asked.answer(AgentAnswer("refuse"))])
            assert asked.permitted(Permits(Permissions(), "true", ROOT)) in (True, False)
    assert list(reader.began({}, "")) is not None
    assert list(reader.account({"account": 3})) == []


@given(JSON)
def test_any_answer_to_our_requests_harms_nothing(answer: object) -> None:
    reader = CodexReader(1, ROOT)
    list(reader.began(as_map(answer), "1"))
    list(reader.account(as_map(answer)))
    reader.turn_began(as_map(answer).get("turn"))


@each_row(
    "answer",
    [
        {"account": None, "requiresOpenaiAuth": False},
        {"account": None},
        {"account": {"type": "apiKey"}, "requiresOpenaiAuth": True},
    ],
)
def test_that_nobody_is_signed_in_is_seen_only_where_it_is_told(answer: dict[str, object]) -> None:
    reader = CodexReader(1, Path("/project"))
    list(reader.account(answer))
    assert not reader.signed_out
    list(reader.account({"account": None, "requiresOpenaiAuth": True}))
    assert reader.signed_out
