"""What the agent did: sessions, words, tools, usage."""

from datetime import datetime, timedelta
from typing import Final, Literal

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.claims import without_claims
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
    "success",  # the agent ended its turn of its own accord
    "missing",  # its program is not there, or cannot be run
    "not_started",  # its program ended, or was given up, before it could take the prompt
    "error",  # it said that it failed, or its stream broke off
    "limited",  # a usage limit, overload or an outage ended it
    "auth",  # it is not allowed to speak to its service
    "unknown_model",  # its service has no such model
    "unresumable",  # the session it was to go on with is not to be had; nothing was done
    "context_full",  # its context window overflowed
    "rolled_over",  # ended for its context, with a handoff; a fresh session goes on
    "max_turns",
    "budget",
    "interrupted",  # we, or the owner, interrupted it
    "silent",  # it said nothing for too long and was stopped to be tried again
    "timeout",  # it ran longer than a session may
    "stopped",  # ended because the run ends
    "crashed",  # it died without a word
]
NO_FAULT: Final[frozenset[SessionOutcome]] = frozenset({"success", "rolled_over"})
"""Ends of a session with which nothing was wrong."""


Prevented = Literal["", "denied", "interrupted"]
"""Why a tool did not do its work, where that is no failure of the tool."""


_ENDED = {
    "success": "ended",
    "auth": "sign-in refused",
    "missing": "cannot be run",
    "not_started": "did not start",
    "limited": "stopped by a limit",
    "unknown_model": "model refused",
    "context_full": "context full",
}
"""Outcomes of a session whose names are no plain words."""
_WHY_NOT = {
    "overload": "{name} is not served (overload)",
    "outage": "{name} is not served (its service is down)",
    "auth": "{name} is not signed in",
    "missing": "{name} cannot be run",
    "not_started": "{name} does not start",
    "unknown_model": "{name} has no such model",
}
LONGEST_WHY = 80
"""Characters of why a program cannot be run."""
SPOKEN_LINES = 40
"""Of what the agent says at once; its transcript has the rest."""
NAMED_TASKS = 3
"""Background tasks that a sentence names."""
LONGEST_TASK = 60
LONGEST_AGE_S = 1e7
"""Of a background task; a record can be damaged."""


class AgentChanged(Event):
    """Another agent of the run works from here on."""

    durable = True
    urgent = True
    kind: Literal["agent_changed"] = "agent_changed"
    iteration: int
    before: Line
    """The one that has worked so far."""
    agent: Line
    """The one that works now."""
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
    """What keeps `before` from working; ``back``: nothing, but `agent` comes first."""
    reason: Plain = ""
    """The words of the service or the program, one sentence."""
    until: datetime | None = None
    """When `before` is tried again, UTC; None: not in this run, unless it is paused or resumed."""
    guessed: bool = False
    """The service did not say when its limit ends: `until` is only the next try."""

    def row(self) -> Row:
        level: RowLevel = "log" if self.cause == "back" else "warn"
        return Row(level, "AGENT", self.words(self.at), self.reason)

    def words(self, now: datetime, agent: str = "") -> str:
        """``claude is at its limit until 03:10; codex works meanwhile``.

        `agent`: who works at `now`.
        """
        if self.cause == "back":
            return f"{self.agent} is tried again, {self.before} no longer stands in"
        at = "" if self.until is None else day_and_clock(self.until, now)
        if self.cause == "usage_limit":
            until = f", next try at {at}" if self.guessed else f" until {at}"
            why = f"{self.before} is at its limit{until if at else ''}"
        else:
            why = _WHY_NOT[self.cause].format(name=self.before) + (
                f", next try at {at}" if at else ""
            )
            if self.cause == "missing" and self.reason:
                # Not there, or there and not able to: its first words say which.
                first = one_line(self.reason).partition(": ")[0].rstrip(".")
                why += f" ({clip(first, LONGEST_WHY)})"
        return f"{why}; {agent or self.agent} works meanwhile"


class SessionStarted(Event):
    """An agent process runs."""

    kind: Literal["session_started"] = "session_started"
    iteration: int
    session_id: Line
    agent: Line
    pid: int = 0
    takes_guidance: bool = False
    """Whether words can reach it while it works."""
    transcript: Line = ""
    """Relative to the attempt's folder; offsets of the events below point into it."""
    tells_tools: bool = True
    """Whether the agent tells what tools it uses; else its actions are derived from its work."""
    tells_context: bool = True
    """Whether the agent can tell how full its context window is."""

    @property
    def stream(self) -> str:
        """Its row in the agent's stream."""
        return f"iteration {self.iteration}: {self.agent} starts"


class SessionDescribed(Event):
    """What the agent says of itself when it begins."""

    kind: Literal["session_described"] = "session_described"
    iteration: int
    model: Line | None = None
    permission_mode: Line | None = None
    billing: Line | None = None
    """Where the bill goes, as far as the stream tells."""
    version: Line | None = None


