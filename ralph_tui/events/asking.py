"""What a running agent asks of its owner: a permission, or questions of its own."""

from typing import Literal

from ralph_tui.events.base import Event, Fact
from ralph_tui.events.text import Line, Plain

__all__ = ["AgentAsked", "AgentAskedNoMore", "AgentRefusedAgain"]


class AgentOption(Fact):
    """One answer to a question of the agent's own."""

    label: Line
    description: Plain = ""


class AgentChoice(Fact):
    """A question of the agent's own."""

    question: Plain
    header: Line = ""
    """The same in a word or two."""
    options: list[AgentOption] = []
    multiple: bool = False
    """Whether several may be chosen."""


class AgentRequest(Fact):
    """What an agent wants to be answered before it goes on: a permission, or questions of its own.

    Made by ``asked`` of the agents' room, which bounds it.
    """

    request_id: Line
    """As the session calls it; alone in its session."""
    tool: Line
    """As the agent calls it."""
    input: Plain = ""
    """What it would do: the command, or path and diff."""
    why: Plain = ""
    """The agent's reason."""
    rule: Line = ""
    """Exactly what an answer for the session would allow; empty: that is not offered."""
    choices: list[AgentChoice] = []
    """Questions of its own; empty: it asks for a permission."""
    parent: Line | None = None
    """The tool call that owns the subagent which asks."""


class AgentAsked(AgentRequest, Event):
    """The agent asks, and waits for an answer."""

    urgent = True
    kind: Literal["agent_asked"] = "agent_asked"
    iteration: int


class AgentAskedNoMore(Event):
    """The agent has taken back what it had asked."""

    kind: Literal["agent_asked_no_more"] = "agent_asked_no_more"
    iteration: int
    request_id: Line
    reason: Plain = ""
    """A few words."""


class AgentRefusedAgain(Event):
    """The agent has asked in the same session what was refused before: it is told the same."""

    kind: Literal["agent_refused_again"] = "agent_refused_again"
    iteration: int
    request_id: Line
    """Of what it has asked now."""
    question_id: Line
    """The question with whose answer it was refused."""
    times: int = 1
    """How often it was refused without a question by now."""
