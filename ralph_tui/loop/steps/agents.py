"""Step 10: choose which of several agents works, switch to a fallback, and switch back.

The first agent in the order that can work is chosen. If an agent is refused for a short time, the
run waits for it. If it is refused for longer, or for good, another agent takes over. If no other
agent is free, the run waits for the first that can work again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ralph_tui.events import AgentChanged, Noticed, SessionFinished
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.service_limits import wait_for_service, wait_until
from ralph_tui.loop.waiting.ends import Ended
from ralph_tui.ports.agents import Agent
from ralph_tui.state.roster import Refusal

STARTS = 2
"""Number of consecutive failed starts after which ralph-tui stops trying an agent."""

Refusals = Mapping[str, Refusal]
"""Maps an agent's name to the reason why it cannot work."""


@dataclass(frozen=True)
class UseAgent:
    """Let this agent work now."""

    agent: str


@dataclass(frozen=True)
class WaitForAgent:
    """Wait until this time, then try this agent."""

    agent: str
    until: datetime


def free_at(refusal: Refusal) -> datetime | None:
    """Return when to try a refused agent again; None: never, because the user has to act."""
    if refusal.limit is None:
        return None
    return wait_until(refusal.at, refusal.limit, max(1, refusal.tries), refusal.resets_at)


def choose_first(order: Sequence[str], refusals: Refusals, now: datetime) -> str:
    """Return the agent for a new iteration; if none is free, the one that becomes free first."""
    free = [name for name in order if _is_free(refusals.get(name), now)]
    return free[0] if free else (_earliest(order, refusals) or WaitForAgent(order[0], now)).agent


def choose_next(
    order: Sequence[str], refusals: Refusals, current: str, now: datetime, patience_s: float
) -> UseAgent | WaitForAgent | None:
    """Choose how to continue an iteration in which `current` was refused; None: no agent can.

    `patience_s`: how many seconds after its first refusal the run waits for an agent.
    """
    refusal = refusals[current]
    if refusal.cause == "not_started" and refusal.tries < STARTS:
        return UseAgent(current)
    own = free_at(refusal)
    if own is not None and own - refusal.since <= timedelta(seconds=patience_s):
        return WaitForAgent(current, own)
    other = find_replacement(order, refusals, current, now)
    return UseAgent(other) if other else _earliest(order, refusals)


def find_replacement(order: Sequence[str], refusals: Refusals, current: str, now: datetime) -> str:
    """Return an agent that can replace `current` now; empty if no agent can."""
    free = (name for name in order if name != current and _is_free(refusals.get(name), now))
    return next(free, "")


def _is_free(refusal: Refusal | None, now: datetime) -> bool:
    if refusal is None:
        return True
    at = free_at(refusal)
    return at is not None and at <= now


def _earliest(order: Sequence[str], refusals: Refusals) -> WaitForAgent | None:
    times = [(name, free_at(refusals[name])) for name in order if name in refusals]
    known = [WaitForAgent(name, at) for name, at in times if at is not None]
    return min(known, key=lambda wait: wait.until, default=None)


_TWICE = "it does not start (2 attempts): "

SILENT_S = 1800.0
"""Seconds before an agent that fell silent is tried again."""


class Agents(Step):
    """The agents of a run, one of which works at a time."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._roster = run.state.roster
        agents = (run.ports.agent, *run.ports.fallbacks)
        self._agents = {agent.name: agent for agent in reversed(agents)}
        self._order = tuple(dict.fromkeys(agent.name for agent in agents))

    @property
    def working(self) -> Agent:
        """The agent that works now."""
        return self._agents[self._roster.working]

    def warn(self) -> None:
        """Report agents that cannot act as fallbacks, and caveats about those that can."""
        for text in self._run.ports.agent_notes:
            self.record(Noticed(level="warn", source="agent", text=text))

    def begin(self, k: int) -> None:
        """Choose the agent for a new iteration: the first in the order that can work."""
        roster = self._roster
        name = choose_first(self._order, roster.refusals, self._now())
        if name == roster.working:
            return
        before = roster.working
        absent = self._run.ports.absent.get(before)
        if absent is not None:
            # The first agent was missing when the run began: the run does not wait for it.
            self.record(
                AgentChanged(iteration=k, before=before, agent=name, cause="missing", reason=absent)
            )
        elif before in self._order and self._order.index(before) < self._order.index(name):
            self.record(self._changed_event(k, before, name))
        else:
            self.record(AgentChanged(iteration=k, before=before, agent=name))

    def refused(self, k: int, finished: SessionFinished) -> bool:
        """Handle a refused session: wait, or switch to another agent; True if it switched.

        Raises `Ended` if no agent can work.
        """
        roster, now = self._roster, self._now()
        current = roster.working
        if finished.outcome == "unknown_model" and current == self._order[0]:
            raise Ended("failed", finished.reason)  # a wrong setting is not an outage
        patience = self._run.settings.agent.fallback_after
        step = choose_next(self._order, roster.refusals, current, now, patience)
        if step is None:
            raise Ended("failed", self._end_reason(finished))
        if isinstance(step, UseAgent):
            if step.agent == current:
                return False
            self.record(self._changed_event(k, current, step.agent))
            return True
        self._wait(k, step)
        if step.agent == current:
            return False
        first = self._order.index(step.agent) < self._order.index(current)
        if first:
            self.record(AgentChanged(iteration=k, before=current, agent=step.agent))
        else:
            self.record(self._changed_event(k, current, step.agent))
        return True

    @property
    def replacement_agent(self) -> str:
        """The agent that could replace the working one now; empty if no agent could."""
        return find_replacement(
            self._order, self._roster.refusals, self._roster.working, self._now()
        )

    def silent(self, k: int, finished: SessionFinished) -> bool:
        """Treat an agent that was silent again as down; True if another one takes over."""
        other = self.replacement_agent
        if other:
            self.record(
                AgentChanged(
                    iteration=k,
                    before=self._roster.working,
                    agent=other,
                    cause="outage",
                    reason=finished.reason,
                    until=self._now() + timedelta(seconds=SILENT_S),
                )
            )
        return bool(other)

    def _wait(self, k: int, step: WaitForAgent) -> None:
        refusals = self._roster.refusals
        others = [name for name in self._order if name != step.agent and name in refusals]
        # In a brief wait for this agent's service, the others do not matter.
        others = others if len(others) + 1 == len(self._order) else []
        wait_for_service(self._run, k, step.agent, step.until, others)

    def _changed_event(self, k: int, before: str, agent: str) -> AgentChanged:
        refusal = self._roster.refusals.get(before)
        if refusal is None:
            return AgentChanged(iteration=k, before=before, agent=agent)
        return AgentChanged(
            iteration=k,
            before=before,
            agent=agent,
            cause=refusal.cause,
            reason=refusal.reason,
            until=free_at(refusal),
            guessed=refusal.resets_at is None,
        )

    def _end_reason(self, finished: SessionFinished) -> str:
        """Explain why the run ends; for a single agent, in the agent's own words."""
        refusals = self._roster.refusals
        if len(self._order) == 1:
            return f"{_TWICE * (finished.outcome == 'not_started')}{finished.reason}"
        said = [_refusal_text(name, refusals[name]) for name in self._order if name in refusals]
        return f"no agent can work: {'; '.join(said)}"

    def _now(self) -> datetime:
        return self._run.scheduler.host.clock.now()


def _refusal_text(name: str, refusal: Refusal) -> str:
    return f"{name}: {refusal.reason.rstrip('.')}"
