"""What a run costs: sums over its sessions, the running one included, and over model help."""

from ralph_tui.events import (
    IterationFinished,
    ModelAnswered,
    SessionFinished,
    ToolFinished,
    ToolStarted,
    UsageReported,
)


class Spending:
    """Money and tokens."""

    def __init__(self) -> None:
        self.cost_known = False
        """Whether the agent tells what it costs."""
        self.cost_estimated = False
        self.iteration_tool_calls = 0
        self.iteration_tool_errors = 0
        self._untold = False
        """Of another tool's run: what an iteration has cost cannot be read any more."""
        self._cost_before = 0.0
        self._tokens_before = 0
        self._cost_at_start = 0.0
        self._tokens_at_start = 0
        self._session_cost = 0.0
        self._session_tokens = 0
        self._session_calls = self._session_errors = 0

    @property
    def cost_usd(self) -> float:
        """Dollars so far, the running session included."""
        return self._cost_before + self._session_cost

    @property
    def tokens(self) -> int:
        """Tokens so far, the running session included."""
        return self._tokens_before + self._session_tokens

    @property
    def iteration_cost_usd(self) -> float:
        """Dollars of this iteration so far."""
        return self.cost_usd - self._cost_at_start

    @property
    def iteration_tokens(self) -> int:
        """Tokens of this iteration so far."""
        return self.tokens - self._tokens_at_start

    def begin_iteration(self) -> None:
        """From here on the next iteration's share is counted."""
        self._cost_at_start, self._tokens_at_start = self.cost_usd, self.tokens
        self.iteration_tool_calls = self.iteration_tool_errors = 0

    def report(self, event: UsageReported) -> None:
        """Take in what the running session has used so far."""
        self._session_tokens = max(self._session_tokens, event.tokens)
        if event.cost_usd is not None:
            self._session_cost, self.cost_known = event.cost_usd, True
            self.cost_estimated = event.cost_estimated

    def count(self, event: ToolStarted | ToolFinished) -> None:
        """Take in a tool call of the running session, or how it ended."""
        if isinstance(event, ToolStarted):
            self._session_calls += 1
        elif not event.ok and not event.prevented:
            self._session_errors += 1

    def settle(self, event: SessionFinished) -> None:
        """The session's own last word counts."""
        if event.cost_usd is not None:
            self._session_cost, self.cost_known = event.cost_usd, True
        elif self.cost_known and not self._session_cost:
            # The session has cost something unknown: the sum is a lower bound.
            self.cost_estimated = True
        self._session_tokens = max(event.tokens, self._session_tokens)
        self._session_calls, self._session_errors = event.tool_calls, event.tool_errors
        self.close_session()

    def bound(self, event: IterationFinished) -> None:
        """An iteration of another tool's run is over: without all costs the sum is a lower bound,
        whichever of them is missing."""
        self._untold = self._untold or not event.cost_usd
        self.cost_estimated = self.cost_estimated or (self._untold and self.cost_known)

    def pay(self, event: ModelAnswered) -> None:
        """Take in what a question outside of sessions has cost."""
        if event.cost_usd is not None:
            self.cost_known = True
            self._cost_before += event.cost_usd
        elif self.cost_known:
            self.cost_estimated = True
        self._tokens_before += event.tokens

    def close_session(self) -> None:
        """What the session has cost as far as was told stays."""
        self.iteration_tool_calls += self._session_calls
        self.iteration_tool_errors += self._session_errors
        self._session_calls = self._session_errors = 0
        self._cost_before, self._tokens_before = self.cost_usd, self.tokens
        self._session_cost, self._session_tokens = 0.0, 0