class AgentSpoke(Event):
    """Text of the agent, shortened; the whole is in the transcript at `offset`."""

    kind: Literal["agent_spoke"] = "agent_spoke"
    iteration: int
    text: Plain
    parent: Line | None = None
    """The tool call that owns the subagent which spoke."""
    offset: int = 0

    @property
    def words(self) -> str:
        """Without report and promise, which are events of their own."""
        return self.text if self.parent is not None else without_claims(self.text)

    def line(self) -> str | None:
        said = [line for line in self.words.splitlines() if line.strip()]
        rest = count(len(said) - SPOKEN_LINES, "more line")
        more = [f"… and {rest}, in the transcript of iteration {self.iteration}"]
        shown = [*said[:SPOKEN_LINES], *(more if said[SPOKEN_LINES:] else [])]
        return "\n".join(f"agent   {line}" for line in shown)


class ToolStarted(Event):
    """The agent uses a tool."""

    kind: Literal["tool_started"] = "tool_started"
    iteration: int
    tool_id: Line
    tool: Line
    summary: Line = ""
    """The file, command or pattern it works on."""
    parent: Line | None = None
    offset: int = 0

    def line(self) -> str:
        return f"tool    {self.tool} {self.summary}"


class ToolFinished(Event):
    """A tool answered."""

    kind: Literal["tool_finished"] = "tool_finished"
    iteration: int
    tool_id: Line
    ok: bool
    summary: Line = ""
    """A few words of the result: ``exit 1``, ``212 lines``, ``+9 −4``."""
    prevented: Prevented = ""
    """Set where the tool was kept from its work: by its owner, or for want of a permission."""
    duration_s: float = 0.0
    offset: int = 0

    def line(self) -> str | None:
        """Of a call that failed."""
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
    """Further lines that it needs beside that one."""
    final: bool = False
    """No such line permits it."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The ``permissions.allow`` lines that permit it together; else the tool, where one may."""
        return () if self.final else (self.permit or self.tool, *self.also)

    @property
    def words(self) -> str:
        """``Bash denied: it may not push``."""
        return f"{self.tool} denied{': ' + self.message if self.message else ''}"

    @property
    def permits(self) -> str:
        """The setting that permits what was denied, or that none does."""
        if self.final:
            return "no line of permissions.allow permits it"
        lines = ", ".join(f'"{line}"' for line in self.lines)
        return f"permissions.allow = [{lines}] permits it"

    def row(self) -> Row:
        return Row("warn", "DENIED", f"{self.tool}: {self.permits}", self.message)

    def line(self) -> str:
        """What permits it on a line of its own: behind a long message it would be cut off."""
        how = f"\nagent   {self.permits}" if self.permit or self.final else ""
        return f"agent   {one_line(self.words)}{how}"


class AgentNoted(Event):
    """Any other sign of life that belongs in the agent's pane."""

    kind: Literal["agent_noted"] = "agent_noted"
    iteration: int
    level: Literal["log", "warn", "error"] = "log"
    text: Plain
    service: Literal["", "silent", "usage_limit", "overload", "outage"] = ""
    """Why a call to its service failed that the agent tries again; empty: none did."""
    parent: Line | None = None
    """The tool call that owns the work it is about."""
    offset: int = 0

    def line(self) -> str | None:
        return f"agent   {self.text}" if self.level != "log" else None


class BackgroundTask(Fact):
    """Work that goes on beside the agent's turns."""

    what: Line
    """Its command, or the subagent and what it is to do."""
    age_s: float = 0.0
    """Seconds since it began."""

    def since(self, at: datetime) -> str:
        """``npm run dev (since 03:12)``, as told at `at`."""
        age = timedelta(seconds=max(0.0, min(self.age_s, LONGEST_AGE_S)))
        return f"{clip(one_line(self.what), LONGEST_TASK)} (since {day_and_clock(at - age, at)})"


class BackgroundAwaited(Event):
    """What a turn left in the background holds the session; without tasks: not any more."""

    kind: Literal["background_awaited"] = "background_awaited"
    iteration: int
    tasks: list[BackgroundTask] = []
    """The oldest first."""
    unnamed: int = 0
    """Further tasks."""
    silence_s: float = 0.0
    """Seconds without a word from the agent after which they are ended with the session."""
    given_up: bool = False
    """That time has passed: they are ended."""

    @property
    def words(self) -> str:
        """``waits for 1 background task: make (since 03:14)``; empty where it waits for none."""
        if not self.tasks:
            return ""
        tasks = [task.since(self.at) for task in self.tasks[:NAMED_TASKS]]
        number = len(self.tasks) + self.unnamed
        more = [f"{number - len(tasks)} more"] if number > len(tasks) else []
        told = f"{count(number, 'background task')}: {', '.join([*tasks, *more])}"
        if self.given_up:
            return f"ended after {duration(self.silence_s)} of silence: {told}"
        return f"waits for {told}"

    def line(self) -> str | None:
        return f"agent   {self.words}" if self.words else None


