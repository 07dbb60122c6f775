"""The stream-json of coding agents, line by line, as our unstamped events. Pure.

Whatever a line holds, it never raises: unknown kinds and broken lines are said once and stay in the
transcript. Time is given by the caller (seconds that never go back).
"""

import json
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path

from ralph_tui.agents import notices, outcome
from ralph_tui.agents.fields import as_count, as_list, as_map, as_text, content_text
from ralph_tui.agents.outcome import Verdict
from ralph_tui.agents.summaries import describe_input, describe_result, shorten
from ralph_tui.agents.usage import Usage
from ralph_tui.agents.words import claims
from ralph_tui.events import (
    AgentNoted,
    AgentSpoke,
    Event,
    GuidanceAcknowledged,
    GuidanceDelivered,
    SessionDescribed,
    ToolDenied,
    ToolFinished,
    ToolStarted,
)
from ralph_tui.events.agent import SessionOutcome

SPOKEN = 2000
"""Characters of an `AgentSpoke`; the whole text is in the transcript."""
MAX_COMPLAINTS = 5
"""Notes about lines that cannot be read, and about unknown kinds, per session."""

Json = Mapping[str, object]

# Heartbeats and details that other events tell better.
_SILENT = frozenset(
    {"stream_event", "tool_progress", "keep_alive", "system/thinking_tokens", "system/hook_started",
     "system/task_started", "system/task_progress", "system/task_updated",
     "system/background_tasks_changed", "system/session_state_changed", "system/files_persisted",
     "control_request", "control_cancel_request"}
)  # fmt: skip


