"""Whatever an agent sends in an update, a request or an answer, reading it never raises."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.agents.acp import ends, opening
from ralph_tui.adapters.agents.acp.approvals import approval_of
from ralph_tui.adapters.agents.acp.quirks import ANY, KNOWN, Quirks
from ralph_tui.adapters.agents.acp.updates import UpdateReader
from ralph_tui.adapters.agents.permissions import Permits
from ralph_tui.adapters.agents.rpc.messages import Failure, Request
from ralph_tui.events import ToolFinished, ToolStarted
from ralph_tui.ports.agents import Permissions
from tests.examples import HALF
from tests.unit.adapters.agents.acp.recorded import ROOT

NOW = datetime(2026, 11, 21, tzinfo=UTC)
WORDS = [
    "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan",
    "usage_update", "session_info_update", "user_message_chunk", "nonsense", "a", "b", "text",
    "completed", "failed", "in_progress", "pending", "execute", "edit", "fetch", "other", "read",
    "allow_once", "reject_once", "end_turn", "cancelled", "systemError", "diff", "content",
    "rm -rf /", "/etc/passwd", "../x", "\0", "USD", "model",
]  # fmt: skip
NAMES = [
    "sessionUpdate", "toolCallId", "status", "kind", "title", "name", "rawInput", "rawOutput",
    "content", "locations", "path", "text", "type", "messageId", "used", "size", "cost", "amount",
    "currency", "entries", "_meta", "codex", "error", "codexErrorInfo", "threadStatus", "willRetry",
    "httpStatusCode", "command", "url", "oldText", "newText", "options", "optionId", "usage",
    "quota", "token_count", "inputTokens", "stopReason", "exit", "metadata", "configOptions",
    "category", "modes", "availableModes", "id", "agentInfo", "agentCapabilities", "toolCall",
]  # fmt: skip
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text()
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=15,
)
objects = st.dictionaries(st.sampled_from(NAMES), values, max_size=8)
rows = st.sampled_from([ANY, *KNOWN])


@HALF
@given(
    st.lists(st.tuples(st.sampled_from(["update", "ask", "answer"]), objects), max_size=12), rows
)
def test_updates_in_any_order(messages: list[tuple[str, dict[str, Any]]], quirks: Quirks) -> None:
    reader, events = UpdateReader(1, ROOT, quirks), []
    reader.begin_turn()
    permits = Permits(Permissions("edits"), "true", Path(ROOT))
    for number, (what, fields) in enumerate(messages):
        reader.seek(number, float(number))
        if what == "update":
            events += reader.take(fields)
        elif what == "ask":
            events += reader.asked(fields)
            use = reader.tools.use(str(fields.get("toolCallId")))
            if use is not None:
                request = Request(number, "session/request_permission", fields)
                approval = approval_of(request, use, quirks, permits, [ROOT])
                assert approval.no
                assert approval.rule is not None
                assert approval.denied(1, ROOT).message
                assert approval.event(1, "r").input is not None
                assert approval.permitted(permits) in (True, False)
        else:
            events += reader.turn_ended(fields)
            ends.of_result(fields, reader, quirks, NOW)
    events += reader.turn_ended({})
    began = [event.tool_id for event in events if isinstance(event, ToolStarted)]
    over = [event.tool_id for event in events if isinstance(event, ToolFinished)]
    assert sorted(began) == sorted(over)


@given(st.integers(), st.text() | st.sampled_from(WORDS), values, rows)
def test_refused_requests(code: int, message: str, data: object, quirks: Quirks) -> None:
    end = ends.of_failure(Failure(code, message, data), quirks, NOW)
    assert end.outcome != "success"
    assert end.reason
    assert "\n" not in end.reason


@given(values, values, rows, st.sampled_from(["edits", "ask", "skip"]))
def test_openings(answer: object, session: object, quirks: Quirks, mode: str) -> None:
    opening.capabilities(answer)
    opening.settings("s", session, quirks, mode, "a-model")
    opening.new_session_model(session)
    opening.new_session_mode(session)
