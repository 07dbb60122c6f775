"""Updates between a prompt and its answer, as unstamped events. Pure.

Malformed updates never raise: unknown kinds are reported once and stay in the transcript. Nothing
is reported before the first prompt, because a resumed session replays its past. The caller supplies
the time, in seconds that never go back.

Unreported usage stays unknown. A cost of zero counts as unknown too, because agents report zero for
services whose prices they do not know.
"""

from collections.abc import Callable, Mapping

from ralph_tui.adapters.agents.acp.quirks import Quirks
from ralph_tui.adapters.agents.acp.tools import ToolCalls
from ralph_tui.adapters.agents.claims import speech_events
from ralph_tui.adapters.agents.ends import classify
from ralph_tui.adapters.agents.reader import SessionReader, SessionUsage
from ralph_tui.events import Event, UsageReported
from ralph_tui.text.json_fields import as_amount, as_count, as_list, as_map, as_text
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]

_PARTS = ("inputTokens", "outputTokens", "cachedReadTokens", "cachedWriteTokens")
_QUOTA_PARTS = ("input_tokens", "output_tokens")


class Usage(SessionUsage):
    """Usage from ``usage_update`` and from answers to prompts.

    The reported cost includes `before_usd`, the cost of the session before it was resumed.
    """

    def __init__(self, iteration: int, before_usd: float = 0.0) -> None:
        super().__init__(iteration)
        self.total_usd = before_usd
        """Total cost of the session in dollars."""
        self._before_usd = before_usd

    def update(self, update: Json) -> UsageReported:
        """Update the context window and the cost from a ``usage_update``."""
        self.context = as_count(update.get("used")) or self.context
        self.window = as_count(update.get("size")) or self.window
        cost = as_map(update.get("cost"))
        amount = as_amount(cost.get("amount"))
        if amount and as_text(cost.get("currency")) in ("", "USD"):
            if amount < self._before_usd:  # the agent restarted its count
                self._before_usd = 0.0
            self.total_usd = amount
            self.cost_usd = amount - self._before_usd
        return self.report()

    def turn(self, result: Json, *, partial: bool) -> UsageReported:
        """Add the usage in a prompt's answer; `partial` is True if it covers only the last call."""
        self.partial = partial
        usage = as_map(result.get("usage"))
        tokens = sum(as_count(usage.get(part)) for part in _PARTS)
        tokens = tokens or as_count(usage.get("totalTokens"))
        if not tokens:
            quota = as_map(as_map(as_map(result.get("_meta")).get("quota")).get("token_count"))
            tokens = sum(as_count(quota.get(part)) for part in _QUOTA_PARTS)
        self.tokens += tokens
        return self.report()


LONGEST_TEXT = 1 << 20
"""Maximum length of a joined text in characters; longer ones are reported in parts."""
_SILENT = frozenset(
    {"user_message_chunk", "available_commands_update", "current_mode_update",
     "config_option_update"}
)  # fmt: skip
"""Kinds of updates that other events report better, or that contain nothing new."""