class StreamReader:
    """Reads one session's stream; counters and the last verdict stand in its fields."""

    def __init__(
        self, iteration: int, root: Path, windows: MutableMapping[str, int] | None = None
    ) -> None:
        self.iteration = iteration
        self.usage = Usage(iteration, {} if windows is None else windows)
        self.verdict: Verdict | None = None
        """Of the last result; None while no turn has ended."""
        self.heard = False
        """Whether any line was an event."""
        self.results = 0
        """Turns that ended; `turns` is what the agent calls so."""
        self.turns = 0
        self.tool_calls = 0
        self.tool_errors = 0
        self.last_refusal: SessionOutcome | None = None
        """What the last retried call to the service means if nothing follows."""
        self._roots = [str(root)]
        self._running: dict[str, float] = {}
        self._denied: set[str] = set()
        self._described: SessionDescribed | None = None
        self._acknowledged: set[str] = {""}
        self._complaints: set[str] = set()
        self._offset = 0
        self._now = 0.0

    def feed(self, line: str, offset: int, now: float) -> list[Event]:
        """The events of one line that stands at `offset` of the transcript."""
        if not line.strip():
            return []
        self._offset, self._now = offset, now
        try:
            fields = as_map(json.loads(line))
        except (ValueError, RecursionError):
            fields = {}
        kind = _kind(fields)
        if not kind:
            return self._complain("line", f"Not an event: {shorten(line, 80)}")
        reader = self._READERS.get(kind)
        if reader is not None:
            self.heard = True
            return list(reader(self, fields))
        if kind in _SILENT:
            return []
        return self._complain(kind, f"Unknown kind of event, kept in the transcript: {kind}")

    def _complain(self, about: str, text: str) -> list[Event]:
        if about in self._complaints or len(self._complaints) >= MAX_COMPLAINTS:
            return []
        self._complaints.add(about)
        return [self._note(text, "warn")]

    def _note(self, text: str, level: str = "log") -> AgentNoted:
        return AgentNoted.model_validate(
            {
                "iteration": self.iteration,
                "level": level,
                "text": shorten(text, SPOKEN),
                "offset": self._offset,
            }
        )

    # -- the kinds -------------------------------------------------------------------------------

    def _init(self, fields: Json) -> Iterator[Event]:
        cwd = as_text(fields.get("cwd"))
        if cwd and cwd not in self._roots:
            self._roots = [self._roots[0], cwd]
        source = as_text(fields.get("apiKeySource"))
        described = SessionDescribed(
            iteration=self.iteration,
            model=shorten(as_text(fields.get("model"))) or None,
            permission_mode=shorten(as_text(fields.get("permissionMode"))) or None,
            billing={"": None, "none": "subscription"}.get(source, shorten(source)),
            version=shorten(as_text(fields.get("claude_code_version"))) or None,
        )
        # Every turn begins with another init; only news is told.
        if described != self._described:
            self._described = described
            yield described

    def _assistant(self, fields: Json) -> Iterator[Event]:
        message = as_map(fields.get("message"))
        parent = as_text(fields.get("parent_tool_use_id")) or None
        model = as_text(message.get("model"))
        if model == "<synthetic>" or fields.get("is_api_error_message") is True:
            text = content_text(message.get("content"))
            if text.strip():
                yield self._note(text, "error")
            return
        self.last_refusal = None
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in map(as_map, as_list(blocks)):
            kind = as_text(block.get("type"))
            if kind == "text":
                yield from self._spoke(as_text(block.get("text")), parent)
            elif kind.endswith("tool_use"):
                yield from self._tool_started(block, parent)
            elif kind.endswith("tool_result"):
                yield from self._tool_finished(block, None)
        yield from self.usage.message(message, main=parent is None)

    def _spoke(self, text: str, parent: str | None) -> Iterator[Event]:
        if text.strip():
            yield AgentSpoke(
                iteration=self.iteration,
                text=shorten(text.strip("\n"), SPOKEN),
                parent=parent,
                offset=self._offset,
            )
        if parent is None:
            yield from claims(text, self.iteration)

    def _tool_started(self, block: Json, parent: str | None) -> Iterator[Event]:
        tool_id = as_text(block.get("id"))
        if tool_id in self._running:
            return
        self._running[tool_id] = self._now
        self.tool_calls += 1
        tool = as_text(block.get("name")) or "tool"
        yield ToolStarted(
            iteration=self.iteration,
            tool_id=shorten(tool_id),
            tool=shorten(tool, 80),
            summary=describe_input(tool, as_map(block.get("input")), self._roots),
            parent=parent,
            offset=self._offset,
        )

    def _user(self, fields: Json) -> Iterator[Event]:
        if fields.get("isReplay") is True:
            return
        for block in map(as_map, as_list(as_map(fields.get("message")).get("content"))):
            if as_text(block.get("type")).endswith("tool_result"):
                yield from self._tool_finished(block, fields.get("tool_use_result"))

    def _tool_finished(self, block: Json, structured: object) -> Iterator[Event]:
        tool_id = as_text(block.get("tool_use_id"))
        started = self._running.pop(tool_id, self._now)
        ok = block.get("is_error") is not True
        self.tool_errors += not ok
        summary = describe_result(block.get("content"), structured, ok=ok)
        yield ToolFinished(
            iteration=self.iteration,
            tool_id=shorten(tool_id),
            ok=ok,
            summary="denied" if tool_id in self._denied else shorten(summary),
            duration_s=round(max(0.0, self._now - started), 3),
            offset=self._offset,
        )

    def _denial(self, fields: Json) -> Iterator[Event]:
        tool_id = as_text(fields.get("tool_use_id"))
        if tool_id and tool_id in self._denied:
            return
        self._denied.add(tool_id)
        yield ToolDenied(
            iteration=self.iteration,
            tool=shorten(as_text(fields.get("tool_name")), 80) or "tool",
            tool_id=shorten(tool_id) or None,
            message=shorten(as_text(fields.get("message"))),
        )

    def _retry(self, fields: Json) -> Iterator[Event]:
        self.last_refusal = outcome.of_retry(
            as_text(fields.get("error")), fields.get("error_status")
        )
        yield self._note(*notices.retry(fields))

    def _noticed(self, fields: Json) -> Iterator[Event]:
        notice = notices.SENTENCES[_kind(fields)](fields)
        if notice is not None:
            yield self._note(*notice)

    def _lifecycle(self, fields: Json) -> Iterator[Event]:
        guidance_id = shorten(as_text(fields.get("command_uuid")))
        state = as_text(fields.get("state"))
        if guidance_id and state == "queued":
            yield GuidanceDelivered(guidance_id=guidance_id, into="session")
        elif state in ("started", "completed") and guidance_id not in self._acknowledged:
            self._acknowledged.add(guidance_id)
            yield GuidanceAcknowledged(guidance_id=guidance_id)

    def _compacted(self, fields: Json) -> Iterator[Event]:
        yield self._note(*notices.compacted(fields))
        facts = as_map(fields.get("compact_metadata"))
        yield from self.usage.compacted(as_count(facts.get("post_tokens")))

    def _answer(self, fields: Json) -> Iterator[Event]:
        response = as_map(fields.get("response"))
        if as_text(response.get("subtype")) == "error":
            yield self._note(f"The agent refused a request: {as_text(response.get('error'))}")
        yield from self.usage.context_answer(as_map(response.get("response")))

    def _result(self, fields: Json) -> Iterator[Event]:
        for denial in map(as_map, as_list(fields.get("permission_denials"))):
            yield from self._denial(denial)
        if as_text(fields.get("terminal_reason")) == "hook_stopped":
            yield self._note("A hook stopped the agent", "warn")
        self.verdict = outcome.of_result(fields)
        self.results += 1
        self.turns += as_count(fields.get("num_turns"))
        self._running.clear()
        yield from self.usage.result(fields)

    _READERS: Mapping[str, Callable[["StreamReader", Json], Iterator[Event]]] = {
        **dict.fromkeys(notices.SENTENCES, _noticed),
        "system/init": _init,
        "assistant": _assistant,
        "user": _user,
        "system/permission_denied": _denial,
        "system/api_retry": _retry,
        "command_lifecycle": _lifecycle,
        "system/compact_boundary": _compacted,
        "control_response": _answer,
        "result": _result,
    }


def _kind(fields: Json) -> str:
    """``type``, or ``system/subtype``."""
    kind = as_text(fields.get("type"))
    return f"system/{as_text(fields.get('subtype'))}" if kind == "system" else kind
