"""The stub's events as the real binary writes them, and the sums its results carry."""

import json
import sys
import time
import uuid
from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]

PRICES = {
    "sonnet-5-5": (2.0, 0.1, 10.0),
    "opus-5-5": (4.0, 0.2, 20.0),
    "opus": (5.0, 0.5, 25.0),
    "haiku": (1.0, 0.1, 5.0),
}
ACCEPTED = {"permission_decision": {"decision": "accept", "source": "config"}}
OTHER_PRICE = (3.0, 0.3, 15.0)
"""USD per million tokens: input, cache read, output; older versions do not know newer models."""
ALIASES = {"sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5", "haiku": "claude-haiku-5-5"}
TOOLS = ("Task", "Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "WebFetch", "Write")
CAPABILITIES = ("interrupt_receipt_v1", "interrupt_cancel_queued_v1", "msg_lifecycle_v1")


def new_id(prefix: str) -> str:
    """A fresh identifier of the service's kind."""
    return f"{prefix}_{uuid.uuid4().hex[:20]}"


@dataclass
class Sums:
    """Tokens of one model."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    def add(self, input_tokens: int, cached_tokens: int, output_tokens: int) -> None:
        """Count one call."""
        self.input_tokens += input_tokens
        self.cached_tokens += cached_tokens
        self.output_tokens += output_tokens

    def cost(self, model: str, *, modern: bool) -> float:
        """In USD."""
        known = (at for name, at in PRICES.items() if name in model and modern)
        prices = next(known, OTHER_PRICE)
        amounts = (self.input_tokens, self.cached_tokens, self.output_tokens)
        return sum(price * amount for price, amount in zip(prices, amounts, strict=True)) / 1e6

    def usage(self) -> Json:
        """Usage in the service's format."""
        return {
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
        }


@dataclass
class Wire:
    """Writes events of one session; `modern` versions add keys."""

    session_id: str
    cwd: str
    model: str
    version: str
    permission_mode: str
    key_source: str
    window: int
    modern: bool = True
    results: int = 0
    totals: dict[str, Sums] = field(default_factory=dict)
    """Per model, over the session."""
    context: int = 0
    """Tokens of the last answer's context."""
    only_results: bool = False
    """True if the output is results only (``--output-format json``)."""
    paid_before: float = 0.0
    """USD of the session before it was resumed."""
    conversation: list[Json] = field(default_factory=list)
    """Messages sent to the model: the user's, its own, and tool results."""

    def put_bare(self, kind: str, **fields: object) -> None:
        """One line of output that belongs to no session."""
        put_line({"type": kind, **fields})

    def put(self, kind: str, subtype: str = "", **fields: object) -> None:
        """One line of output."""
        if self.only_results:
            return
        event: Json = {"type": kind, **({"subtype": subtype} if subtype else {}), **fields}
        event |= {"session_id": self.session_id, "uuid": str(uuid.uuid4())}
        put_line(event)

    def init(self) -> None:
        """The beginning of a turn."""
        self.put(
            "system",
            "init",
            cwd=self.cwd,
            tools=list(TOOLS),
            mcp_servers=[],
            model=self.model,
            permissionMode=self.permission_mode,
            slash_commands=["compact", "context"],
            apiKeySource=self.key_source,
            claude_code_version=self.version,
            output_style="default",
            agents=["general-purpose"],
            **({"capabilities": list(CAPABILITIES)} if self.modern else {}),
        )

    def assistant(self, block: Json, message_id: str, usage: Json, about: Json) -> None:
        """Write one block of an answer; `about` describes a subagent."""
        if not about:
            self.conversation.append({"role": "assistant", "content": [block]})
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [block],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {**usage, "output_tokens": 1},
        }
        self.put(
            "assistant",
            message=message,
            **{"parent_tool_use_id": None, **about, "timestamp": now()},
            request_id=new_id("req"),
        )

    def synthetic(self, text: str, **about: object) -> None:
        """Write the program's own message in the model's place."""
        message = {
            "id": str(uuid.uuid4()),
            "type": "message",
            "role": "assistant",
            "model": "<synthetic>",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "stop_sequence",
            "stop_sequence": "",
            "usage": Sums().usage(),
        }
        fields: Json = {"parent_tool_use_id": None, "timestamp": now(), **about}
        self.put("assistant", message=message, **fields)

    def tool_result(self, tool_id: str, text: object, structured: object, about: Json) -> None:
        """Write a tool's result; `about` may hold is_error, a parent and the permission."""
        about = dict(about)
        block: Json = {"type": "tool_result", "content": text, "tool_use_id": tool_id}
        is_error = about.pop("is_error", None)
        if is_error is not None:
            block["is_error"] = is_error
        if "parent_tool_use_id" not in about:
            self.conversation.append({"role": "user", "content": [block]})
        meta = about.pop("meta", ACCEPTED)
        extra: Json = {"tool_result_meta": [{"id": tool_id, **meta}]} if self.modern else {}
        if structured is not None:
            extra["tool_use_result"] = structured
        self.put(
            "user",
            message={"role": "user", "content": [block]},
            **{"parent_tool_use_id": None, **about},
            timestamp=now(),
            **extra,
        )

    def count(self, tokens: tuple[int, int, int]) -> None:
        """Count a paid call to the service."""
        self.totals.setdefault(self.model, Sums()).add(*tokens)

    def snapshot(self) -> dict[str, Sums]:
        """The totals so far."""
        return {name: replace(sums) for name, sums in self.totals.items()}

    def restore(self, counted: dict[str, Sums]) -> None:
        """Count again from there."""
        self.totals = counted

    def cost(self) -> float:
        """USD of the whole session, those before it was resumed included."""
        return self.paid_before + sum(
            sums.cost(name, modern=self.modern) for name, sums in self.totals.items()
        )

    def bad_resume(self, text: str) -> None:
        """A session that cannot be resumed: a result, and nothing before it."""
        self.result(
            Sums(),
            subtype="error_during_execution",
            is_error=True,
            num_turns=0,
            stop_reason=None,
            permission_denials=[],
            errors=[text],
        )

    def result(self, turn: Sums, **fields: object) -> None:
        """The end of a turn; its key order is not that of other events."""
        model_usage = {
            name: {
                "inputTokens": sums.input_tokens,
                "outputTokens": sums.output_tokens,
                "cacheReadInputTokens": sums.cached_tokens,
                "cacheCreationInputTokens": 0,
                "webSearchRequests": 0,
                "costUSD": sums.cost(name, modern=self.modern),
                "contextWindow": self.window,
                "maxOutputTokens": 128_000,
            }
            for name, sums in self.totals.items()
        }
        put_line(
            {
                "duration_api_ms": 10,
                "session_id": self.session_id,
                "total_cost_usd": self.cost(),
                "usage": turn.usage(),
                "modelUsage": model_usage,
                **fields,
                "type": "result",
                "duration_ms": 20,
                "uuid": str(uuid.uuid4()),
                **({"result_index": self.results} if self.modern else {}),
            }
        )
        self.results += 1


def put_line(event: Json) -> None:
    """One line of output; a reader that went away ends the stub silently."""
    try:
        sys.stdout.write(json.dumps(event, separators=(",", ":")) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise SystemExit(141) from None


def now() -> str:
    """The time as events carry it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
