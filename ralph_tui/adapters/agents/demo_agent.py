"""The demo's sessions over stream-json, and its answers to one-shot questions."""

from ralph_tui.adapters.agents.claude.one_shot import ask_once
from ralph_tui.adapters.agents.claude.stream_agent import StreamAgent
from ralph_tui.adapters.agents.demo import DEMO, program
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.ports.agents import Ask, Asked


class DemoAgent(StreamAgent):
    """The scripted agent. It has a single model, whatever the settings say."""

    small_model = DEMO.small_model

    def __init__(self, context: AgentContext) -> None:
        words = program(context.scenario, fast=context.fast)
        super().__init__(DEMO.name, words, context)

    def ask(self, question: Ask) -> Asked:
        return ask_once([*self._program, "--ask"], self.context, question, "The demo's agent")
