"""Events of the agent: sessions, text, tools, usage."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain, cleaned
from ralph_tui.text.claims import strip_claims
from ralph_tui.text.format import count, day_and_clock, duration, money, percent
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import FAILED, RowLevel, in_words
from ralph_tui.text.words import same_words

__all__ = [
    "AgentChanged",
    "AgentNoted",
    "AgentReported",
    "AgentSpoke",
    "BackgroundAwaited",
    "PromiseMade",
    "SessionDescribed",
    "SessionFinished",
    "SessionStarted",
    "ToolDenied",
    "ToolFinished",
    "ToolStarted",
    "UsageReported",
]

SessionOutcome = Literal[
    "success",  # the agent ended its turn on its own
    "missing",  # its program does not exist or cannot be run
    "not_started",  # its program ended, or was stopped, before it could take the prompt
    "error",  # it reported a failure, or its stream broke off
    "limited",  # a usage limit, overload or an outage ended it
    "auth",  # its service refuses its credentials
    "unknown_model",  # its service has no such model
    "unresumable",  # the session to resume is not available; nothing was done
    "context_full",  # its context window overflowed
    "rolled_over",  # ended because of its context, with a handoff to a fresh session
    "max_turns",
    "budget",
    "interrupted",  # ralph-tui or the user interrupted it
    "silent",  # it sent nothing for too long and was stopped for a retry
    "timeout",  # it ran longer than a session may
    "stopped",  # ended because the run was ending
    "crashed",  # it died without a message
]
NO_FAULT: Final[frozenset[SessionOutcome]] = frozenset({"success", "rolled_over"})
"""Session outcomes that are not failures."""


Prevented = Literal["", "denied", "interrupted"]
"""Why a tool did not run, unless the tool itself failed."""


_ENDED = {
    "success": "ended",
    "auth": "sign-in refused",
    "missing": "cannot be run",
    "not_started": "did not start",
    "limited": "stopped by a limit",
    "unknown_model": "model refused",
    "context_full": "context full",
}
"""Outcomes of a session whose names are not plain words."""
_WHY_NOT = {
    "overload": "{name}'s service is overloaded",
    "outage": "{name}'s service is down",
    "auth": "{name} is not signed in",
    "missing": "{name} cannot be run",
    "not_started": "{name} did not start",
    "unknown_model": "{name} has no such model",
}
LONGEST_WHY = 80
"""Maximum length of the reason why a program cannot be run."""
SPOKEN_LINES = 40
"""Maximum number of lines shown of one message; the transcript has all of them."""
NAMED_TASKS = 3
"""Maximum number of background tasks named in a sentence."""
LONGEST_TASK = 60
LONGEST_AGE_S = 1e7
"""Upper limit for a background task's age, because a record can be damaged."""


class AgentChanged(Event):
    """The run switches to another agent."""

    durable = True
    urgent = True
    kind: Literal["agent_changed"] = "agent_changed"
    iteration: int
    before: Line
    """The agent that has worked so far."""
    agent: Line
    """The agent that takes over."""
    cause: Literal[
        "usage_limit",
        "overload",
        "outage",
        "auth",
        "missing",
        "not_started",
        "unknown_model",
        "back",
    ] = "back"
    """Why `before` cannot work; ``back`` if the run returns to its preferred `agent`."""
    reason: Plain = ""
    """One sentence from the service or the program."""
    until: datetime | None = None
    """UTC time of the next attempt with `before`; None: it returns only after a pause or resume."""
    guessed: bool = False
    """True if the service did not say when its limit ends: `until` is only the next attempt."""

    def row(self) -> Row:
        level: RowLevel = "log" if self.cause == "back" else "warn"
        return Row(level, "AGENT", self.words(self.at), self.reason)

    def words(self, now: datetime, agent: str = "") -> str:
        """Return ``claude is at its limit until 03:10; codex takes over in the meantime``.

        `agent` is the agent working at `now`.
        """
        if self.cause == "back":
            return f"trying {self.agent} again instead of {self.before}"
        at = "" if self.until is None else day_and_clock(self.until, now)
        if self.cause == "usage_limit":
            until = f", retry at {at}" if self.guessed else f" until {at}"
            why = f"{self.before} is at its limit{until if at else ''}"
        else:
            why = _WHY_NOT[self.cause].format(name=self.before) + (f", retry at {at}" if at else "")
            if self.cause == "missing" and self.reason:
                # The first words say whether the program is missing or cannot run.
                first = one_line(self.reason).partition(": ")[0].rstrip(".")
                why += f" ({clip(first, LONGEST_WHY)})"
        return f"{why}; {agent or self.agent} takes over in the meantime"


