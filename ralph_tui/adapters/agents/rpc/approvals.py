"""Permission requests of agents: which rules permit them, and how they are answered. Pure.

A permission is for one use, or for the session, by a rule that ralph-tui keeps. The agent would
write a rule of its own to its folder, and the rule would outlast the session.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ralph_tui.adapters.agents.permissions import Permits, host_of, rules_for_denied
from ralph_tui.adapters.agents.requests import asked
from ralph_tui.adapters.agents.rpc.messages import Id
from ralph_tui.adapters.agents.tools import tool_denied
from ralph_tui.events import AgentAsked, ToolDenied
from ralph_tui.events.asking import AgentChoice
from ralph_tui.ports.agents import AgentAnswer
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]

EDITS = frozenset({"edit", "delete", "move"})
READS = frozenset({"read", "search", "think"})


@dataclass
class Approval:
    """A permission request that has not been answered yet."""

    id: Id
    tool: str
    kind: str = ""
    """``execute``, ``fetch``, ``other``, one of `EDITS` or `READS`; empty if no rule permits it."""
    tool_id: str = ""
    about: str = ""
    """The subject, in one line; empty to use the first line of `shown`."""
    shown: str = ""
    why: str = ""
    command: str = ""
    url: str = ""
    paths: list[str] = field(default_factory=list)
    named: bool = False
    """True if a rule with only the tool's name permits every use of the tool."""
    once: bool = False
    """True if no rule may allow it for the session."""
    yes: Json | None = None
    """The answer that allows this use only; None if the agent does not offer it."""
    no: Json = field(default_factory=dict)
    cancelled: Json = field(default_factory=dict)
    choices: list[AgentChoice] = field(default_factory=list)
    """Questions from the model itself, instead of a permission request."""
    parent: str | None = None
    """Thread of the subagent that asks; None for the main agent."""

    @property
    def subject(self) -> str:
        """The subject, in one line."""
        words = self.about or (self.shown or self.why or self.tool).strip().split("\n", 1)[0]
        return shorten(words)

    @property
    def rule(self) -> str:
        """The rule for the whole session; empty if none can express it."""
        if self.once:
            return ""
        if self.kind == "execute":
            return f"Bash({self.command})" if self.command else ""
        if self.kind in EDITS | READS or self.paths:
            return f"{self._file_tool}({', '.join(self.paths)})" if self.paths else ""
        if self.kind == "fetch":
            return self._address_line
        return self.tool if self.named else ""

    def permitted(self, permits: Permits) -> bool:
        """True if the session's rules permit it."""
        if self.choices:
            return False
        if permits.everything or (self.named and permits.tool(self.tool)):
            return True
        if self.kind == "execute":
            return permits.command(self.command)
        if self.kind in EDITS:
            return bool(self.paths) and permits.edit(self.paths)
        if self.kind in READS:
            return permits.read(self.paths)
        if self.kind == "fetch":
            return permits.fetch(self.url)
        # Unknown kind: tools ask for access to outside paths this way, and nothing more is known.
        outside = bool(self.paths) and not any(map(permits.is_in_worktree, self.paths))
        return outside and permits.edit(self.paths)

    def answer(self, given: AgentAnswer) -> Json | None:
        """Return the user's answer in the agent's format, or None if there is no such answer."""
        return self.no if given.decision == "refuse" else self.yes

    def event(self, iteration: int, request_id: str) -> AgentAsked:
        """Build the event that asks the user."""
        return asked(
            iteration,
            request_id,
            self.tool,
            input=self.shown,
            why=self.why,
            rule=self.rule,
            choices=self.choices,
            parent=self.parent,
        )

    def denied(self, iteration: int, root: str) -> ToolDenied:
        """Build the event for a denial, with the lines that would permit it."""
        message = f"Not permitted: {self.subject}"
        return tool_denied(iteration, self.tool, self.tool_id, message, self._lines(root))

    def _lines(self, root: str) -> list[str]:
        if self.kind == "execute":
            return rules_for_denied("Bash", {"command": self.command}, roots=[root])
        if self.kind in EDITS | READS or self.paths:
            found = [
                rules_for_denied(self._file_tool, {"file_path": path}, roots=[root])
                for path in self.paths
            ]
            return list(dict.fromkeys(line for lines in found for line in lines))
        if self.kind == "fetch":
            return [self._address_line]
        return [self.tool] if self.named else []

    @property
    def _file_tool(self) -> str:
        return "Read" if self.kind in READS else "Edit"

    @property
    def _address_line(self) -> str:
        host = host_of(self.url)
        return f"WebFetch(domain:{host})" if host else "WebFetch"
