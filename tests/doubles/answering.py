"""Answers and refusals of the Messages service, whole or as events."""

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from tests.doubles.scenario import Answer, Json

PIECE = 2000
"""Characters of one delta."""

REFUSALS = {
    "400": (400, "invalid_request_error", "broken request"),
    "401": (401, "authentication_error", "invalid x-api-key"),
    "403": (403, "permission_error", "not allowed"),
    "404": (404, "not_found_error", "model: not found"),
    "429": (429, "rate_limit_error", "This request would exceed your rate limit."),
    "500": (500, "api_error", "Internal server error"),
    "529": (529, "overloaded_error", "Overloaded"),
    "overflow": (
        400,
        "invalid_request_error",
        "prompt is too long: 1204001 tokens > 1000000 maximum",
    ),
}


def new_id(prefix: str) -> str:
    """A fresh identifier."""
    return f"{prefix}_{uuid.uuid4().hex[:20]}"


def refusal(kind: str, text: str) -> Json:
    """The body of an error."""
    return {"type": "error", "error": {"type": kind, "message": text}, "request_id": new_id("req")}


def limit_headers(resets_at: int) -> dict[str, str]:
    """The headers of a usage limit that is reached."""
    prefix = "anthropic-ratelimit-unified"
    return {
        "retry-after": str(max(1, resets_at - int(time.time()))),
        f"{prefix}-status": "rejected",
        f"{prefix}-reset": str(resets_at),
        f"{prefix}-representative-claim": "five_hour",
        f"{prefix}-5h-status": "rejected",
        f"{prefix}-5h-reset": str(resets_at),
        f"{prefix}-5h-utilization": "1.0",
        f"{prefix}-overage-status": "rejected",
    }


def text_of(message: Json) -> str:
    """All text of a message."""
    content: Any = message.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content if block.get("type") == "text")


def _blocks(answer: Answer) -> list[Json]:
    blocks: list[Json] = [{"type": "text", "text": answer.text}] if answer.text else []
    return blocks + [
        {"type": "tool_use", "id": new_id("toolu"), "name": tool.name, "input": tool.input}
        for tool in answer.tools
    ]


def _usage(answer: Answer, output_tokens: int) -> Json:
    return {
        "input_tokens": answer.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": answer.cached_tokens,
        "output_tokens": output_tokens,
        "service_tier": "standard",
    }


def _stop_reason(answer: Answer) -> str:
    return answer.stop_reason or ("tool_use" if answer.tools else "end_turn")


def message(answer: Answer, model: str, content: Sequence[Json] | None = None) -> Json:
    """A whole message."""
    return {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _blocks(answer) if content is None else content,
        "stop_reason": _stop_reason(answer) if content is None else None,
        "stop_sequence": None,
        "usage": _usage(answer, answer.output_tokens if content is None else 1),
    }


def events(answer: Answer, model: str) -> Iterator[Json | None]:
    """A message as events; None stands before the first block, where a stall comes."""
    yield {"type": "message_start", "message": message(answer, model, content=[])}
    yield None
    if answer.fault:
        yield {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        return
    for index, block in enumerate(_blocks(answer)):
        yield from _block_events(index, block)
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": _stop_reason(answer), "stop_sequence": None},
        "usage": {"output_tokens": answer.output_tokens},
    }
    yield {"type": "message_stop"}


def _block_events(index: int, block: Json) -> Iterator[Json]:
    if block["type"] == "text":
        start, whole, kind, key = {**block, "text": ""}, block["text"], "text_delta", "text"
    else:
        start, whole = {**block, "input": {}}, json.dumps(block["input"])
        kind, key = "input_json_delta", "partial_json"
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for at in range(0, len(whole), PIECE):
        delta = {"type": kind, key: whole[at : at + PIECE]}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}
