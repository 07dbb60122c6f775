"""What a running agent asks of its owner: a permission, or questions of its own."""

from typing import Literal

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line

__all__ = ["AgentAsked", "AgentAskedNoMore", "AgentRefusedAgain"]


IN_ROW = 40
"""Characters of what was asked where the decision follows it."""
LONGEST = 160
"""Characters of what a tool would do, where it is told in passing."""


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

    @property
    def wanted(self) -> str:
        """``Bash: git push origin main``: what it would do; of a choice its first question."""
        if self.choices:
            more = len(self.choices) - 1
            first = clip(one_line(self.choices[0].question), LONGEST)
            return f"{first} (and {more} more)" if more else first
        lines = self.input.strip().split("\n")
        first = clip(one_line(lines[0]), LONGEST)
        more_lines = " …" if len(lines) > 1 and not first.endswith("…") else ""
        return f"{self.tool}: {first}{more_lines}" if first else self.tool

    def asks(self, agent: str) -> str:
        """``claude asks for Bash: git push origin main``; of a choice its question."""
        who = agent or "the agent"
        who = f"a subagent of {who}" if self.parent else who
        return f"{who} asks: {self.wanted}" if self.choices else f"{who} asks for {self.wanted}"

    def decided(self, decision: str) -> str:
        """``Bash: git push origin main: refused by you``."""
        return f"{clip(self.wanted, IN_ROW)}: {decision}"

    @property
    def whole(self) -> str:
        """All of it, for whoever looks closer."""
        asked = [
            "\n".join([one.question, *(f"  {each.label}" for each in one.options)])
            for one in self.choices
        ]
        rule = f"for the session it would allow: {self.rule}" if self.rule else ""
        parts = asked if self.choices else [f"{self.tool}: {self.input}", self.why, rule]
        return "\n".join(part for part in parts if part)


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

    def row(self) -> Row:
        """Below the question; the newest one counts."""
        often = "asked again" if self.times == 1 else f"asked again {count(self.times, 'time')}"
        return Row("log", "", f"{often} in the same session: told the same, without a question")

    def line(self) -> str | None:
        return f"agent   {self.row().text}" if self.times == 1 else None
