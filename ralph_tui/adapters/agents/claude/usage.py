"""Tokens, context and cost of one session, from its messages and its results.

A message repeats its usage with each of its blocks; it is counted once. The totals in results keep
growing over turns and resumed sessions, so a session's cost is the sum of their increases.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ralph_tui.adapters.agents.reader import SessionUsage
from ralph_tui.events import ContextCompacted, Event, UsageReported
from ralph_tui.text.json_fields import as_amount, as_count, as_map, as_text
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]

_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_TOTALS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


@dataclass
class Total:
    """Last known usage of a session, including all its resumptions."""

    cost_usd: float = 0.0
    tokens: int = 0


@dataclass
class Ledger:
    """Facts shared by the sessions of one run."""

    windows: dict[str, int] = field(default_factory=dict)
    """Context windows by model."""
    totals: dict[str, Total] = field(default_factory=dict)
    """Usage by the agent's session id."""
    names: dict[str, str] = field(default_factory=dict)
    """Session ids of the agent, by the ids we requested.

    Empty for a session that has not responded yet.
    """
    windows_asked: set[str] = field(default_factory=set)
    """Models whose window has already been requested."""
    subscription: bool = False
    """True once the service has reported usage windows, which only subscriptions have."""

    def name_of(self, session_id: str) -> str:
        """Return the id to resume a session with, or "" if there is nothing to resume."""
        for _ in self.names:
            name = self.names.get(session_id, session_id)
            if name in ("", session_id):
                return name
            session_id = name
        return session_id


class Usage(SessionUsage):
    """Usage of a session so far; `resumed` is the session that it continues."""

    def __init__(self, iteration: int, ledger: Ledger, resumed: str | None = None) -> None:
        super().__init__(iteration)
        self.model = ""
        """Model of the last main-thread message."""
        self._ledger = ledger
        self._resumed = ledger.totals.get(resumed or "", Total())
        self._live = 0
        """Tokens counted from messages that no result has confirmed yet."""
        self._counted: set[str] = set()
        self._costs: dict[str, float] = {}

    def window_unknown(self) -> bool:
        """True, once per model, if the main model's window is unknown and should be requested."""
        ledger = self._ledger
        if not self.model or self.model in ledger.windows_asked or self.model in ledger.windows:
            return False
        ledger.windows_asked.add(self.model)
        return True

    def message(self, message: Json, *, main: bool) -> list[Event]:
        """Count an assistant message; further blocks of the same message change nothing."""
        usage = as_map(message.get("usage"))
        message_id = as_text(message.get("id"))
        if not usage or message_id in self._counted:
            return []
        if message_id:
            self._counted.add(message_id)
        context = sum(as_count(usage.get(name)) for name in _INPUT)
        tokens = context + as_count(usage.get("output_tokens"))
        self._live += tokens
        self.tokens += tokens
        if main:
            self.model = as_text(message.get("model"))
            self.context = context
        return [self.report()]

    def compacted(self, facts: Json, offset: int) -> list[Event]:
        """Record that the agent compacted its context; `facts` may be incomplete."""
        before, after = as_count(facts.get("pre_tokens")), as_count(facts.get("post_tokens"))
        compacted = ContextCompacted(
            iteration=self._iteration,
            before=before or None,
            after=after or None,
            window=self._ledger.windows.get(self.model),
            trigger=shorten(as_text(facts.get("trigger"))),
            offset=offset,
        )
        if not after:
            return [compacted]
        self.context = after
        return [compacted, self.report()]

    def context_answer(self, answer: Json) -> list[Event]:
        """Record the context window from the agent's answer."""
        window = as_count(answer.get("maxTokens"))
        if not window:
            return []
        model = as_text(answer.get("model")) or self.model
        self.model = self.model or model
        self._ledger.windows[model] = window
        # The answer may use another name for the model.
        self._ledger.windows.setdefault(self.model, window)
        return [self.report()]

    def result(self, result: Json) -> UsageReported:
        """Update the usage from the totals in a result."""
        models = {name: as_map(facts) for name, facts in as_map(result.get("modelUsage")).items()}
        known = {name: as_count(facts.get("contextWindow")) for name, facts in models.items()}
        self._ledger.windows.update({name: window for name, window in known.items() if window})
        if self.model not in self._ledger.windows and any(known.values()):
            # The main model may be listed under another name.
            self._ledger.windows[self.model] = max(known.values())
        total = sum(as_count(facts.get(name)) for facts in models.values() for name in _TOTALS)
        if total:
            if total - self._resumed.tokens < self.tokens / 2:
                # Less than counted in this session: the totals have started over.
                spent = sum(as_amount(facts.get("costUSD")) or 0.0 for facts in models.values())
                whole = as_amount(result.get("total_cost_usd")) or 0.0
                alike = math.isclose(spent, whole, rel_tol=0.01)
                self._resumed = Total(0.0 if alike else self._resumed.cost_usd)
            self.tokens = total - self._resumed.tokens
        else:
            # Versions without totals report the turn's tokens, excluding those of subagents.
            usage = as_map(result.get("usage"))
            turn = sum(as_count(usage.get(name)) for name in (*_INPUT, "output_tokens"))
            self.tokens += max(0, turn - self._live)
        self._live = 0
        self._charge(as_text(result.get("session_id")), as_amount(result.get("total_cost_usd")))
        return self.report()

    def report(self) -> UsageReported:
        """Return the current usage; after a switch to a model without a known window, it is 0."""
        unknown = None if self.window is None else 0
        self.window = self._ledger.windows.get(self.model, unknown)
        return super().report()

    def _charge(self, session_id: str, total: float | None) -> None:
        tokens = self._resumed.tokens + self.tokens
        if total is None:
            self._ledger.totals[session_id] = Total(self._resumed.cost_usd, tokens)
            return
        before = self._costs.get(session_id, self._resumed.cost_usd)
        self._costs[session_id] = total
        self._ledger.totals[session_id] = Total(total, tokens)
        # A lower total means that the count has started over.
        self.cost_usd = (self.cost_usd or 0.0) + (total - before if total >= before else total)
