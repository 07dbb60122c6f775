"""The stub's answers to requests that are meant for the program, not for its model."""

from collections.abc import Mapping, Sequence

from tests.doubles.wire import ALIASES, Json, Wire

RESERVE = 33_000
"""Tokens of the window that are kept for a summary."""


def respond(
    wire: Wire, request_id: object, request: Mapping[str, object], queued: Sequence[str]
) -> None:
    """One answer; `queued` are messages that wait."""
    subtype = str(request.get("subtype"))
    answer = _answer(wire, subtype, request, queued)
    about: Json = {"subtype": "success", "request_id": request_id, "response": answer}
    if answer is None:
        about = {
            "subtype": "error",
            "request_id": request_id,
            "error": f"Unsupported control request subtype: {subtype}",
            "error_code": "unsupported_request",
        }
    wire.put_bare("control_response", response=about)


def _answer(
    wire: Wire, subtype: str, request: Mapping[str, object], queued: Sequence[str]
) -> Json | None:
    if subtype == "get_context_usage":
        return {
            "categories": [{"id": "messages", "name": "Messages", "tokens": wire.context}],
            "totalTokens": wire.context,
            "maxTokens": wire.window,
            "rawMaxTokens": wire.window,
            "percentage": round(100 * wire.context / wire.window),
            "autoCompactThreshold": wire.window - RESERVE,
            "model": wire.model,
        }
    if subtype == "set_model":
        model = str(request.get("model") or wire.model)
        wire.model = ALIASES.get(model, model)
        return {}
    if subtype == "set_permission_mode":
        wire.permission_mode = str(request.get("mode"))
        wire.put("system", "status", status=None, permissionMode=wire.permission_mode)
        return {"mode": wire.permission_mode}
    if subtype == "interrupt":
        return {"still_queued": list(queued)} if wire.modern else {}
    return {} if subtype in ("initialize", "mcp_status", "get_settings") else None
