"""Streams captured from real agents, and hostile ones, read into events."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.agents.stream import SPOKEN, StreamReader
from ralph_tui.events import (
    AgentNoted,
    AgentReported,
    AgentSpoke,
    Event,
    GuidanceAcknowledged,
    GuidanceDelivered,
    PromiseMade,
    SessionDescribed,
    ToolDenied,
    ToolFinished,
    ToolStarted,
    UsageReported,
    parse_event,
)

TRANSCRIPTS = Path(__file__).parents[1] / "fixtures" / "transcripts"
ROOT = Path("/home/dev/project")


def read(name: str) -> tuple[StreamReader, list[Event]]:
    reader = StreamReader(1, ROOT)
    offset, events = 0, []
    for number, line in enumerate((TRANSCRIPTS / f"{name}.jsonl").read_text().splitlines()):
        events += reader.feed(line, offset, float(number))
        offset += len(line) + 1
    return reader, events


def feed(*messages: object) -> tuple[StreamReader, list[Event]]:
    reader = StreamReader(1, Path("/repo"))
    events = []
    for number, message in enumerate(messages):
        line = message if isinstance(message, str) else json.dumps(message)
        events += reader.feed(line, number, float(number))
    return reader, events


def of(kind: type[Event], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def said(text: str, **fields: object) -> dict[str, object]:
    message = {"id": "m", "model": "a", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, **fields}


@pytest.mark.parametrize(
    ("name", "outcome", "cost", "tokens", "tools", "errors"),
    [
        ("ok", "success", 0.006074, 50324, 3, 0),
        ("failed_tool", "success", 0.0088239, 75981, 5, 5),
        ("max_turns", "max_turns", 0.0028935, 24915, 2, 0),
        ("ratelimit_unified", "limited", 0.0014484, 12474, 1, 0),
        ("rate_limited_once", "success", 0.001284, 12414, 0, 0),
        ("denied", "success", 0.0028097, 24968, 1, 1),
        ("subagent", "success", 0.0049745, 42497, 2, 0),
        ("inject", "success", 0.0042501, 37659, 2, 0),
        ("hooks", "success", 0.002727, 24933, 1, 0),
        ("partial", "success", 0.0027764, 24932, 1, 0),
        ("context_live", "success", 0.0250036, 247501, 1, 0),
        # Two turns: an interrupted one, then a good one; totals are cumulative.
        ("ctl_interrupt", "success", 0.0028326, 25098, 1, 1),
    ],
)
def test_captured_streams_parse_completely(
    name: str, outcome: str, cost: float, tokens: int, tools: int, errors: int
) -> None:
    reader, events = read(name)
    assert reader.verdict is not None
    assert reader.verdict.outcome == outcome
    assert (reader.verdict.reason == "") == (outcome == "success")
    assert reader.usage.cost_usd == pytest.approx(cost)
    assert (reader.usage.tokens, reader.tool_calls, reader.tool_errors) == (tokens, tools, errors)
    assert of(SessionDescribed, events)[0].model == "claude-sonnet-5-5"
    assert len(of(ToolStarted, events)) == len(of(ToolFinished, events)) == tools
    assert not [note for note in of(AgentNoted, events) if "Unknown" in note.text]
    assert of(UsageReported, events)[-1].context_window == 1_000_000
    for event in events:
        stamped = event.model_copy(update={"seq": 1})
        assert parse_event(stamped.model_dump_json()) == stamped


def test_streams_that_break_off_leave_no_verdict() -> None:
    reader, events = read("auth_error")
    assert reader.verdict is None
    assert reader.last_refusal == "auth"
    assert "authentication failed (401); retry 1 of 10" in of(AgentNoted, events)[0].text
    reader, events = read("sigterm_bash")
    assert reader.verdict is None
    assert of(ToolFinished, events)[0].summary == "exit 137"


def test_summaries_of_tools() -> None:
    _, events = read("ok")
    assert [(e.tool, e.summary.split(" ")[0]) for e in of(ToolStarted, events)] == [
        ("Read", "calc.py"),
        ("Edit", "calc.py"),
        ("Bash", "python3"),
    ]
    finished = of(ToolFinished, events)
    assert [e.summary for e in finished] == ["3 lines", "+1 −1", "3 lines"]
    assert [e.duration_s for e in finished] == [1.0, 1.0, 1.0]


def test_a_created_file_counts_its_lines() -> None:
    result = {"type": "create", "content": "a\nb\n", "structuredPatch": []}
    block = {"type": "tool_result", "tool_use_id": "t", "content": "File created"}
    _, events = feed({"type": "user", "message": {"content": [block]}, "tool_use_result": result})
    assert of(ToolFinished, events)[0].summary == "+2"


def test_context_is_that_of_the_main_thread() -> None:
    _, events = read("subagent")
    contexts = [event.context_tokens for event in of(UsageReported, events)]
    assert contexts == [12408, 12408, 12690, 12690]
    nested = [event for event in of(ToolStarted, events) if event.parent]
    assert [event.summary for event in nested] == ["ls"]


def test_the_context_question_tells_the_window() -> None:
    _, events = read("context_live")
    assert [event.context_window for event in of(UsageReported, events)][:2] == [None, 1_000_000]
    assert of(UsageReported, events)[0].context_tokens == 123_468


def test_denied_tools_are_named_once() -> None:
    _, events = read("denied")
    denials = of(ToolDenied, events)
    assert [denial.tool for denial in denials] == ["Bash"]
    assert of(ToolFinished, events)[0].summary == "denied"


def test_guidance_is_delivered_then_acknowledged() -> None:
    _, events = read("inject")
    guidance = [e for e in events if isinstance(e, GuidanceDelivered | GuidanceAcknowledged)]
    assert [event.kind for event in guidance] == ["guidance_delivered", "guidance_acknowledged"]
    assert {event.guidance_id for event in guidance} == {"2463903b-c984-45fb-be0f-d331a2270314"}


def test_another_tools_stream_is_noted_not_raised() -> None:
    reader, events = read("codex_ok")
    assert not reader.heard
    assert 0 < len(events) <= 5
    assert all(isinstance(event, AgentNoted) for event in events)


def test_claims_come_from_the_main_agents_words_only() -> None:
    report = 'Done.\n{"ralph": {"completion": 80, "summary": "s", "next": "n"}}'
    promise = "<promise>COMPLETE</promise>"
    block = {"type": "tool_result", "tool_use_id": "t", "content": f"{report}\n{promise}"}
    _, events = feed(
        {"type": "user", "message": {"content": report + promise}, "isReplay": True},
        {"type": "user", "message": {"content": [block]}},
        said(report + promise, parent_tool_use_id="toolu_1"),
        said(report + promise, is_api_error_message=True),
    )
    assert not of(AgentReported, events)
    assert not of(PromiseMade, events)
    _, events = feed(said(f"{report}\n{promise}"))
    assert of(AgentReported, events)[0].completion == 80
    assert len(of(PromiseMade, events)) == 1


def test_costs_are_differences_of_totals() -> None:
    def result(session: str, total: object) -> dict[str, object]:
        return {"type": "result", "session_id": session, "total_cost_usd": total}

    reader, _ = feed(result("a", 0.5), result("a", 0.75), result("b", 0.25))
    assert reader.usage.cost_usd == pytest.approx(1.0)
    # The second session's total began anew.
    reader, _ = feed(result("a", 0.5), result("a", 0.25))
    assert reader.usage.cost_usd == pytest.approx(0.75)
    reader, _ = feed(result("a", "free"), result("a", float("inf")), result("a", 10**400))
    assert reader.usage.cost_usd is None


def test_usage_of_a_message_counts_once() -> None:
    usage = {"input_tokens": 1, "cache_read_input_tokens": 10, "output_tokens": 5}
    block = {"type": "text", "text": "x"}
    message = {"id": "m", "model": "a", "content": [block], "usage": usage}
    reader, events = feed(*[{"type": "assistant", "message": message}] * 3)
    assert reader.usage.tokens == 16
    assert [event.context_tokens for event in of(UsageReported, events)] == [11]


def test_compaction_sets_the_context() -> None:
    metadata = {"trigger": "auto", "pre_tokens": 90000, "post_tokens": 20000}
    boundary = {"type": "system", "subtype": "compact_boundary", "compact_metadata": metadata}
    _, events = feed(boundary)
    assert "from 90000 to 20000 tokens" in of(AgentNoted, events)[0].text
    assert of(UsageReported, events)[0].context_tokens == 20000


def test_long_and_hostile_text_is_cut_and_cleaned() -> None:
    secret = "sk-" + "a1" * 20
    padding = "x" * (SPOKEN - 30)
    _, events = feed(said(f"\x1b]0;owned\x07{padding} {secret} {'y' * 600_000}"))
    text = of(AgentSpoke, events)[0].text
    assert len(text) <= SPOKEN
    assert "\x1b" not in text
    assert "sk-a1" not in text


def test_a_600_kb_line_is_an_edit_like_any_other() -> None:
    structured = {
        "originalFile": "x" * 600_000,
        "structuredPatch": [{"lines": ["+a", "+b", "-c", " d"]}],
    }
    block = {"type": "tool_result", "tool_use_id": "t", "content": "updated"}
    call = {"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": "/repo/a/b.py"}}
    _, events = feed(
        {"type": "assistant", "message": {"content": [call]}},
        {"type": "user", "message": {"content": [block]}, "tool_use_result": structured},
    )
    assert of(ToolStarted, events)[0].summary == "a/b.py"
    assert of(ToolFinished, events)[0].summary == "+2 −1"


def test_broken_lines_are_said_once() -> None:
    _, events = feed("<html>", "not json", "[1, 2]", "[" * 100_000, "", "null", '{"type": 5}')
    assert [type(event) for event in events] == [AgentNoted]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
KINDS = sorted(StreamReader._READERS)
FIELDS = (
    "message", "tool_use_result", "content", "permission_denials", "modelUsage", "error_status",
    "rate_limit_info", "response", "command_uuid", "state", "is_error", "session_id", "cwd",
    "total_cost_usd", "num_turns", "compact_metadata", "result", "errors", "apiKeySource",
)  # fmt: skip


@given(
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS), JSON)),
        max_size=6,
    )
)
def test_any_shape_is_read_without_an_exception(
    messages: list[tuple[str, dict[str, object]]],
) -> None:
    reader = StreamReader(1, Path("/repo"))
    for kind, fields in messages:
        name, _, subtype = kind.partition("/")
        line = json.dumps({**fields, "type": name, **({"subtype": subtype} if subtype else {})})
        for event in reader.feed(line, 0, 0.0):
            assert parse_event(event.model_copy(update={"seq": 1}).model_dump_json()).kind


@given(st.lists(JSON, max_size=3), JSON)
def test_any_content_block_is_read(blocks: list[object], structured: object) -> None:
    shaped = [
        {"type": kind, "id": block, "name": block, "input": {"file_path": block, "x": block},
         "text": block, "tool_use_id": block, "content": block, "is_error": block}
        for block in blocks
        for kind in ("text", "tool_use", "tool_result")
    ]  # fmt: skip
    message = {"id": structured, "model": structured, "content": shaped, "usage": structured}
    feed(
        {"type": "assistant", "message": message},
        {"type": "user", "message": message, "tool_use_result": structured},
        {"type": "user", "message": message, "tool_use_result": {"structuredPatch": structured}},
        {"type": "result", "modelUsage": {"a": structured}, "usage": structured},
    )
