"""Endings of the stub's turns, and its messages in place of the model or the user."""

import json

from tests.doubles.scenario import Answer, ToolUse
from tests.doubles.turns import CallFailedError, LimitedError, Message, Turn
from tests.doubles.wire import Json, Wire

SUMMARY_TOKENS = (12, 12_400, 10)
"""Tokens of the call for a summary, as in the scripted service's answer."""


def fold(wire: Wire, message: Message, *, replay: bool) -> None:
    """The user's words, repeated."""
    if replay:
        wire.put(
            "user",
            message={"role": "user", "content": message.text},
            parent_tool_use_id=None,
            isReplay=True,
        )


def summarise(wire: Wire, turn: Turn, tokens: int) -> None:
    """The context is compacted to so many tokens."""
    wire.put("system", "status", status="compacting")
    wire.put("system", "status", status=None, compact_result="success")
    wire.put(
        "system",
        "compact_boundary",
        compact_metadata={"trigger": "auto", "pre_tokens": wire.context, "post_tokens": tokens},
    )
    _own_words(wire, turn, "This session is being continued from a previous conversation.")
    wire.count(SUMMARY_TOKENS)
    wire.context = tokens


def refuse(wire: Wire, turn: Turn, answer: Answer) -> None:
    """The model refused: newer versions ask once more, older ones fail."""
    if wire.modern:
        text = "safeguards stopped the response above · continuing once with that noted"
        wire.put("system", "informational", content=text, level="notice")
        _own_words(wire, turn, "Your response above was stopped by a safety classifier.")
        return
    wire.put("system", "model_refusal_no_fallback", original_model=wire.model, content="")
    raise CallFailedError(
        "API Error: Claude Code is unable to respond to this request, which appears to violate our "
        "Usage Policy.",
        "invalid_request",
        None,
        reason="completed",
        stop_reason=answer.stop_reason,
    )


def structured(wire: Wire, turn: Turn, tool: ToolUse, tool_id: str) -> None:
    """An answer of the form that was wanted ends the turn."""
    said = "Structured output provided successfully"
    turn.user_events += 1
    wire.tool_result(tool_id, said, said, {})
    turn.last_text = json.dumps(tool.input, separators=(",", ":"))
    raise LimitedError("success", "completed", structured_output=tool.input)


def _own_words(wire: Wire, turn: Turn, text: str) -> None:
    turn.user_events += 1
    content = [{"type": "text", "text": text}]
    wire.put(
        "user",
        message={"role": "user", "content": content},
        parent_tool_use_id=None,
        isSynthetic=True,
    )


def finish(wire: Wire, turn: Turn, subtype: str, reason: str | None, about: Json) -> int:
    """The result of a turn; the exit code if it was the last."""
    about = dict(about)
    if reason == "api_error" and not wire.modern:
        reason = "completed"
    is_error = bool(about.pop("is_error", subtype != "success"))
    if subtype == "success":
        about = {"result": turn.last_text, "api_error_status": None, **about}
    if reason is not None:
        about["terminal_reason"] = reason
    wire.result(
        turn.sums,
        subtype=subtype,
        is_error=is_error,
        num_turns=1 + turn.user_events,
        stop_reason=turn.stop_reason,
        permission_denials=turn.denials,
        **about,
    )
    return int(is_error)
