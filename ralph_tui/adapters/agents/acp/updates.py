"""What a session tells between a prompt and its answer, as our unstamped events. Pure.

Whatever an update holds, it never raises: unknown kinds are said once and stay in the transcript.
Before the first prompt nothing is told: that is a session which is loaded, repeated. Time is given
by the caller (seconds that never go back).
"""

from collections.abc import Callable, Iterator, Mapping

from ralph_tui.adapters.agents.acp.quirks import Quirks
from ralph_tui.adapters.agents.acp.tool_calls import ToolCalls
from ralph_tui.adapters.agents.acp.usage import Usage
from ralph_tui.adapters.agents.claims import spoken
from ralph_tui.adapters.agents.failures import classify
from ralph_tui.adapters.agents.json_fields import as_list, as_map, as_text
from ralph_tui.events import AgentNoted, Event
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]

LONGEST_TEXT = 1 << 20
"""Characters of a text that is joined; what follows is told as another one."""
MAX_COMPLAINTS = 5
BEAT_S = 20.0
"""Signs of life without news are told at most this often."""
_SILENT = frozenset(
    {"user_message_chunk", "available_commands_update", "current_mode_update",
     "config_option_update"}
)  # fmt: skip
"""What is said of them is known here, or told better by other events."""


class UpdateReader:
    """Reads the updates of one session; what they came to stands in its fields."""

    def __init__(
        self, iteration: int, root: str, quirks: Quirks, *, before_usd: float = 0.0
    ) -> None:
        self.quirks = quirks
        self.tools = ToolCalls(iteration, root, quirks)
        self.usage = Usage(iteration, before_usd)
        self.live = False
        """Whether the first prompt was sent."""
        self.answered = False
        """Whether anything came since that a model has made."""
        self.last_text = ""
        """The last whole text of this turn."""
        self.acts = 0
        """How often the agent said or did something."""
        self.failing: Json = {}
        """The last failed call to its service that the agent told of; empty: it got on since."""
        self.failed = False
        """Whether the agent told that this turn has failed."""
        self._iteration = iteration
        self._pieces: list[str] = []
        self._length = 0
        self._message_id = ""
        self._text_offset = 0
        self._plan = ""
        self._beat = float("-inf")
        self._complaints: set[str] = set()
        self._offset = 0
        self._now = 0.0

    def look(self, offset: int, now: float) -> None:
        """The next line stands here in the transcript, and was heard at this time."""
        self._offset, self._now = offset, now

    def take(self, update: Json) -> list[Event]:
        """The events of one update."""
        kind = as_text(update.get("sessionUpdate"))
        self.answered = self.answered or (self.live and kind not in _SILENT)
        reader = self._READERS.get(kind)
        if reader is not None:
            return list(reader(self, update))
        if kind in _SILENT:
            return []
        return self._complain(kind)

    def asked(self, piece: Json) -> list[Event]:
        """A permission is asked for a use of a tool, which may be told of here first."""
        return [
            *self.text_ended(),
            *self.tools.take(piece, self._offset, self._now, asked=True),
        ]

    def prompted(self) -> None:
        """The agent is told to work."""
        self.live = True
        self._beat = self._now
        self.last_text = ""
        self.failing, self.failed = {}, False

    def turn_ended(self, result: Json, *, counted: bool = True) -> list[Event]:
        """The answer to a prompt; `counted`: whether its usage is not that of another answer."""
        events = self.text_ended()
        events += self.tools.turn_ended(self._offset, self._now)
        if counted:
            events += self.usage.turn(result, partial=self.quirks.usage == "last call")
        return events

    def text_ended(self) -> list[Event]:
        """What was said until now is one text."""
        text, offset = "".join(self._pieces), self._text_offset
        self._pieces, self._length = [], 0
        if not text.strip():
            return []
        self.last_text = text
        return list(spoken(text, self._iteration, offset))

    def _spoke(self, update: Json) -> Iterator[Event]:
        text = as_text(as_map(update.get("content")).get("text"))
        if not self.live or not text or text.startswith(self.quirks.noise):
            return
        message_id = as_text(update.get("messageId"))
        if message_id != self._message_id or self._length > LONGEST_TEXT:
            yield from self.text_ended()
        if not self._pieces:
            self._text_offset = self._offset
        self._message_id = message_id
        self._pieces.append(text)
        self._length += len(text)
        self.acts += 1
        if not self.failed:
            self.failing = {}
        yield from self._beats()

    def _thought(self, _: Json) -> Iterator[Event]:
        if self.live:
            yield from self.text_ended()
            yield from self._beats()

    def _tool(self, update: Json) -> Iterator[Event]:
        if not self.live:
            return
        yield from self.text_ended()
        counted = self.tools.calls
        told = list(self.tools.take(update, self._offset, self._now))
        if self.tools.calls > counted:
            self.acts += 1
            self.failing = {}
        yield from told or self._beats()

    def _used(self, update: Json) -> Iterator[Event]:
        if self.live:
            self._beat = self._now
            yield from self.usage.update(update)

    def _planned(self, update: Json) -> Iterator[Event]:
        entries = [as_map(entry) for entry in as_list(update.get("entries"))]
        if not self.live or not entries:
            return
        done = sum(entry.get("status") == "completed" for entry in entries)
        now = next((e for e in entries if e.get("status") == "in_progress"), {})
        doing = shorten(as_text(now.get("content")).strip())
        plan = f"Plan: {done} of {len(entries)} done{f'; now: {doing}' if doing else ''}"
        if plan != self._plan:
            self._plan = plan
            yield self._note(plan, "log")

    def _session(self, update: Json) -> Iterator[Event]:
        """Some tell here of calls to their service that failed."""
        codex = as_map(as_map(update.get("_meta")).get("codex"))
        if as_map(codex.get("threadStatus")).get("type") == "systemError":
            # What is said from here on is the service's refusal.
            yield from self.text_ended()
            self.failed = True
        error = as_map(codex.get("error"))
        if not error:
            return
        told, self.failing = self.failing, error
        again = told.get("codexErrorInfo") == error.get("codexErrorInfo")
        if error.get("willRetry") is True and not again:
            said = as_text(error.get("additionalDetails")) or as_text(error.get("message"))
            info = error.get("codexErrorInfo")
            name, about = next(iter(as_map(info).items()), (as_text(info), None))
            call = classify(name, as_map(about).get("httpStatusCode"), said)
            text = f"The service refuses ({shorten(said)}); the agent tries again"
            yield self._note(text, "warn").model_copy(update={"service": call.trouble})

    def _beats(self) -> Iterator[Event]:
        if self._now - self._beat >= BEAT_S:
            self._beat = self._now
            yield self.usage.report()

    def _note(self, text: str, level: str) -> AgentNoted:
        return AgentNoted.model_validate(
            {"iteration": self._iteration, "level": level, "text": text, "offset": self._offset}
        )

    def _complain(self, kind: str) -> list[Event]:
        if kind in self._complaints or len(self._complaints) >= MAX_COMPLAINTS:
            return []
        self._complaints.add(kind)
        named = shorten(kind, 80) or "one without a name"
        return [self._note(f"Unknown kind of update, kept in the transcript: {named}", "warn")]

    _READERS: Mapping[str, Callable[["UpdateReader", Json], Iterator[Event]]] = {
        "agent_message_chunk": _spoke,
        "agent_thought_chunk": _thought,
        "tool_call": _tool,
        "tool_call_update": _tool,
        "usage_update": _used,
        "plan": _planned,
        "session_info_update": _session,
    }
