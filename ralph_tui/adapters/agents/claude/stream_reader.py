"""The stream-json of coding agents, line by line, as unstamped events. Pure.

Malformed lines never raise: broken lines and unknown kinds are reported once and stay in the
transcript. The caller supplies the time, in seconds that never go back.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from ralph_tui.adapters.agents.claims import speech_events
from ralph_tui.adapters.agents.claude import notices
from ralph_tui.adapters.agents.claude.ends import EndTracker
from ralph_tui.adapters.agents.claude.notices import BackgroundTasks, Notice
from ralph_tui.adapters.agents.claude.requests import Requests
from ralph_tui.adapters.agents.claude.tool_calls import ToolCalls
from ralph_tui.adapters.agents.claude.usage import Ledger, Usage
from ralph_tui.adapters.agents.ends import classify
from ralph_tui.adapters.agents.reader import SessionReader
from ralph_tui.events import AgentAsked, Event
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.json_fields import as_count, as_list, as_map, as_text, content_text
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]

_BEATS = frozenset(
    {"stream_event", "tool_progress", "system/thinking_tokens", "system/task_progress",
     "system/hook_started", "system/hook_progress", "system/status"}
)  # fmt: skip
"""Heartbeats: they only show that a tool or the model is working."""
_SILENT = frozenset(
    {"keep_alive", "system/background_tasks_changed", "system/session_state_changed",
     "system/files_persisted", "system/post_turn_summary", "prompt_suggestion", "tool_use_summary"}
)  # fmt: skip
"""Details that other events report better."""
_BILLING: Mapping[str, str | None] = {
    "": None,
    "none": "no API key",  # a subscription, another cloud's account, or signed out
    "oauth": "subscription",
    "ANTHROPIC_API_KEY": "API key",
    "apiKeyHelper": "API key (apiKeyHelper)",
    "/login managed key": "API key (/login)",
}


class StreamReader(SessionReader):
    """Reader of one session's stream."""

    def __init__(
        self, iteration: int, root: Path, ledger: Ledger | None = None, resumed: str | None = None
    ) -> None:
        super().__init__(iteration)
        self._ledger = Ledger() if ledger is None else ledger
        self.usage: Usage = Usage(iteration, self._ledger, resumed)
        self.tools: ToolCalls = ToolCalls(iteration, str(root))
        self.session_id = ""
        """The agent's session id."""
        self.ends = EndTracker()
        self.heard = False
        """True once at least one line was an event."""
        self.results = 0
        """Number of turns that have ended; `turns` is the agent's own count."""
        self.in_turn = False
        """True while a turn is in progress."""
        self.background = BackgroundTasks()
        self.requests = Requests(iteration)
        self._reported: dict[str, str] = {}

    @property
    def began(self) -> bool:
        """True once the session has described itself, as every started session does."""
        return self._described is not None

    def feed(self, line: str, offset: int, now: float) -> list[Event]:
        """Return the events of the line at `offset` of the transcript."""
        if not line.strip():
            return []
        self.seek(offset, now)
        try:
            fields = as_map(parse_json(line))
        except ValueError:
            fields = {}
        kind = _kind(fields)
        if not kind:
            return self._report_once("line", f"Not an event: {shorten(line, 80)}")
        reader = self._READERS.get(kind)
        if reader is not None:
            self.heard = True
            events = reader(self, fields)
            return events or self._beats() if kind in _BEATS else events
        if kind in _BEATS:
            return self._beats()
        if kind in _SILENT:
            return []
        return self._report_once(kind, f"Unknown kind of event, kept in the transcript: {kind}")

    # -- the kinds -------------------------------------------------------------------------------

    def _init(self, fields: Json) -> list[Event]:
        self.in_turn = True
        self.tools.work_in(as_text(fields.get("cwd")))
        self.session_id = as_text(fields.get("session_id")) or self.session_id
        source = as_text(fields.get("apiKeySource"))
        billing = _BILLING.get(source, shorten(source, 80))
        subscribed = source == "none" and self._ledger.subscription
        # Every turn begins with another init.
        return self._describe(
            model=shorten(as_text(fields.get("model"))) or None,
            permission_mode=shorten(as_text(fields.get("permissionMode"))) or None,
            billing="subscription" if subscribed else billing,
            version=shorten(as_text(fields.get("claude_code_version"))) or None,
        )

    def _assistant(self, fields: Json) -> list[Event]:
        message = as_map(fields.get("message"))
        parent = _parent(fields)
        self.in_turn = self.in_turn or parent is None
        model = as_text(message.get("model"))
        if model == "<synthetic>" or fields.get("is_api_error_message") is True:
            return self._failed(fields, content_text(message.get("content")))
        self.ends.answered()
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        events: list[Event] = []
        for block in map(as_map, as_list(blocks)):
            kind = as_text(block.get("type"))
            if kind == "text":
                events += speech_events(
                    as_text(block.get("text")), self.iteration, self._offset, parent
                )
            elif kind.endswith("tool_use"):
                events += self.tools.started(block, parent)
            elif kind.endswith("tool_result"):
                events += self.tools.finished(block, None)
        return events + self.usage.message(message, main=parent is None)

    def _failed(self, fields: Json, text: str) -> list[Event]:
        """Handle a message that the program wrote itself because a call failed."""
        error = as_text(fields.get("error"))
        if _parent(fields) is None:
            self.ends.failed(error, fields.get("api_error_status"))
        broken = error or text.startswith("API Error")
        return [self._note(text, "error" if broken else "warn")] if text.strip() else []

    def _user(self, fields: Json) -> list[Event]:
        content = as_map(fields.get("message")).get("content")
        if isinstance(content, str) or fields.get("isReplay") is True:
            # Older versions send their receipt this way.
            return self.receipts.repeated(content_text(content))
        structured, events = fields.get("tool_use_result"), list[Event]()
        for block in map(as_map, as_list(content)):
            if as_text(block.get("type")).endswith("tool_result"):
                events += self.tools.finished(block, structured)
        # In older versions, only the tool's result says that the tool is not waiting.
        task = as_text(as_map(structured).get("backgroundTaskId"))
        return events + self._background_events(self.background.left(task))

    def _denial(self, fields: Json) -> list[Event]:
        return self.tools.denied(fields)

    def _retry(self, fields: Json) -> list[Event]:
        error, status = as_text(fields.get("error")), fields.get("error_status")
        self.ends.retried(error, status)
        return [self._note(*notices.retry(fields), service=classify(error, status).trouble)]

    def _on_notice(self, fields: Json) -> list[Event]:
        kind, events = _kind(fields), list[Event]()
        notice = notices.SENTENCES[kind](fields)
        if kind == "rate_limit_event":
            self.ends.limit = notices.rejected_until(fields)
            events += self._note_subscription()
        if notice is not None and self._reported.get(kind) != notice[0]:
            self._reported[kind] = notice[0]
            events.append(self._note(*notice))
        return events

    def _note_subscription(self) -> list[Event]:
        """Record that the account is a subscription: only those have usage windows."""
        self._ledger.subscription = True
        known = self._described
        if known is None or known.billing != _BILLING["none"]:
            return []
        return self._describe(billing="subscription")

    def _task(self, fields: Json) -> list[Event]:
        """Handle an event about background work."""
        kind = _kind(fields)
        if kind == "system/task_started":
            command = self.tools.command_of(as_text(fields.get("tool_use_id")))
            self.background.began(fields, command, self._now)
        if self.background.is_detached(fields):
            return self._background_events(self.background.left(as_text(fields.get("task_id"))))
        if kind == "system/task_notification":
            return self._background_events(self.background.ended(fields))
        return []

    def _background_events(self, left: tuple[Notice, str | None] | None) -> list[Event]:
        return [] if left is None else [self._note(*left[0], left[1])]

    def _lifecycle(self, fields: Json) -> list[Event]:
        guidance_id = shorten(as_text(fields.get("command_uuid")))
        return self.receipts.record(guidance_id, as_text(fields.get("state")))

    def _on_compaction(self, fields: Json) -> list[Event]:
        return self.usage.compacted(as_map(fields.get("compact_metadata")), self._offset)

    def _answer(self, fields: Json) -> list[Event]:
        response, events = as_map(fields.get("response")), list[Event]()
        if as_text(response.get("subtype")) == "error":
            words = as_text(response.get("error"))
            events.append(self._note(f"The agent refused a request: {words}"))
        return events + self.usage.context_answer(as_map(response.get("response")))

    def _request(self, fields: Json) -> list[Event]:
        events = self.requests.feed(fields)
        if any(isinstance(event, AgentAsked) for event in events):
            self.tools.asked(as_map(fields.get("request")))
        return events

    def _result(self, fields: Json) -> list[Event]:
        if type(fields.get("is_error")) is not bool and not as_text(fields.get("subtype")):
            return self._report_once("result", "A result in an unknown format")
        events: list[Event] = []
        for denial in map(as_map, as_list(fields.get("permission_denials"))):
            events += self.tools.denied(denial)
        if as_text(fields.get("terminal_reason")) == "hook_stopped":
            events.append(
                self._note("One of your hooks stopped the agent before it was done", "warn")
            )
        if as_text(fields.get("stop_reason")) == "refusal":
            events.append(self._note("The model refused to continue", "warn"))
        self.session_id = as_text(fields.get("session_id")) or self.session_id
        self.ends.result(fields)
        self.in_turn = False
        self.results += 1
        self.turns += as_count(fields.get("num_turns"))
        self.tools.turn_ended()
        return [*events, self.usage.result(fields)]

    _READERS: Mapping[str, Callable[["StreamReader", Json], list[Event]]] = {
        **dict.fromkeys(notices.SENTENCES, _on_notice),
        "system/init": _init,
        "assistant": _assistant,
        "user": _user,
        "system/permission_denied": _denial,
        "system/task_started": _task,
        "system/task_updated": _task,
        "system/task_notification": _task,
        "system/api_retry": _retry,
        "command_lifecycle": _lifecycle,
        "system/compact_boundary": _on_compaction,
        "control_response": _answer,
        "control_request": _request,
        "control_cancel_request": _request,
        "result": _result,
    }


def _kind(fields: Json) -> str:
    """Return ``type``, or ``system/subtype``."""
    kind = as_text(fields.get("type"))
    return f"system/{as_text(fields.get('subtype'))}" if kind == "system" else kind


def _parent(fields: Json) -> str | None:
    """Return the tool call, or else the agent, to which a subagent's message belongs."""
    return as_text(fields.get("parent_tool_use_id")) or as_text(fields.get("agent_id")) or None
