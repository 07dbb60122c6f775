"""Notifications of Codex's app-server about a session, as unstamped events. Pure.

Malformed notifications never raise; unknown families are left to the caller. The caller supplies
the time, in seconds that never go back. Items of subagents have their thread as parent.

Codex reports totals per thread. These keep growing when the thread is resumed, so a session's usage
is a difference. Subagents have their own threads; only the main thread's context is reported.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from ralph_tui.adapters.agents.claims import speech_events
from ralph_tui.adapters.agents.codex import ends
from ralph_tui.adapters.agents.codex.ends import Windows
from ralph_tui.adapters.agents.codex.items import ToolItems, tool_of
from ralph_tui.adapters.agents.ends import FailedCall, SessionEnd, with_local_times
from ralph_tui.adapters.agents.reader import SessionReader, SessionUsage
from ralph_tui.events import ContextCompacted, Event, UsageReported
from ralph_tui.text.json_fields import as_count, as_map, as_text, content_text
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]


@dataclass
class Ledger:
    """Facts that the sessions of one run share."""

    threads: dict[str, str] = field(default_factory=dict)
    """Codex's thread ids, by our session ids; empty for a thread that has not answered."""
    totals: dict[str, int] = field(default_factory=dict)
    """Tokens of a thread, as last reported."""


class Usage(SessionUsage):
    """Usage of a session so far. Codex reports no cost."""

    def __init__(self, iteration: int, ledger: Ledger) -> None:
        super().__init__(iteration)
        self._ledger = ledger
        self._before: dict[str, int] = {}
        """Tokens of each thread before this session."""
        self._used: dict[str, int] = {}

    def add(self, thread: str, usage: Json, *, main: bool, in_turn: bool) -> UsageReported:
        """Handle ``thread/tokenUsage/updated``; before any turn, it is about earlier sessions."""
        total = _tokens(as_map(usage.get("total")))
        last = as_map(usage.get("last"))
        if thread not in self._before:
            known = self._ledger.totals.get(thread)
            first = total if not in_turn else max(0, total - _tokens(last))
            self._before[thread] = first if known is None else min(known, total)
        self._ledger.totals[thread] = total
        if _is_full_window(as_map(usage.get("total"))):
            self._before[thread] = total - self._used.get(thread, 0)
        self._used[thread] = max(0, total - self._before[thread])
        self.tokens = sum(self._used.values())
        if main:
            self.window = as_count(usage.get("modelContextWindow")) or self.window
            self.context = (self.window if _is_full_window(last) else _tokens(last)) or self.context
        return self.report()


def _is_full_window(usage: Json) -> bool:
    """True if the usage only reports a full window, and no tokens were used."""
    parts = [as_count(usage.get(name)) for name in ("inputTokens", "outputTokens")]
    return "inputTokens" in usage and _tokens(usage) > 0 and not any(parts)


def _tokens(usage: Json) -> int:
    return as_count(usage.get("totalTokens")) or (
        as_count(usage.get("inputTokens")) + as_count(usage.get("outputTokens"))
    )


IGNORED = (
    "item/agentMessage/delta", "item/reasoning/textDelta", "item/plan/delta", "turn/diff/updated",
    "thread/status/changed", "app/list/updated", "skills/changed", "remoteControl/status/changed",
)  # fmt: skip
"""Notifications to turn off, because they contain nothing new or are repeated in full later."""
_BEATS = frozenset(
    {"item/commandExecution/outputDelta", "item/reasoning/summaryTextDelta",
     "item/agentMessage/delta", "item/reasoning/summaryPartAdded", "item/reasoning/textDelta",
     "item/mcpToolCall/progress",
     "item/plan/delta", "item/fileChange/patchUpdated", "item/fileChange/outputDelta",
     "turn/plan/updated", "turn/diff/updated", "hook/started", "hook/completed"}
)  # fmt: skip
"""Heartbeats: they only show that a tool or the model is working."""
_FAMILIES = (
    "thread/", "turn/", "item/", "account/", "app/", "skills/", "mcpServer/", "remoteControl/",
    "fs/", "model/", "project/", "hook/", "process/", "command/", "externalAgentConfig/",
    "windows", "autoApprovalReview/", "fuzzyFileSearch/", "rawResponse", "serverRequest/",
    "codex/event/",
)  # fmt: skip
"""Prefixes of known methods. Methods that no other table lists are ignored."""


