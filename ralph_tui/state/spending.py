"""The cost of a run: sums over its sessions, including the running one, and over model help.

Rule: an unreported cost turns the sum into a lower bound; without any reported cost the sum is
unknown.
"""

from ralph_tui import events as ev

_NEVER_BEGAN = frozenset(
    {"limited", "auth", "missing", "not_started", "unknown_model", "unresumable"}
)
"""Outcomes after which a session without tokens or tool calls is known to have cost nothing."""


def lacks_cost(event: ev.SessionFinished) -> bool:
    """True if the session cost something but did not report how much."""
    never_began = event.outcome in _NEVER_BEGAN and not (event.tokens or event.tool_calls)
    return event.cost_usd is None and not never_began


class Spending:
    """Money and tokens."""

    def __init__(self) -> None:
        self.iteration_tool_calls = 0
        self.iteration_tool_errors = 0
        self.tokens_partial = False
        """True if an agent has not counted all of its calls: `tokens` is a lower bound."""
        self._reported = False
        """True if any cost was reported."""
        self._lacking = self._iteration_lacking = False
        """True if part of the cost is unreported: for the run, and for this iteration."""
        self._estimated_before = self._session_estimated = False
        self._cost_before = 0.0
        self._tokens_before = 0
        self._cost_at_start = 0.0
        self._tokens_at_start = 0
        self._session_runs = self._session_reported = False
        self._session_cost = 0.0
        self._session_tokens = 0
        self._session_calls = self._session_errors = 0

    @property
    def cost_known(self) -> bool:
        """True if the reported costs give at least a lower bound above zero, or the exact cost."""
        lacking = self._lacking or (self._session_runs and not self._session_reported)
        return self._reported and (self.cost_usd > 0 or not lacking)

    @property
    def cost_estimated(self) -> bool:
        """True if the sum is an estimate or a lower bound."""
        estimated = self._lacking or self._estimated_before or self._session_estimated
        return estimated and self.cost_known

    @property
    def cost_usd(self) -> float:
        """Dollars so far, including the running session."""
        return self._cost_before + self._session_cost

    @property
    def tokens(self) -> int:
        """Tokens so far, including the running session."""
        return self._tokens_before + self._session_tokens

    @property
    def iteration_cost_known(self) -> bool:
        """Like `cost_known`, for this iteration."""
        return self.cost_known and (self.iteration_cost_usd > 0 or not self._iteration_lacking)

    @property
    def iteration_cost_usd(self) -> float:
        """Dollars spent in this iteration so far."""
        return self.cost_usd - self._cost_at_start

    @property
    def iteration_tokens(self) -> int:
        """Tokens used in this iteration so far."""
        return self.tokens - self._tokens_at_start

    def begin_iteration(self) -> None:
        """Start counting the next iteration's share."""
        self._cost_at_start, self._tokens_at_start = self.cost_usd, self.tokens
        self._iteration_lacking = False
        self.iteration_tool_calls = self.iteration_tool_errors = 0

    def open_session(self) -> None:
        """Start a session that has reported nothing yet."""
        self._session_runs, self._session_reported = True, False

    def on_usage_reported(self, event: ev.UsageReported) -> None:
        """Record the usage of the running session so far."""
        self._session_tokens = max(self._session_tokens, event.tokens)
        self.tokens_partial = self.tokens_partial or event.tokens_partial
        if event.cost_usd is not None:
            self._report_cost(event.cost_usd, estimated=event.cost_estimated)

    def count(self, event: ev.ToolStarted | ev.ToolFinished) -> None:
        """Count a tool call of the running session, or its failure."""
        if isinstance(event, ev.ToolStarted):
            self._session_calls += 1
        elif not event.ok and not event.prevented:
            self._session_errors += 1

    def settle(self, event: ev.SessionFinished) -> None:
        """Close the session with its own final figures."""
        if event.cost_usd is not None:
            self._report_cost(event.cost_usd, estimated=False)
        elif lacks_cost(event) and not self._session_cost:
            self._mark_partial()
        self._session_tokens = max(event.tokens, self._session_tokens)
        self._session_calls, self._session_errors = event.tool_calls, event.tool_errors
        self._session_runs = False
        self.close_session()

    def bound(self, event: ev.IterationFinished) -> None:
        """Close an iteration of an imported run: a missing cost makes the sum a lower bound."""
        self._lacking = self._lacking or not event.cost_usd

    def on_model_answered(self, event: ev.ModelAnswered) -> None:
        """Add the cost of a question to a model outside the agent's sessions."""
        if event.cost_usd is not None:
            self._reported = True
            self._cost_before += event.cost_usd
        else:
            self._mark_partial()
        self._tokens_before += event.tokens

    def close_session(self) -> None:
        """Add the session's reported cost to the sums."""
        if self._session_runs and not self._session_reported:
            self._mark_partial()
        self.iteration_tool_calls += self._session_calls
        self.iteration_tool_errors += self._session_errors
        self._session_calls = self._session_errors = 0
        self._cost_before, self._tokens_before = self.cost_usd, self.tokens
        self._session_cost, self._session_tokens = 0.0, 0
        self._estimated_before = self._estimated_before or self._session_estimated
        self._session_runs = self._session_estimated = False

    def _report_cost(self, cost_usd: float, *, estimated: bool) -> None:
        self._session_cost, self._session_estimated = cost_usd, estimated
        self._reported = self._session_reported = True

    def _mark_partial(self) -> None:
        self._lacking = self._iteration_lacking = True