class UpdateReader(SessionReader):
    """Reader of one session's updates."""

    def __init__(
        self, iteration: int, root: str, quirks: Quirks, *, before_usd: float = 0.0
    ) -> None:
        super().__init__(iteration)
        self.quirks = quirks
        self.tools: ToolCalls = ToolCalls(iteration, root, quirks)
        self.usage: Usage = Usage(iteration, before_usd)
        self.live = False
        """True once the first prompt has been sent."""
        self.answered = False
        """True once the model has produced output."""
        self.last_text = ""
        """The last complete text of this turn."""
        self.acts = 0
        """Number of messages and tool calls from the agent so far."""
        self.failing: Json = {}
        """The last failed call to the service, as reported; empty again after any progress."""
        self.failed = False
        """True if the agent reported that the turn failed."""
        self._pieces: list[str] = []
        self._length = 0
        self._message_id = ""
        self._text_offset = 0
        self._plan = ""

    def take(self, update: Json) -> list[Event]:
        """Return the events of one update."""
        kind = as_text(update.get("sessionUpdate"))
        self.answered = self.answered or (self.live and kind not in _SILENT)
        if kind in _SILENT:
            return []
        reader = self._READERS.get(kind)
        if reader is not None:
            return reader(self, update) if self.live or reader in self._ALWAYS else []
        named = shorten(kind, 80) or "one without a name"
        return self._report_once(kind, f"Unknown kind of update, kept in the transcript: {named}")

    def asked(self, piece: Json) -> list[Event]:
        """Handle a permission request, which may be the first mention of its tool call."""
        return [*self.end_text(), *self.tools.take(piece, asked=True)]

    def begin_turn(self) -> None:
        """Prepare for a new turn."""
        self.live = True
        self._beat = self._now
        self.last_text = ""
        self.failing, self.failed = {}, False

    def turn_ended(self, result: Json, *, counted: bool = True) -> list[Event]:
        """End a turn; `counted` is False if another answer reports the same usage."""
        events = [*self.end_text(), *self.tools.turn_ended()]
        if counted:
            events.append(self.usage.turn(result, partial=self.quirks.usage == "last call"))
        return events

    def closed(self) -> list[Event]:
        return self.turn_ended({}, counted=False)

    def end_text(self) -> list[Event]:
        """End the current text and return its events."""
        text, offset = "".join(self._pieces), self._text_offset
        self._pieces, self._length = [], 0
        if not text.strip():
            return []
        self.last_text = text
        return speech_events(text, self.iteration, offset)

    def _on_text(self, update: Json) -> list[Event]:
        text = as_text(as_map(update.get("content")).get("text"))
        if not text or text.startswith(self.quirks.noise):
            return []
        message_id = as_text(update.get("messageId"))
        another = message_id != self._message_id or self._length > LONGEST_TEXT
        events = self.end_text() if another else []
        if not self._pieces:
            self._text_offset = self._offset
        self._message_id = message_id
        self._pieces.append(text)
        self._length += len(text)
        self.acts += 1
        if not self.failed:
            self.failing = {}
        return events + self._beats()

    def _on_thought(self, _: Json) -> list[Event]:
        return self.end_text() + self._beats()

    def _tool(self, update: Json) -> list[Event]:
        said, counted = self.end_text(), self.tools.calls
        events = self.tools.take(update)
        if self.tools.calls > counted:
            self.acts += 1
            self.failing = {}
        return said + (events or self._beats())

    def _on_usage(self, update: Json) -> list[Event]:
        self._beat = self._now
        return [self.usage.update(update)]

    def _on_plan(self, update: Json) -> list[Event]:
        entries = [as_map(entry) for entry in as_list(update.get("entries"))]
        if not entries:
            return []
        done = sum(entry.get("status") == "completed" for entry in entries)
        now = next((e for e in entries if e.get("status") == "in_progress"), {})
        doing = shorten(as_text(now.get("content")).strip())
        plan = f"Plan: {done} of {len(entries)} done{f'; now: {doing}' if doing else ''}"
        before, self._plan = self._plan, plan
        return [] if plan == before else [self._note(plan)]

    def _session(self, update: Json) -> list[Event]:
        """Handle a session update, where some agents report failed calls to their service."""
        events: list[Event] = []
        codex = as_map(as_map(update.get("_meta")).get("codex"))
        if as_map(codex.get("threadStatus")).get("type") == "systemError":
            # From here on, the text is the service's refusal.
            events += self.end_text()
            self.failed = True
        error = as_map(codex.get("error"))
        if not error:
            return events
        before, self.failing = self.failing, error
        again = before.get("codexErrorInfo") == error.get("codexErrorInfo")
        if error.get("willRetry") is True and not again:
            said = as_text(error.get("additionalDetails")) or as_text(error.get("message"))
            info = error.get("codexErrorInfo")
            name, about = next(iter(as_map(info).items()), (as_text(info), None))
            call = classify(name, as_map(about).get("httpStatusCode"), said)
            text = f"The service refused ({shorten(said)}); the agent is retrying"
            events.append(self._note(text, "warn", service=call.trouble))
        return events

    _ALWAYS = (_session,)
    """Readers that also handle updates before the first prompt."""
    _READERS: Mapping[str, Callable[["UpdateReader", Json], list[Event]]] = {
        "agent_message_chunk": _on_text,
        "agent_thought_chunk": _on_thought,
        "tool_call": _tool,
        "tool_call_update": _tool,
        "usage_update": _on_usage,
        "plan": _on_plan,
        "session_info_update": _session,
    }
