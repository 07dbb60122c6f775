"""The stream-json of coding agents, line by line, as our unstamped events. Pure.

Whatever a line holds, it never raises: unknown kinds and broken lines are said once and stay in the
transcript. Time is given by the caller (seconds that never go back).
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ralph_tui.adapters.agents.claims import SPOKEN, spoken
from ralph_tui.adapters.agents.claude import notices
from ralph_tui.adapters.agents.claude.ends import EndTracker
from ralph_tui.adapters.agents.claude.notices import BackgroundTasks
from ralph_tui.adapters.agents.claude.requests import Requests
from ralph_tui.adapters.agents.claude.tool_calls import ToolCalls
from ralph_tui.adapters.agents.claude.usage import Ledger, Usage
from ralph_tui.adapters.agents.ends import classify
from ralph_tui.adapters.agents.json_fields import as_count, as_list, as_map, as_text, content_text
from ralph_tui.adapters.agents.receipts import Receipts
from ralph_tui.events import (
    AgentAsked,
    AgentNoted,
    Event,
    SessionDescribed,
)
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import shorten

MAX_COMPLAINTS = 5
"""Notes about lines that cannot be read, and about unknown kinds, per session."""

Json = Mapping[str, object]

BEAT_S = 20.0
"""Heartbeats are told at most this often."""
_BEATS = frozenset(
    {"stream_event", "tool_progress", "system/thinking_tokens", "system/task_progress",
     "system/hook_started", "system/hook_progress", "system/status"}
)  # fmt: skip
"""Signs of life without news: a tool or the model is at work."""
_SILENT = frozenset(
    {"keep_alive", "system/background_tasks_changed", "system/session_state_changed",
     "system/files_persisted", "system/post_turn_summary", "prompt_suggestion", "tool_use_summary"}
)  # fmt: skip
"""Details that other events tell better."""
_BILLING: Mapping[str, str | None] = {
    "": None,
    "none": "no API key",  # a subscription, another cloud's account, or nobody signed in
    "oauth": "subscription",
    "ANTHROPIC_API_KEY": "API key",
    "apiKeyHelper": "API key (apiKeyHelper)",
    "/login managed key": "API key (/login)",
}


class StreamReader:
    """Reads one session's stream; counters and the last end stand in its fields."""

    def __init__(
        self, iteration: int, root: Path, ledger: Ledger | None = None, resumed: str | None = None
    ) -> None:
        self.iteration = iteration
        self._ledger = Ledger() if ledger is None else ledger
        self.usage = Usage(iteration, self._ledger, resumed)
        self.session_id = ""
        """As the agent calls the session."""
        self.receipts = Receipts()
        self.ends = EndTracker()
        self.heard = False
        """Whether any line was an event."""
        self.results = 0
        """Turns that ended; `turns` is what the agent calls so."""
        self.turns = 0
        self.tool_calls = ToolCalls(iteration, str(root))
        self.in_turn = False
        """Whether a turn has begun and not ended."""
        self.background = BackgroundTasks()
        self.requests = Requests(iteration)
        self._described: SessionDescribed | None = None
        self._told: dict[str, str] = {}
        self._beat = float("-inf")
        self._complaints: set[str] = set()
        self._offset = 0
        self._now = 0.0

    @property
    def began(self) -> bool:
        """Whether the session has described itself, as each does that can begin."""
        return self._described is not None

    def feed(self, line: str, offset: int, now: float) -> list[Event]:
        """The events of one line that stands at `offset` of the transcript."""
        if not line.strip():
            return []
        self._offset, self._now = offset, now
        self.tool_calls.look(offset, now)
        try:
            fields = as_map(parse_json(line))
        except ValueError:
            fields = {}
        kind = _kind(fields)
        if not kind:
            return self._complain("line", f"Not an event: {shorten(line, 80)}")
        reader = self._READERS.get(kind)
        if reader is not None:
            self.heard = True
            events = list(reader(self, fields))
            return events or self._beats() if kind in _BEATS else events
        if kind in _BEATS:
            return self._beats()
        if kind in _SILENT:
            return []
        return self._complain(kind, f"Unknown kind of event, kept in the transcript: {kind}")

    def _complain(self, about: str, text: str) -> list[Event]:
        if about in self._complaints or len(self._complaints) >= MAX_COMPLAINTS:
            return []
        self._complaints.add(about)
        return [self._note(text, "warn")]

    def _beats(self) -> list[Event]:
        if self._now - self._beat < BEAT_S:
            return []
        self._beat = self._now
        return [self.usage.report()]

    def _note(
        self, text: str, level: str = "log", parent: str | None = None, service: str = ""
    ) -> AgentNoted:
        return AgentNoted.model_validate(
            {
                "iteration": self.iteration,
                "level": level,
                "text": shorten(text, SPOKEN),
                "parent": parent,
                "service": service,
                "offset": self._offset,
            }
        )

    # -- the kinds -------------------------------------------------------------------------------

    def _init(self, fields: Json) -> Iterator[Event]:
        self.in_turn = True
        self.tool_calls.work_in(as_text(fields.get("cwd")))
        self.session_id = as_text(fields.get("session_id")) or self.session_id
        source = as_text(fields.get("apiKeySource"))
        described = SessionDescribed(
            iteration=self.iteration,
            model=shorten(as_text(fields.get("model"))) or None,
            permission_mode=shorten(as_text(fields.get("permissionMode"))) or None,
            billing="subscription"
            if source == "none" and self._ledger.subscription
            else _BILLING.get(source, shorten(source, 80)),
            version=shorten(as_text(fields.get("claude_code_version"))) or None,
        )
        # Every turn begins with another init; only news is told.
        if described != self._described:
            self._described = described
            yield described

    def _assistant(self, fields: Json) -> Iterator[Event]:
        message = as_map(fields.get("message"))
        parent = _parent(fields)
        self.in_turn = self.in_turn or parent is None
        model = as_text(message.get("model"))
        if model == "<synthetic>" or fields.get("is_api_error_message") is True:
            yield from self._failed(fields, content_text(message.get("content")))
            return
        self.ends.answered()
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in map(as_map, as_list(blocks)):
            kind = as_text(block.get("type"))
            if kind == "text":
                yield from spoken(as_text(block.get("text")), self.iteration, self._offset, parent)
            elif kind.endswith("tool_use"):
                yield from self.tool_calls.started(block, parent)
            elif kind.endswith("tool_result"):
                yield from self.tool_calls.finished(block, None)
        yield from self.usage.message(message, main=parent is None)

    def _failed(self, fields: Json, text: str) -> Iterator[Event]:
        """A message that the agent's program wrote itself, because a call has failed."""
        error = as_text(fields.get("error"))
        if _parent(fields) is None:
            self.ends.failed(error, fields.get("api_error_status"))
        if text.strip():
            yield self._note(text, "error" if error or text.startswith("API Error") else "warn")

    def _user(self, fields: Json) -> Iterator[Event]:
        content = as_map(fields.get("message")).get("content")
        if isinstance(content, str) or fields.get("isReplay") is True:
            # The receipt of older versions.
            yield from self.receipts.repeated(content_text(content))
            return
        for block in map(as_map, as_list(content)):
            if as_text(block.get("type")).endswith("tool_result"):
                yield from self.tool_calls.finished(block, fields.get("tool_use_result"))
        yield from self._left_running(as_map(fields.get("tool_use_result")))

    def _denial(self, fields: Json) -> Iterator[Event]:
        yield from self.tool_calls.denied(fields)

    def _retry(self, fields: Json) -> Iterator[Event]:
        self.ends.retried(as_text(fields.get("error")), fields.get("error_status"))
        call = classify(as_text(fields.get("error")), fields.get("error_status"))
        yield self._note(*notices.retry(fields), service=call.trouble)

    def _noticed(self, fields: Json) -> Iterator[Event]:
        kind = _kind(fields)
        notice = notices.SENTENCES[kind](fields)
        if kind == "rate_limit_event":
            self.ends.limit = notices.rejected_until(fields)
            yield from self._subscribed()
        if notice is not None and self._told.get(kind) != notice[0]:
            self._told[kind] = notice[0]
            yield self._note(*notice)

    def _subscribed(self) -> Iterator[Event]:
        """Only subscriptions hear of usage windows: that is where the bill goes."""
        self._ledger.subscription = True
        known = self._described
        if known is not None and known.billing == _BILLING["none"]:
            self._described = known.model_copy(update={"billing": "subscription"})
            yield self._described

    def _task(self, fields: Json) -> Iterator[Event]:
        """Work beside the turn; what a tool waits for is told by the tool."""
        kind, told = _kind(fields), None
        if kind == "system/task_started":
            command = self.tool_calls.command_of(as_text(fields.get("tool_use_id")))
            self.background.began(fields, command, self._now)
        if self.background.goes_on(fields):
            told = self.background.left(as_text(fields.get("task_id")))
        elif kind == "system/task_notification":
            told = self.background.ended(fields)
        if told is not None:
            yield self._note(*told[0], told[1])

    def _left_running(self, structured: Json) -> Iterator[Event]:
        """Older versions say only in the tool's result that it does not wait."""
        told = self.background.left(as_text(structured.get("backgroundTaskId")))
        if told is not None:
            yield self._note(*told[0], told[1])

    def _lifecycle(self, fields: Json) -> Iterator[Event]:
        yield from self.receipts.told(
            shorten(as_text(fields.get("command_uuid"))), as_text(fields.get("state"))
        )

    def _compacted(self, fields: Json) -> Iterator[Event]:
        yield from self.usage.compacted(as_map(fields.get("compact_metadata")), self._offset)

    def _answer(self, fields: Json) -> Iterator[Event]:
        response = as_map(fields.get("response"))
        if as_text(response.get("subtype")) == "error":
            yield self._note(f"The agent refused a request: {as_text(response.get('error'))}")
        yield from self.usage.context_answer(as_map(response.get("response")))

    def _request(self, fields: Json) -> Iterator[Event]:
        for event in self.requests.feed(fields):
            if isinstance(event, AgentAsked):
                self.tool_calls.asked(as_map(fields.get("request")))
            yield event

    def _result(self, fields: Json) -> Iterator[Event]:
        if type(fields.get("is_error")) is not bool and not as_text(fields.get("subtype")):
            yield from self._complain("result", "A result as no known agent gives it")
            return
        for denial in map(as_map, as_list(fields.get("permission_denials"))):
            yield from self.tool_calls.denied(denial)
        if as_text(fields.get("terminal_reason")) == "hook_stopped":
            yield self._note("A hook of yours stopped the agent before it was done", "warn")
        if as_text(fields.get("stop_reason")) == "refusal":
            yield self._note("The model refused to go on", "warn")
        self.session_id = as_text(fields.get("session_id")) or self.session_id
        self.ends.result(fields)
        self.in_turn = False
        self.results += 1
        self.turns += as_count(fields.get("num_turns"))
        self.tool_calls.turn_ended()
        yield from self.usage.result(fields)

    _READERS: Mapping[str, Callable[["StreamReader", Json], Iterator[Event]]] = {
        **dict.fromkeys(notices.SENTENCES, _noticed),
        "system/init": _init,
        "assistant": _assistant,
        "user": _user,
        "system/permission_denied": _denial,
        "system/task_started": _task,
        "system/task_updated": _task,
        "system/task_notification": _task,
        "system/api_retry": _retry,
        "command_lifecycle": _lifecycle,
        "system/compact_boundary": _compacted,
        "control_response": _answer,
        "control_request": _request,
        "control_cancel_request": _request,
        "result": _result,
    }


def _kind(fields: Json) -> str:
    """``type``, or ``system/subtype``."""
    kind = as_text(fields.get("type"))
    return f"system/{as_text(fields.get('subtype'))}" if kind == "system" else kind


def _parent(fields: Json) -> str | None:
    """The tool call, or else the agent, that a subagent's message belongs to."""
    return as_text(fields.get("parent_tool_use_id")) or as_text(fields.get("agent_id")) or None
