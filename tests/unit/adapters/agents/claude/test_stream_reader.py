"""Streams captured from real agents, and hostile ones, read into events."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.adapters.agents.claims import SPOKEN
from ralph_tui.adapters.agents.claude.notices import MAX_TASKS, NAMED
from ralph_tui.adapters.agents.claude.stream_reader import StreamReader
from ralph_tui.adapters.agents.claude.usage import Ledger
from tests.examples import FEWER
from tests.paths import FIXTURES
from tests.rows import each_row

TRANSCRIPTS = FIXTURES / "transcripts"
ROOT = Path("/home/dev/project")


def read(name: str) -> tuple[StreamReader, list[ev.Event]]:
    reader = StreamReader(1, ROOT)
    offset, events = 0, []
    for number, line in enumerate((TRANSCRIPTS / f"{name}.jsonl").read_text().splitlines()):
        events += reader.feed(line, offset, float(number))
        offset += len(line) + 1
    return reader, events


def feed(*messages: object) -> tuple[StreamReader, list[ev.Event]]:
    reader = StreamReader(1, Path("/repo"))
    events = []
    for number, message in enumerate(messages):
        line = message if isinstance(message, str) else json.dumps(message)
        events += reader.feed(line, number, float(number))
    return reader, events


def of(kind: type[ev.Event], events: list[ev.Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def said(text: str, **fields: object) -> dict[str, object]:
    message = {"id": "m", "model": "a", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, **fields}


@each_row(
    ("name", "outcome", "cost", "tokens", "tools", "errors"),
    [
        ("ok", "success", 0.006074, 50324, 3, 0),
        ("failed_tool", "success", 0.0088239, 75981, 5, 5),
        ("max_turns", "max_turns", 0.0028935, 24915, 2, 0),
        ("ratelimit_unified", "limited", 0.0014484, 12474, 1, 0),
        ("rate_limited_once", "success", 0.001284, 12414, 0, 0),
        ("denied", "success", 0.0028097, 24968, 1, 0),
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
    assert reader.ends.of_last_turn is not None
    assert reader.ends.of_last_turn.outcome == outcome
    assert (reader.ends.of_last_turn.reason == "") == (outcome == "success")
    assert reader.usage.cost_usd == pytest.approx(cost)
    assert (reader.usage.tokens, reader.tools.calls, reader.tools.errors) == (tokens, tools, errors)
    assert of(ev.SessionDescribed, events)[0].model == "claude-sonnet-5-5"
    assert len(of(ev.ToolStarted, events)) == len(of(ev.ToolFinished, events)) == tools
    assert not [note for note in of(ev.AgentNoted, events) if "Unknown" in note.text]
    assert of(ev.UsageReported, events)[-1].context_window == 1_000_000
    for event in events:
        stamped = event.model_copy(update={"seq": 1})
        assert ev.parse_event(stamped.model_dump_json()) == stamped


@each_row(
    ("name", "outcome", "limit", "words"),
    [
        ("old_1_0_60_ok", "success", None, ""),
        ("old_1_0_128_limited", "limited", "usage_limit", "Spending cap reached"),
        ("old_1_0_128_forbidden", "auth", None, "Please run /login"),
        # It says that nothing went wrong.
        ("old_2_0_20_max_turns", "max_turns", None, "maximum number of turns"),
        ("old_2_0_20_overloaded", "limited", "overload", "overloaded_error"),
        ("old_2_0_20_auth", "auth", None, "Invalid API key"),
        ("old_2_0_20_overflow", "context_full", None, "Prompt is too long"),
        ("old_2_0_20_denied", "success", None, ""),
        ("old_2_0_20_subagent", "success", None, ""),
        ("old_2_0_20_interrupt", "success", None, ""),
        ("background_bash", "success", None, ""),
        ("guidance_in_text", "success", None, ""),
        ("refusal", "success", None, ""),
        ("limited_until_reset", "limited", "usage_limit", "hit your limit"),
        ("overloaded", "limited", "overload", "529"),
        ("context_overflow", "context_full", None, "Prompt is too long"),
    ],
)
def test_streams_of_older_and_newer_versions(
    name: str, outcome: str, limit: str | None, words: str
) -> None:
    reader, events = read(name)
    end = reader.ends.of_last_turn
    assert end is not None
    assert (end.outcome, end.limit) == (outcome, limit)
    assert words in end.reason
    assert (end.reason == "") == (outcome == "success")
    assert len(of(ev.ToolStarted, events)) == len(of(ev.ToolFinished, events)) == reader.tools.calls
    assert not [note for note in of(ev.AgentNoted, events) if "Unknown" in note.text]
    assert not reader.in_turn
    assert reader.usage.cost_usd is not None
    assert (reader.usage.tokens > 0) == (reader.usage.cost_usd > 0)


def test_each_retry_says_what_the_service_refuses() -> None:
    _, events = read("overloaded")
    retries = [note for note in of(ev.AgentNoted, events) if "retry" in note.text]
    assert retries
    assert {note.service for note in retries} == {"overload"}


def test_the_end_of_a_limit_is_remembered() -> None:
    reader, _ = read("ratelimit_unified")
    end = reader.ends.of_last_turn
    assert end is not None
    assert (end.limit, end.resets_at) == ("usage_limit", datetime.fromtimestamp(1795168208, UTC))


def test_all_limits_that_are_reached_must_end() -> None:
    windows = {"five_hour": {"status": "rejected", "resetsAt": 100},
               "seven_day": {"status": "rejected", "resetsAt": 900},
               "other": {"status": "allowed", "resetsAt": 5000}}  # fmt: skip
    info = {"status": "rejected", "resetsAt": 100, "unifiedWindows": windows}
    limited = {"type": "result", "is_error": True, "api_error_status": 429}
    ends = []
    for resets_at in (info, {**info, "resetsAt": 100_000, "unifiedWindows": {}}):
        reader, _ = feed({"type": "rate_limit_event", "rate_limit_info": resets_at}, limited)
        assert reader.ends.of_last_turn is not None
        ends.append(reader.ends.of_last_turn.resets_at)
    assert ends[1] == datetime.fromtimestamp(100_000, UTC)
    reader, _ = feed({"type": "rate_limit_event", "rate_limit_info": info}, limited)
    assert reader.ends.of_last_turn is not None
    assert reader.ends.of_last_turn.resets_at == datetime.fromtimestamp(900, UTC)
    # An expired limit no longer counts, and an overload has none.
    over = {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed"}}
    busy = {"type": "result", "is_error": True, "api_error_status": 529}
    for after in ([over, limited], [busy]):
        reader, _ = feed({"type": "rate_limit_event", "rate_limit_info": info}, *after)
        assert reader.ends.of_last_turn is not None
        assert reader.ends.of_last_turn.resets_at is None


def test_background_work_is_told_beside_its_tool() -> None:
    reader, events = read("background_bash")
    reported = of(ev.AgentNoted, events)
    assert reported[0].text.startswith("In the background: ")
    assert reported[0].text.endswith("touch background"), "the command, not what the agent calls it"
    assert reported[1].text == 'Background command "run" completed (exit code 0)'
    assert [note.parent for note in reported] == [of(ev.ToolStarted, events)[0].tool_id] * 2
    assert len(reader.background) == 0
    assert reader.results == 2


def task(about: str, task_id: str = "t1", **fields: object) -> dict[str, object]:
    return {"type": "system", "subtype": f"task_{about}", "task_id": task_id, **fields}


def test_what_goes_on_is_named_with_its_age() -> None:
    agent = {"subagent_type": "Explore", "description": "look", "is_backgrounded": True}
    reader, _ = feed(
        task("started", "a", description="waited for by its tool"),
        task("started", "b", **agent),
        task("started", "c", description="moved later"),
        task("updated", "c", patch={"is_backgrounded": True}),
    )
    tasks = reader.background.named(10.0)
    assert [(one.what, one.age_s) for one in tasks] == [
        ("Explore: look", 9.0),
        ("moved later", 8.0),
    ]
    reader.feed(json.dumps(task("notification", "b", status="completed")), 0, 11.0)
    assert [one.what for one in reader.background.named(12.0)] == ["moved later"]


def test_of_older_versions_the_result_tells_what_goes_on() -> None:
    call = {"type": "tool_use", "id": "u", "name": "Bash", "input": {"command": "npm run dev"}}
    block = {"type": "tool_result", "tool_use_id": "u", "content": "Command running"}
    reader, events = feed(
        {"type": "assistant", "message": {"content": [call]}},
        task("started", tool_use_id="u", description="serve"),
        {"type": "user", "message": {"content": [block]},
         "tool_use_result": {"backgroundTaskId": "t1"}},
        task("notification", tool_use_id="u", status="stopped", summary="serve"),
    )  # fmt: skip
    assert [note.text for note in of(ev.AgentNoted, events)] == [
        "In the background: npm run dev",
        "Background task stopped: npm run dev",
    ]
    assert len(reader.background) == 0


def test_endless_tasks_take_bounded_room() -> None:
    reader = StreamReader(1, ROOT)
    for number in range(3 * MAX_TASKS):
        line = task("started", str(number), description="x", is_backgrounded=True)
        reader.feed(json.dumps(line), 0, 0.0)
    assert len(reader.background) == MAX_TASKS
    assert len(reader.background.named(0.0)) == NAMED


def test_heartbeats_are_signs_of_life_but_do_not_flood() -> None:
    reader = StreamReader(1, ROOT)
    beat = json.dumps({"type": "tool_progress", "tool_use_id": "t", "elapsed_time_seconds": 30})
    reported = [len(reader.feed(beat, 0, float(second))) for second in range(100)]
    assert reported[0] == 1
    assert sum(reported) == 5
    assert not reader.feed('{"type": "keep_alive"}', 0, 500.0)


def test_denials_of_older_versions_come_with_the_result() -> None:
    _, events = read("old_2_0_20_denied")
    assert [event.permit for event in of(ev.ToolDenied, events)] == ["Bash(python3 -c:*)"]
    _, events = read("denied")
    assert [event.permit for event in of(ev.ToolDenied, events)] == ["Bash(touch:*)"]


def test_older_versions_give_receipts_by_repeating_the_words() -> None:
    reader = StreamReader(1, ROOT)
    reader.receipts.awaited["g"] = "mind the tests"
    for text, reported in (("the prompt", 0), ("mind the tests", 2), ("mind the tests", 0)):
        line = json.dumps({"type": "user", "message": {"role": "user", "content": text}})
        assert len(reader.feed(line, 0, 0.0)) == reported


def test_a_resumed_session_costs_the_difference() -> None:
    def result(cost: float, tokens: int) -> str:
        usage = {"m": {"inputTokens": tokens, "costUSD": cost, "contextWindow": 1000}}
        fields = {"type": "result", "is_error": False, "session_id": "s", "modelUsage": usage}
        return json.dumps({**fields, "total_cost_usd": cost})

    ledger = Ledger()
    first = StreamReader(1, ROOT, ledger)
    first.feed(result(0.5, 100), 0, 0.0)
    second = StreamReader(2, ROOT, ledger, "s")
    second.feed(result(0.75, 150), 0, 0.0)
    second.feed(result(1.0, 250), 0, 0.0)
    assert second.usage.cost_usd == pytest.approx(0.5)
    assert second.usage.tokens == 150
    # Some versions restart at zero: their totals are below the recorded sum.
    third = StreamReader(3, ROOT, ledger, "s")
    message = {"id": "m", "model": "m", "usage": {"input_tokens": 260}, "content": []}
    third.feed(json.dumps({"type": "assistant", "message": message}), 0, 0.0)
    third.feed(result(1.25, 260), 0, 0.0)
    assert third.usage.cost_usd == pytest.approx(1.25)
    assert third.usage.tokens == 260


@each_row(
    "message",
    [
        {"type": "result", "timestamp": "x", "status": "success", "stats": {"total_tokens": 5}},
        {"type": "result"},
    ],
)
def test_a_result_of_another_tool_is_no_success(message: dict[str, object]) -> None:
    reader, events = feed(message)
    assert reader.ends.of_last_turn is None
    assert len(of(ev.AgentNoted, events)) == 1


def test_streams_that_break_off_leave_no_verdict() -> None:
    reader, events = read("auth_error")
    assert reader.ends.of_last_turn is None
    assert reader.ends.unrecoverable is not None
    assert reader.ends.unrecoverable.outcome == "auth"
    assert "authentication failed (401); retry 1 of 10" in of(ev.AgentNoted, events)[0].text
    reader, events = read("sigterm_bash")
    assert reader.ends.of_last_turn is None
    assert of(ev.ToolFinished, events)[0].summary == "exit 137"


def test_summaries_of_tools() -> None:
    _, events = read("ok")
    assert [(e.tool, e.summary.split(" ")[0]) for e in of(ev.ToolStarted, events)] == [
        ("Read", "calc.py"),
        ("Edit", "calc.py"),
        ("Bash", "python3"),
    ]
    finished = of(ev.ToolFinished, events)
    assert [e.summary for e in finished] == ["3 lines", "+1 −1", "3 lines"]
    assert [e.duration_s for e in finished] == [1.0, 1.0, 1.0]


KEPT = "Output too large (2.7MB). Full output saved to: /home/dev/tool-results/be013tjl0.txt"


@each_row(
    ("content", "error", "summary"),
    [
        (
            f"<persisted-output>\n{KEPT}\n\nPreview (first 2KB):\na\nb\n...\n",
            {},
            "2.7 MB of output",
        ),
        ([{"type": "text", "text": f"<persisted-output>\n{KEPT}\n"}], {}, "2.7 MB of output"),
        # Text that merely mentions it is counted as usual.
        (f"see:\n{KEPT}\n", {}, "2 lines"),
        ("<persisted-output>\nsomething else", {}, "2 lines"),
        (f"<persisted-output>\n{KEPT}\n", {"is_error": True}, KEPT),
    ],
)
def test_of_an_output_kept_in_a_file_the_size_is_told(
    content: object, error: dict[str, bool], summary: str
) -> None:
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make"}}
    block = {"type": "tool_result", "tool_use_id": "t", "content": content, **error}
    structured = {"stdout": "a\nb", "persistedOutputPath": "/x", "persistedOutputSize": 2868890}
    _, events = feed(
        {"type": "assistant", "message": {"content": [call]}},
        {"type": "user", "message": {"content": [block]}, "tool_use_result": structured},
    )
    assert of(ev.ToolFinished, events)[0].summary == summary


def test_a_created_file_counts_its_lines() -> None:
    result = {"type": "create", "content": "a\nb\n", "structuredPatch": []}
    block = {"type": "tool_result", "tool_use_id": "t", "content": "File created"}
    _, events = feed({"type": "user", "message": {"content": [block]}, "tool_use_result": result})
    assert of(ev.ToolFinished, events)[0].summary == "+2"


@each_row(
    ("source", "billing"),
    [
        ("none", "no API key"),
        ("ANTHROPIC_API_KEY", "API key"),
        ("apiKeyHelper", "API key (apiKeyHelper)"),
        ("something new", "something new"),
        (None, None),
    ],
)
def test_where_the_bill_goes(source: str | None, billing: str | None) -> None:
    _, events = feed({"type": "system", "subtype": "init", "apiKeySource": source})
    assert [event.billing for event in of(ev.SessionDescribed, events)] == [billing]


def test_context_is_that_of_the_main_thread() -> None:
    _, events = read("subagent")
    contexts = [event.context_tokens for event in of(ev.UsageReported, events)]
    # One of them is a heartbeat while the subagent works.
    assert contexts == [12408, 12408, 12408, 12690, 12690]
    nested = [event for event in of(ev.ToolStarted, events) if event.parent]
    assert [event.summary for event in nested] == ["ls"]


def test_the_context_question_tells_the_window() -> None:
    _, events = read("context_live")
    assert [event.context_window for event in of(ev.UsageReported, events)][:2] == [None, 1_000_000]
    assert of(ev.UsageReported, events)[0].context_tokens == 123_468


def test_the_window_of_one_model_is_not_that_of_another() -> None:
    def answered(model: str, message_id: str) -> dict[str, object]:
        usage = {"input_tokens": 50_000}
        message = {"id": message_id, "model": model, "content": [], "usage": usage}
        return {"type": "assistant", "message": message}

    reader = StreamReader(1, Path("/w"), Ledger(windows={"large": 1_000_000}))
    reported, asked = [], []
    for number, model in enumerate(("large", "small", "small", "large", "other")):
        line = json.dumps(answered(model, f"m{number}"))
        reported += [e.context_window for e in of(ev.UsageReported, reader.feed(line, 0, 0.0))]
        asked.append(reader.usage.window_unknown())
    assert reported == [1_000_000, 0, 0, 1_000_000, 0]
    assert asked == [False, True, False, False, True], "asked for once for each model"


def test_denied_tools_are_named_once() -> None:
    _, events = read("denied")
    denials = of(ev.ToolDenied, events)
    assert [denial.tool for denial in denials] == ["Bash"]
    assert of(ev.ToolFinished, events)[0].summary == "denied"


def test_guidance_is_delivered_then_acknowledged() -> None:
    _, events = read("inject")
    guidance = [e for e in events if isinstance(e, ev.GuidanceDelivered | ev.GuidanceAcknowledged)]
    assert [event.kind for event in guidance] == ["guidance_delivered", "guidance_acknowledged"]
    assert {event.guidance_id for event in guidance} == {"2463903b-c984-45fb-be0f-d331a2270314"}


def test_another_tools_stream_is_noted_not_raised() -> None:
    reader, events = read("codex_ok")
    assert not reader.heard
    assert 0 < len(events) <= 5
    assert all(isinstance(event, ev.AgentNoted) for event in events)


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
    assert not of(ev.AgentReported, events)
    assert not of(ev.PromiseMade, events)
    _, events = feed(said(f"{report}\n{promise}"))
    assert of(ev.AgentReported, events)[0].completion == 80
    assert len(of(ev.PromiseMade, events)) == 1


def test_costs_are_differences_of_totals() -> None:
    def result(session: str, total: object) -> dict[str, object]:
        return {"type": "result", "is_error": False, "session_id": session, "total_cost_usd": total}

    reader, _ = feed(result("a", 0.5), result("a", 0.75), result("b", 0.25))
    assert reader.usage.cost_usd == pytest.approx(1.0)
    # The second session's total restarted at zero.
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
    assert [event.context_tokens for event in of(ev.UsageReported, events)] == [11]


def test_compaction_sets_the_context() -> None:
    metadata = {"trigger": "auto", "pre_tokens": 90000, "post_tokens": 20000}
    boundary = {"type": "system", "subtype": "compact_boundary", "compact_metadata": metadata}
    _, events = feed(boundary)
    (reported,) = of(ev.ContextCompacted, events)
    assert (reported.before, reported.after, reported.trigger) == (90_000, 20_000, "auto")
    assert of(ev.UsageReported, events)[0].context_tokens == 20000


def test_long_and_hostile_text_is_cut_and_cleaned() -> None:
    secret = "sk-" + "a1" * 20
    padding = "x" * (SPOKEN - 30)
    _, events = feed(said(f"\x1b]0;owned\x07{padding} {secret} {'y' * 600_000}"))
    text = of(ev.AgentSpoke, events)[0].text
    assert len(text) <= SPOKEN
    assert "\x1b" not in text
    assert "sk-a1" not in text


def test_a_600_kb_line_is_an_edit_like_any_other() -> None:
    structured = {
        "originalFile": "x" * 600_000,
        "structuredPatch": [{"newStart": 89, "lines": ["+a", "+b", "-c", " d"]}],
    }
    block = {"type": "tool_result", "tool_use_id": "t", "content": "updated"}
    call = {"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": "/repo/a/b.py"}}
    _, events = feed(
        {"type": "assistant", "message": {"content": [call]}},
        {"type": "user", "message": {"content": [block]}, "tool_use_result": structured},
    )
    assert of(ev.ToolStarted, events)[0].summary == "a/b.py"
    finished = of(ev.ToolFinished, events)[0]
    assert (finished.summary, finished.last_line) == ("+2 −1", 91)


def test_broken_lines_are_said_once() -> None:
    _, events = feed("<html>", "not json", "[1, 2]", "[" * 100_000, "", "null", '{"type": 5}')
    assert [type(event) for event in events] == [ev.AgentNoted]


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


@FEWER
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
            assert ev.parse_event(event.model_copy(update={"seq": 1}).model_dump_json()).kind


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


LINES = [
    line
    for path in sorted(TRANSCRIPTS.glob("*.jsonl"))
    for line in path.read_text().splitlines()
    if len(line) < 8000
]


def mutations() -> st.SearchStrategy[str]:
    """A line of a captured stream: whole, truncated, doubled, or spliced with another."""
    line = st.sampled_from(LINES)
    cut = st.tuples(line, st.floats(0, 1)).map(lambda pair: pair[0][: int(len(pair[0]) * pair[1])])
    spliced = st.tuples(cut, cut).map("".join)
    renamed = st.tuples(line, st.sampled_from(LINES), st.sampled_from(FIELDS)).map(
        lambda parts: _with_field_of(*parts)
    )
    return line | cut | spliced | renamed | line.map(lambda text: text + text)


def _with_field_of(line: str, other: str, name: str) -> str:
    return json.dumps({**json.loads(line), name: json.loads(other).get(name)})


@given(st.lists(mutations(), max_size=25))
def test_any_mutation_of_a_stream_is_read_with_sane_totals(lines: list[str]) -> None:
    reader = StreamReader(1, ROOT)
    offset, started, tokens = 0, 0, 0
    for line in lines:
        for event in reader.feed(line, offset, float(offset)):
            stamped = event.model_copy(update={"seq": 1})
            assert ev.parse_event(stamped.model_dump_json()) == stamped
            started += isinstance(event, ev.ToolStarted)
            if isinstance(event, ev.UsageReported):
                assert event.tokens >= 0
                assert event.cost_usd is None or event.cost_usd >= 0
                tokens = max(tokens, event.tokens)
        offset += len(line) + 1
    assert reader.tools.calls == started
    assert tokens < 10_000_000
    ending = reader.ends.of_last_turn or reader.ends.at_exit(0, "", heard=reader.heard)
    assert (ending.reason == "") == (ending.outcome == "success")
    assert (ending.limit is not None) == (ending.outcome == "limited")


@given(st.sampled_from(sorted(TRANSCRIPTS.glob("*.jsonl"))), st.floats(0, 1))
def test_a_stream_that_breaks_off_anywhere_has_an_ending(path: Path, share: float) -> None:
    text = path.read_text()
    reader = StreamReader(1, ROOT)
    for number, line in enumerate(text[: int(len(text) * share)].splitlines()):
        reader.feed(line, 0, float(number))
    ending = reader.ends.of_last_turn or reader.ends.at_exit(143, "", heard=reader.heard)
    assert ending.outcome
    assert reader.usage.tokens >= 0


def test_no_key_is_told_as_a_subscription_only_where_that_is_known() -> None:
    """A user who is not signed in has no key either."""
    init = '{"type": "system", "subtype": "init", "apiKeySource": "none"}'
    window = '{"type": "rate_limit_event", "rate_limit_info": {"status": "allowed"}}'
    ledger = Ledger()
    reader = StreamReader(1, ROOT, ledger)
    events = [*reader.feed(init, 0, 0.0), *reader.feed(window, 0, 1.0), *reader.feed(init, 0, 2.0)]
    assert [e.billing for e in of(ev.SessionDescribed, events)] == ["no API key", "subscription"]
    later = StreamReader(2, ROOT, ledger).feed(init, 0, 0.0)
    assert [e.billing for e in of(ev.SessionDescribed, later)] == ["subscription"]
