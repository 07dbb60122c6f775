"""Warn about patterns in the agent's tool calls while it works, each once per iteration."""

from ralph_tui.events import Noticed
from ralph_tui.layers.intelligence.evidence import agent_rows
from ralph_tui.layers.intelligence.patterns import warnings
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.state import AgentRow, RunState

LOOK_S = 3.0
"""Minimum seconds between two checks of the calls."""


class ToolPatterns(Step):
    """Watches the tool calls of an iteration's sessions."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._enabled = run.settings.intelligence.enabled
        self._clock = run.scheduler.host.clock
        self._iteration = self._calls = 0
        self._due = 0.0
        self._known: set[str] = set()

    def watch(self) -> None:
        """Warn about new patterns; called while the agent works."""
        agent, now = self._state.agent, self._clock.monotonic()
        if agent.tool_calls == self._calls or now < self._due:
            return
        self._calls = agent.tool_calls
        self._due = now + LOOK_S
        self.look()

    def look(self) -> None:
        """Warn about new patterns in all calls so far."""
        if not self._enabled:
            return
        nothing: dict[str, str] = {}
        k = self._state.run.iteration
        if k != self._iteration:
            self._iteration, self._known = k, set()
        found = self.guarded(
            "intelligence",
            lambda: dict(warnings(_calls(self._state, k))),
            lambda: nothing,
            instead="patterns in its tool calls are not reported",
        )
        for key, text in found.items():
            if key not in self._known:
                self._known.add(key)
                self.record(Noticed(level="warn", source="agent", text=text))


def _calls(state: RunState, iteration: int) -> list[AgentRow]:
    return [row for row in agent_rows(state, iteration) if row.kind == "tool"]
