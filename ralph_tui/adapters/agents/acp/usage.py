"""What a session has used: tokens of its turns, its context window, its cost. Pure.

Rule: what the agent does not tell stays unknown. A cost of nothing is one that is not known, since
a service whose prices the agent does not have is told as free.
"""

from collections.abc import Iterator, Mapping

from ralph_tui.adapters.agents.json_fields import as_amount, as_count, as_map, as_text
from ralph_tui.events import UsageReported

Json = Mapping[str, object]

_PARTS = ("inputTokens", "outputTokens", "cachedReadTokens", "cachedWriteTokens")
_QUOTA_PARTS = ("input_tokens", "output_tokens")


class Usage:
    """Takes ``usage_update`` and the answers to prompts; `before_usd` is what was paid before.

    A cost counts all of a session, also what it had cost when it was left and resumed.
    """

    def __init__(self, iteration: int, before_usd: float = 0.0) -> None:
        self.tokens = 0
        self._partial = False
        self.cost_usd: float | None = None
        self.total_usd = before_usd
        """Of the session in all."""
        self._iteration = iteration
        self._before_usd = before_usd
        self._context: int | None = None
        self._window: int | None = None

    def update(self, update: Json) -> Iterator[UsageReported]:
        """The agent tells how full its window is, and what was paid."""
        self._context = as_count(update.get("used")) or self._context
        self._window = as_count(update.get("size")) or self._window
        cost = as_map(update.get("cost"))
        amount = as_amount(cost.get("amount"))
        if amount and as_text(cost.get("currency")) in ("", "USD"):
            if amount < self._before_usd:  # it counts anew
                self._before_usd = 0.0
            self.total_usd = amount
            self.cost_usd = amount - self._before_usd
        yield self.report()

    def turn(self, result: Json, *, partial: bool) -> Iterator[UsageReported]:
        """Take in the answer to a prompt; `partial`: it counts only the last call."""
        self._partial = partial
        usage = as_map(result.get("usage"))
        tokens = sum(as_count(usage.get(part)) for part in _PARTS)
        tokens = tokens or as_count(usage.get("totalTokens"))
        if not tokens:
            quota = as_map(as_map(as_map(result.get("_meta")).get("quota")).get("token_count"))
            tokens = sum(as_count(quota.get(part)) for part in _QUOTA_PARTS)
        self.tokens += tokens
        yield self.report()

    def report(self) -> UsageReported:
        """What is known now."""
        return UsageReported(
            iteration=self._iteration,
            tokens=self.tokens,
            tokens_partial=self._partial,
            context_tokens=self._context,
            context_window=self._window,
            cost_usd=self.cost_usd,
        )
