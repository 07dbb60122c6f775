"""Requests of a running agent to the user: permissions, or its own questions."""

from typing import Literal

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line

__all__ = ["AgentAsked", "AgentAskedNoMore", "AgentRefusedAgain"]


IN_ROW = 40
"""Maximum length of a request if its decision follows in the same row."""
LONGEST = 160
"""Maximum length of a tool's input quoted in a sentence, in characters."""


class AgentOption(Fact):
    """One answer to an agent's own question."""

    label: Line
    description: Plain = ""


class AgentChoice(Fact):
    """One of the agent's own questions."""

    question: Plain
    header: Line = ""
    """The question in a word or two."""
    options: list[AgentOption] = []
    multiple: bool = False
    """True if several options may be chosen."""


class AgentRequest(Fact):
    """A request that the agent waits for: a permission, or answers to its own questions.

    `ralph_tui.adapters.agents.requests` builds it and bounds its size.
    """

    request_id: Line
    """The session's own id for it, unique within the session."""
    tool: Line
    """The agent's name for the tool."""
    input: Plain = ""
    """The tool's input: the command, or path and diff."""
    why: Plain = ""
    """The agent's reason."""
    rule: Line = ""
    """The exact permission that an answer for the session grants; empty if not offered."""
    choices: list[AgentChoice] = []
    """The agent's own questions; empty if it asks for a permission."""
    parent: Line | None = None
    """The tool call that started the asking subagent; None for the main agent."""

    @property
    def wanted(self) -> str:
        """The request, as in ``Bash: git push origin main``, or the agent's first question."""
        if self.choices:
            more = len(self.choices) - 1
            first = clip(one_line(self.choices[0].question), LONGEST)
            return f"{first} (and {more} more)" if more else first
        lines = self.input.strip().split("\n")
        first = clip(one_line(lines[0]), LONGEST)
        more_lines = " …" if len(lines) > 1 and not first.endswith("…") else ""
        return f"{self.tool}: {first}{more_lines}" if first else self.tool

    def asks(self, agent: str) -> str:
        """Return ``claude asks for Bash: git push``, or the agent's first question."""
        who = agent or "the agent"
        who = f"a subagent of {who}" if self.parent else who
        return f"{who} asks: {self.wanted}" if self.choices else f"{who} asks for {self.wanted}"

    def decided(self, decision: str) -> str:
        """Return ``Bash: git push origin main: refused by you``."""
        return f"{clip(self.wanted, IN_ROW)}: {decision}"

    @property
    def whole(self) -> str:
        """The full request for a detail view."""
        asked = [
            "\n".join([one.question, *(f"  {each.label}" for each in one.options)])
            for one in self.choices
        ]
        rule = f"allowing it for the session permits: {self.rule}" if self.rule else ""
        parts = asked if self.choices else [f"{self.tool}: {self.input}", self.why, rule]
        return "\n".join(part for part in parts if part)


class AgentAsked(AgentRequest, Event):
    """The agent asks and waits for an answer."""

    urgent = True
    kind: Literal["agent_asked"] = "agent_asked"
    iteration: int


class AgentAskedNoMore(Event):
    """The agent withdrew its request."""

    kind: Literal["agent_asked_no_more"] = "agent_asked_no_more"
    iteration: int
    request_id: Line
    reason: Plain = ""
    """A few words."""


class AgentRefusedAgain(Event):
    """The agent repeated a refused request in the same session and got the same answer."""

    kind: Literal["agent_refused_again"] = "agent_refused_again"
    iteration: int
    request_id: Line
    """Id of the repeated request."""
    question_id: Line
    """The question whose answer refused it."""
    times: int = 1
    """Number of repeats refused so far without asking the user."""

    def row(self) -> Row:
        often = "asked again" if self.times == 1 else f"asked again {count(self.times, 'time')}"
        return Row("log", "", f"{often} in the same session: same answer, without asking you")

    def line(self) -> str | None:
        return f"agent   {self.row().text}" if self.times == 1 else None