class CodexReader(SessionReader):
    """Reader of one session's notifications."""

    def __init__(self, iteration: int, root: Path, ledger: Ledger | None = None) -> None:
        super().__init__(iteration)
        self.thread = ""
        """The main thread's id, once it has begun."""
        self.turn = ""
        """The main thread's turn in progress; empty between turns."""
        self.end: SessionEnd | None = None
        """How the last turn ended."""
        self.signed_out = False
        """True if Codex reported that it needs a login and has none."""
        self.retrying: FailedCall | None = None
        """The failed call that the agent is retrying; None after any progress."""
        self.usage: Usage = Usage(iteration, ledger or Ledger())
        self.tools: ToolItems = ToolItems(iteration, str(root))
        self.windows = Windows()
        self._ended_turn = ""
        self._billing = ""
        self._clock = datetime.min.replace(tzinfo=UTC)

    def seek(self, offset: int, now: float, clock: datetime | None = None) -> None:
        """Set the next line's offset and time; `clock` is the time of day in the user's zone."""
        super().seek(offset, now)
        self._clock = clock or self._clock

    def take(self, method: str, params: Json) -> Iterable[Event] | None:
        """Return the events of a notification, or None for an unknown family."""
        reader = self._READERS.get(method)
        if reader is not None:
            return reader(self, params)
        if method in _BEATS:
            self.retrying = None
            return self._beats()
        return [] if method.startswith(_FAMILIES) else None

    # -- the session -----------------------------------------------------------------------------

    def began(self, result: Json, version: str) -> list[Event]:
        """Handle the answer to ``thread/start`` or ``thread/resume``."""
        self.thread = as_text(as_map(result.get("thread")).get("id"))
        self.tools.work_in(as_text(result.get("cwd")))
        mode = as_text(as_map(result.get("sandbox")).get("type"))
        policy = as_text(result.get("approvalPolicy"))
        return self._describe(
            model=shorten(as_text(result.get("model"))) or None,
            permission_mode=shorten(", ".join(filter(None, (mode, policy)))) or None,
            version=shorten(version) or None,
            billing=self._billing or None,
        )

    def account(self, result: Json) -> list[Event]:
        """Handle the answer to ``account/read``, which shows how the account is billed."""
        kind = as_text(as_map(result.get("account")).get("type"))
        words = {"apiKey": "API key", "chatgpt": "subscription"}.get(kind, kind)
        self._billing = shorten(words, 80)
        self.signed_out = not kind and result.get("requiresOpenaiAuth") is True
        return self._describe(billing=self._billing) if self.thread and self._billing else []

    def turn_began(self, turn: object) -> None:
        """Record the main thread's turn, unless its end has already been reported."""
        number = as_text(as_map(turn).get("id"))
        if number and number == self._ended_turn:
            return
        self.turn = number or self.turn
        self.end = None

    def closed(self) -> list[Event]:
        return self.tools.ended()

    # -- notifications ---------------------------------------------------------------------------

    def _turn_started(self, params: Json) -> list[Event]:
        if self._is_main(params):
            self.turn_began(params.get("turn"))
        return []

    def _turn_completed(self, params: Json) -> list[Event]:
        if not self._is_main(params):
            return []
        turn = as_map(params.get("turn"))
        self._ended_turn, self.turn = as_text(turn.get("id")), ""
        self.turns += 1
        self.retrying = None
        match as_text(turn.get("status")):
            case "completed":
                self.end = SessionEnd("success")
            case "interrupted":
                self.end = SessionEnd("interrupted", "The agent was interrupted.")
            case _:
                self.end = self.windows.end(ends.failed(as_map(turn.get("error"))), self._clock)
        return []

    def _error(self, params: Json) -> list[Event]:
        error = as_map(params.get("error"))
        if params.get("willRetry") is True:
            call = ends.failed(error)
            if self._is_main(params):
                self.retrying = call
            return [self._note(ends.retried(error, call), "warn", service=call.trouble)]
        words = as_text(error.get("message")).strip()
        return [self._note(with_local_times(words), "error")] if words else []

    def _item_started(self, params: Json) -> list[Event]:
        self.retrying = None
        item = as_map(params.get("item"))
        if as_text(item.get("type")) == "userMessage":
            return self._on_guidance(item)
        if tool_of(item):
            return self.tools.started(item, self.parent_of(params))
        return self._beats()

    def _item_completed(self, params: Json) -> list[Event]:
        self.retrying = None
        item, parent = as_map(params.get("item")), self.parent_of(params)
        match as_text(item.get("type")):
            case "agentMessage" | "plan":
                return speech_events(
                    as_text(item.get("text")), self.iteration, self._offset, parent
                )
            case "userMessage":
                return self._on_guidance(item)
            case "contextCompaction" if parent is None:
                usage, k = self.usage, self.iteration
                window, offset = usage.window, self._offset
                return [
                    ContextCompacted(
                        iteration=k, before=usage.context, window=window, offset=offset
                    )
                ]
            case _:
                return self.tools.finished(item, parent)

    def _on_guidance(self, item: Json) -> list[Event]:
        """Acknowledge guidance that the model has received."""
        guidance_id = shorten(as_text(item.get("clientId")))
        if guidance_id in self.receipts.awaited:
            return self.receipts.record(guidance_id, "started")
        return [] if guidance_id else self.receipts.repeated(content_text(item.get("content")))

    def _used(self, params: Json) -> list[Event]:
        thread, usage = as_text(params.get("threadId")), as_map(params.get("tokenUsage"))
        in_turn = bool(self.turn) or bool(self.turns)
        return [self.usage.add(thread, usage, main=self._is_main(params), in_turn=in_turn)]

    def _limits(self, params: Json) -> list[Event]:
        near = self.windows.take(as_map(params.get("rateLimits")))
        events: list[Event] = [self._note(sentence, "warn") for sentence in near]
        return events + (self._describe(billing="subscription") if self.windows.known else [])

    def _on_rerouted(self, params: Json) -> list[Event]:
        model = shorten(as_text(params.get("toModel")))
        if not model or not self._is_main(params):
            return []
        note = self._note(f"The agent switched to another model: {model}", "warn")
        return [note, *self._describe(model=model)]

    def _server(self, params: Json) -> list[Event]:
        if as_text(params.get("status")) != "failed":
            return []
        name, why = as_text(params.get("name")), as_text(params.get("error"))
        return [self._note(f"The MCP server {name} did not start{': ' * bool(why)}{why}", "warn")]

    def _on_warning(self, params: Json) -> list[Event]:
        texts = (as_text(params.get(name)) for name in ("message", "summary"))
        return [self._note(text) for text in texts if text.strip()]

    # -- shared helpers --------------------------------------------------------------------------

    def _is_main(self, params: Json) -> bool:
        return as_text(params.get("threadId")) in ("", self.thread)

    def parent_of(self, params: Json) -> str | None:
        """Return the subagent's thread, or None for the main thread."""
        return None if self._is_main(params) else shorten(as_text(params.get("threadId")))

    _READERS: Mapping[str, Callable[["CodexReader", Json], list[Event]]] = {
        "turn/started": _turn_started,
        "turn/completed": _turn_completed,
        "error": _error,
        "item/started": _item_started,
        "item/completed": _item_completed,
        "thread/tokenUsage/updated": _used,
        "account/rateLimits/updated": _limits,
        "model/rerouted": _on_rerouted,
        "mcpServer/startupStatus/updated": _server,
        "warning": _on_warning,
        "guardianWarning": _on_warning,
        "configWarning": _on_warning,
        "deprecationNotice": _on_warning,
        "modelProvider/authRecoveryStarted": _on_warning,
        "modelProvider/authRecoveryCompleted": _on_warning,
    }