class SessionStarted(Event):
    """An agent process was started."""

    urgent = True
    kind: Literal["session_started"] = "session_started"
    iteration: int
    session_id: Line
    agent: Line
    pid: int = 0
    takes_guidance: bool = False
    """True if guidance can reach the agent while it works."""
    transcript: Line = ""
    """Path relative to the attempt's folder; the offsets of later events refer to this file."""
    tells_tools: bool = True
    """False if the agent does not report its tools; its actions are then derived from its work."""
    tells_context: bool = True
    """False if the agent cannot report how full its context window is."""

    @property
    def stream(self) -> str:
        """The row in the agent's stream."""
        return f"iteration {self.iteration}: {self.agent} starts"


class SessionDescribed(Event):
    """The agent's description of itself at the start of a session."""

    kind: Literal["session_described"] = "session_described"
    iteration: int
    model: Line | None = None
    permission_mode: Line | None = None
    billing: Line | None = None
    """The account that is billed, if the stream reports it."""
    version: Line | None = None


class AgentSpoke(Event):
    """Text of the agent, shortened; the transcript has all of it at `offset`."""

    kind: Literal["agent_spoke"] = "agent_spoke"
    iteration: int
    text: Plain
    parent: Line | None = None
    """The tool call that started the subagent; None for the main agent."""
    offset: int = 0
    left_out: int = 0
    """Number of lines left out of `text`, which says so in their place; 0 in older journals."""

    @property
    def words(self) -> str:
        """The text without report and promise, which are separate events."""
        return self.text if self.parent is not None else strip_claims(self.text)

    def line(self) -> str | None:
        said = [line for line in self.words.splitlines() if line.strip()]
        rest = count(len(said) - SPOKEN_LINES, "more line")
        more = [f"… and {rest}, in the transcript of iteration {self.iteration}"]
        shown = [*said[:SPOKEN_LINES], *(more if said[SPOKEN_LINES:] else [])]
        return "\n".join(f"agent   {line}" for line in shown)


class ToolStarted(Event):
    """A tool call began."""

    kind: Literal["tool_started"] = "tool_started"
    iteration: int
    tool_id: Line
    tool: Line
    summary: Line = ""
    """The file, command or pattern that it works on."""
    params: Annotated[dict[str, Any], AfterValidator(cleaned)] = {}
    """The arguments by name; long texts are cut."""
    parent: Line | None = None
    offset: int = 0

    def line(self) -> str:
        return f"tool    {self.tool} {self.summary}"


class ToolFinished(Event):
    """A tool call ended."""

    kind: Literal["tool_finished"] = "tool_finished"
    iteration: int
    tool_id: Line
    ok: bool
    summary: Line = ""
    """A few words about the result: ``exit 1``, ``212 lines``, ``+9 −4``."""
    output: Plain = ""
    """The beginning of its output or error, at most 1000 characters."""
    prevented: Prevented = ""
    """Set if the user or a missing permission prevented the tool from running."""
    last_line: int | None = None
    """Line of an edit's last change, as the tool reports it; None if unknown."""
    duration_s: float = 0.0
    offset: int = 0

    def line(self) -> str | None:
        return None if self.ok or self.prevented else f"agent   {FAILED.glyph} {self.summary}"


