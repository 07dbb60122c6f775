"""The demo's sessions over stream-json, and its answers to one-shot questions."""

from collections.abc import Sequence

from ralph_tui.adapters.agents.claude.one_shot import ask_once
from ralph_tui.adapters.agents.claude.stream_agent import StreamAgent
from ralph_tui.adapters.agents.description import AgentContext, AgentDescription
from ralph_tui.ports import Ask, Asked


class DemoAgent(StreamAgent):
    """The scripted agent; it has one model, whatever is named."""

    def __init__(
        self, description: AgentDescription, program: Sequence[str], context: AgentContext
    ) -> None:
        super().__init__(description.name, program, context)
        self.small_model = description.small_model
        self._asked = [*program, "--ask"]

    def ask(self, question: Ask) -> Asked:
        """See `Asker`."""
        return ask_once(self._asked, self.context, question, "The demo's agent")
