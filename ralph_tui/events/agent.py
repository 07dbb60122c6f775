"""What the agent did: prompts, sessions, words, tools, usage, and guidance on its way to it."""

from datetime import datetime
from typing import Final, Literal

from ralph_tui.events.base import Event, Fact
from ralph_tui.events.text import Line, Plain

__all__ = [
    "AgentChanged",
    "AgentNoted",
    "AgentReported",
    "AgentSpoke",
    "BackgroundAwaited",
    "GuidanceAcknowledged",
    "GuidanceDelivered",
    "GuidanceQueued",
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


class BackgroundTask(Fact):
    """Work that goes on beside the agent's turns."""

    what: Line
    """Its command, or the subagent and what it is to do."""
    age_s: float = 0.0
    """Seconds since it began."""


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


class PromiseMade(Event):
    """The agent said that it is done. That is a claim, not a measurement."""

    kind: Literal["promise_made"] = "promise_made"
    iteration: int


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


class GuidanceQueued(Event):
    """The owner's words wait for the agent."""

    durable = True
    kind: Literal["guidance_queued"] = "guidance_queued"
    guidance_id: Line
    text: Plain
    by: Line = "you"


class GuidanceDelivered(Event):
    """The words were handed over, into the running session or a prompt."""

    kind: Literal["guidance_delivered"] = "guidance_delivered"
    guidance_id: Line
    into: Literal["session", "prompt"]


class GuidanceAcknowledged(Event):
    """The agent's side confirmed that it has the words."""

    kind: Literal["guidance_acknowledged"] = "guidance_acknowledged"
    guidance_id: Line