class ToolDenied(Event):
    """The agent was not permitted to use a tool."""

    kind: Literal["tool_denied"] = "tool_denied"
    iteration: int
    tool: Line
    tool_id: Line | None = None
    message: Plain = ""
    permit: Line = ""
    """The ``permissions.allow`` line that would permit it."""
    also: list[Line] = []
    """Other lines that it also needs."""
    final: bool = False
    """True if no such line can permit it."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The ``permissions.allow`` lines that permit it, else the tool; empty if `final`."""
        return () if self.final else (self.permit or self.tool, *self.also)

    @property
    def words(self) -> str:
        """The tool and the reason, as in ``Bash denied: it may not push``."""
        return f"{self.tool} denied{': ' + self.message if self.message else ''}"

    @property
    def permits(self) -> str:
        """The setting that permits the call, or a note that none does."""
        if self.final:
            return "permissions.allow cannot permit it"
        lines = ", ".join(f'"{line}"' for line in self.lines)
        return f"permit it with permissions.allow = [{lines}]"

    def row(self) -> Row:
        return Row("warn", "DENIED", f"{self.tool}: {self.permits}", self.message)

    def line(self) -> str:
        """Put the setting on its own line: after a long message it would be cut off."""
        how = f"\nagent   {self.permits}" if self.permit or self.final else ""
        return f"agent   {one_line(self.words)}{how}"


class AgentNoted(Event):
    """Any other activity, for the agent's pane."""

    kind: Literal["agent_noted"] = "agent_noted"
    iteration: int
    level: Literal["log", "warn", "error"] = "log"
    text: Plain
    service: Literal["", "silent", "usage_limit", "overload", "outage"] = ""
    """Why the call to its service that the agent is retrying failed; empty if none failed."""
    parent: Line | None = None
    """The tool call that started the subagent concerned; None for the main agent."""
    offset: int = 0

    def line(self) -> str | None:
        return f"agent   {self.text}" if self.level != "log" else None


class BackgroundTask(Fact):
    """Work that continues between the agent's turns."""

    what: Line
    """The command of the task, or the subagent and its task."""
    age_s: float = 0.0
    """Seconds since it began."""

    def since(self, at: datetime) -> str:
        """Return ``npm run dev (since 03:12)``, as of `at`."""
        age = timedelta(seconds=max(0.0, min(self.age_s, LONGEST_AGE_S)))
        return f"{clip(one_line(self.what), LONGEST_TASK)} (since {day_and_clock(at - age, at)})"


class BackgroundAwaited(Event):
    """Background tasks keep the session open after a turn; without `tasks`, it no longer waits."""

    kind: Literal["background_awaited"] = "background_awaited"
    iteration: int
    tasks: list[BackgroundTask] = []
    """Oldest first."""
    unnamed: int = 0
    """Number of further tasks."""
    silence_s: float = 0.0
    """Seconds without output from the agent after which the session and the tasks are ended."""
    given_up: bool = False
    """True if that time has passed and the tasks have been ended."""

    @property
    def words(self) -> str:
        """A text like ``waits for 1 background task: make (since 03:14)``; empty without tasks."""
        if not self.tasks:
            return ""
        tasks = [task.since(self.at) for task in self.tasks[:NAMED_TASKS]]
        number = len(self.tasks) + self.unnamed
        more = [f"{number - len(tasks)} more"] if number > len(tasks) else []
        listed = f"{count(number, 'background task')}: {', '.join([*tasks, *more])}"
        if self.given_up:
            return f"ended after {duration(self.silence_s)} of silence: {listed}"
        return f"waits for {listed}"

    def line(self) -> str | None:
        return f"agent   {self.words}" if self.words else None


class UsageReported(Event):
    """The session's usage so far."""

    kind: Literal["usage_reported"] = "usage_reported"
    iteration: int
    tokens: int = 0
    """Known input, cache and output tokens of this session."""
    tokens_partial: bool = False
    """True if the agent does not count all of its calls: `tokens` is a lower bound."""
    context_tokens: int | None = None
    """Tokens in the context window after the last main-thread message."""
    context_window: int | None = None
    """Size in tokens; None if not reported, 0 if unknown because another model answers now."""
    cost_usd: float | None = None
    """Dollars spent in this session so far."""
    cost_estimated: bool = False