class UsageReported(Event):
    """What the session has used so far."""

    kind: Literal["usage_reported"] = "usage_reported"
    iteration: int
    tokens: int = 0
    """Input, cache and output tokens of this session together, as far as known."""
    tokens_partial: bool = False
    """`tokens` lacks calls that the agent does not count: a lower bound."""
    context_tokens: int | None = None
    """Tokens in the context window after the last main-thread message."""
    context_window: int | None = None
    """Tokens that it holds; None: not told; 0: not known any more, since another model answers."""
    cost_usd: float | None = None
    """Of this session, so far."""
    cost_estimated: bool = False


class AgentReported(Event):
    """The one JSON line the output contract asks for."""

    kind: Literal["agent_reported"] = "agent_reported"
    iteration: int
    completion: float | None = None
    """Points, 0-100, as the agent claims."""
    summary: Plain = ""
    blockers: list[Plain] = []
    learnings: list[Plain] = []
    next: Plain = ""

    @property
    def _claim(self) -> str:
        return "" if self.completion is None else f"claims {percent(self.completion)}"

    @property
    def words(self) -> str:
        """``claims 56 % · fixed two · blocked by no network · next: the parser``."""
        blocked = f"blocked by {'; '.join(self.blockers)}" if self.blockers else ""
        following = f"next: {self.next}" if self.next else ""
        parts = [self._claim, self.summary, blocked, following]
        return " · ".join(part for part in parts if part) or "empty report"

    def line(self, said: str = "") -> str:
        """A line each: its claim is no measurement, and what is in its way is not glued to it.

        `said`: its last words; what it sums up in the same ones has its lines.
        """
        blocked = [f"blocked by {' '.join(what.split())}" for what in self.blockers]
        following = f"next: {self.next}" if self.next else ""
        told = [part for part in (self._claim, *blocked, following) if part]
        summary = " ".join(self.summary.split())
        if summary and same_words(summary) not in same_words(without_claims(said)):
            told.insert(0, summary)
        shown = told or [summary or "empty report"]
        return "\n".join(f"agent   {one_line(what)}" for what in shown)


class PromiseMade(Event):
    """The agent said that it is done. That is a claim, not a measurement."""

    kind: Literal["promise_made"] = "promise_made"
    iteration: int

    @property
    def words(self) -> str:
        """The claim."""
        return "says it is done"

    def line(self) -> str:
        return f"agent   {self.words}"


class SessionFinished(Event):
    """The agent's process, and all it started, is gone."""

    kind: Literal["session_finished"] = "session_finished"
    iteration: int
    outcome: SessionOutcome
    reason: Plain = ""
    """One sentence, empty on success."""
    exit_code: int | None = None
    """As a shell would say it: 143 after SIGTERM."""
    duration_s: float = 0.0
    cost_usd: float | None = None
    """None where the agent does not tell."""
    tokens: int = 0
    turns: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    limit: Literal["usage_limit", "overload", "outage"] | None = None
    """Which kind of limit ended it, with outcome ``limited``."""
    resets_at: datetime | None = None
    """When that limit ends, UTC, as far as the service told."""
    leftovers: int = 0
    """Processes it had left running, now stopped."""

    @property
    def words(self) -> str:
        """Why it has ended: its reason, else its outcome."""
        return self.reason or in_words(self.outcome)

    @property
    def stream(self) -> str:
        """Its row in the agent's stream."""
        return self.words if self.reason or self.outcome != "success" else "session ended"

    def row(self) -> Row | None:
        if self.limit is not None:
            return None  # the wait for it is told
        expected = ("success", "stopped", "interrupted", "rolled_over")
        if self.outcome not in expected or (self.outcome == "success" and self.reason):
            return Row("warn", "AGENT", self.words)
        if self.leftovers:
            kind = "process" if self.leftovers == 1 else "processes"
            return Row("log", "AGENT", f"{self.leftovers} left-over {kind} stopped")
        return None

    def line(self) -> str:
        """How it ended, after how long, at what cost."""
        cost = "" if self.cost_usd is None else f", {money(self.cost_usd, exact=True)}"
        why = f": {self.reason}" if self.reason else ""
        # An agent that tells of no calls may have made some.
        calls = f", {count(self.tool_calls, 'tool call')}" if self.tool_calls else ""
        how = _ENDED.get(self.outcome) or in_words(self.outcome)
        return f"agent   {how} after {duration(self.duration_s)}{calls}{cost}{why}"