class AgentReported(Event):
    """The JSON line that the output contract requires."""

    kind: Literal["agent_reported"] = "agent_reported"
    iteration: int
    completion: float | None = None
    """The agent's claim in points, 0-100."""
    summary: Plain = ""
    blockers: list[Plain] = []
    learnings: list[Plain] = []
    next: Plain = ""
    item_progress: float | None = None
    """The agent's claim of progress on the plan's open item, in points, 0-100."""

    @property
    def _claim(self) -> str:
        return "" if self.completion is None else f"claims {percent(self.completion)}"

    @property
    def words(self) -> str:
        """The report in words, as in ``claims 56 % · fixed two · blocked by no network``."""
        blocked = f"blocked by {'; '.join(self.blockers)}" if self.blockers else ""
        following = f"next: {self.next}" if self.next else ""
        item = "" if self.item_progress is None else f"open item at {percent(self.item_progress)}"
        parts = [self._claim, item, self.summary, blocked, following]
        return " · ".join(part for part in parts if part) or "empty report"

    def line(self, said: str = "") -> str:
        """Return one line per part, so that the claim does not read as a measurement.

        `said` is the agent's last message; a summary that repeats it is left out.
        """
        blocked = [f"blocked by {' '.join(what.split())}" for what in self.blockers]
        following = f"next: {self.next}" if self.next else ""
        parts = [part for part in (self._claim, *blocked, following) if part]
        summary = " ".join(self.summary.split())
        if summary and same_words(summary) not in same_words(strip_claims(said)):
            parts.insert(0, summary)
        shown = parts or [summary or "empty report"]
        return "\n".join(f"agent   {one_line(what)}" for what in shown)


class PromiseMade(Event):
    """The agent says that the task is done, which is a claim, not a measurement."""

    kind: Literal["promise_made"] = "promise_made"
    iteration: int

    @property
    def words(self) -> str:
        return "says it is done"

    def line(self) -> str:
        return f"agent   {self.words}"


class SessionFinished(Event):
    """The agent's process and everything it started have ended."""

    kind: Literal["session_finished"] = "session_finished"
    iteration: int
    outcome: SessionOutcome
    reason: Plain = ""
    """One sentence; empty on success."""
    exit_code: int | None = None
    """As in a shell: 143 after SIGTERM."""
    duration_s: float = 0.0
    cost_usd: float | None = None
    """None if the agent does not report it."""
    tokens: int = 0
    turns: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    limit: Literal["usage_limit", "overload", "outage"] | None = None
    """The kind of limit, if the outcome is ``limited``."""
    resets_at: datetime | None = None
    """UTC time when that limit ends, if the service reported it."""
    leftovers: int = 0
    """Number of processes that it left running, now stopped."""

    @property
    def words(self) -> str:
        """The reason why the session ended, else its outcome in words."""
        return self.reason or in_words(self.outcome)

    @property
    def stream(self) -> str:
        """The row in the agent's stream."""
        return self.words if self.reason or self.outcome != "success" else "session ended"

    def row(self) -> Row | None:
        if self.limit is not None:
            return None  # the wait for the limit has its own row
        expected = ("success", "stopped", "interrupted", "rolled_over")
        if self.outcome not in expected or (self.outcome == "success" and self.reason):
            return Row("warn", "AGENT", self.words)
        if self.leftovers:
            kind = "process" if self.leftovers == 1 else "processes"
            return Row("log", "AGENT", f"{self.leftovers} leftover {kind} stopped")
        return None

    def line(self) -> str:
        cost = "" if self.cost_usd is None else f", {money(self.cost_usd, exact=True)}"
        why = f": {self.reason}" if self.reason else ""
        # Without a count, the agent may still have used tools.
        calls = f", {count(self.tool_calls, 'tool call')}" if self.tool_calls else ""
        how = _ENDED.get(self.outcome) or in_words(self.outcome)
        return f"agent   {how} after {duration(self.duration_s)}{calls}{cost}{why}"
