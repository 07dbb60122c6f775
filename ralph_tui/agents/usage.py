"""Tokens, context and cost of one session, from messages as they come and results as they settle.

A message's usage comes with every block of it and counts once. Results carry totals that grow over
the session's turns (and over its resumptions), so the cost is a sum of differences.
"""

from collections.abc import Iterator, Mapping, MutableMapping

from ralph_tui.agents.fields import as_amount, as_count, as_map, as_text
from ralph_tui.events import UsageReported

Json = Mapping[str, object]

_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_TOTALS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


class Usage:
    """What a session has used so far; `windows` maps models to context windows across sessions."""

    def __init__(self, iteration: int, windows: MutableMapping[str, int]) -> None:
        self.cost_usd: float | None = None
        self.model = ""
        """Of the last main-thread message."""
        self._iteration = iteration
        self._windows = windows
        self._settled = 0
        self._live = 0
        self._counted: set[str] = set()
        self._totals: dict[str, float] = {}
        self._context: int | None = None

    @property
    def tokens(self) -> int:
        """All tokens of the session as far as known."""
        return self._settled + self._live

    @property
    def window(self) -> int | None:
        """The main model's context window, once any session was told."""
        return self._windows.get(self.model) or None

    def window_unknown(self) -> bool:
        """Whether somebody should ask for the main model's window; yes only once per model."""
        if not self.model or self.model in self._windows:
            return False
        self._windows[self.model] = 0
        return True

    def message(self, message: Json, *, main: bool) -> Iterator[UsageReported]:
        """Count an assistant message; blocks of a message already counted change nothing."""
        usage = as_map(message.get("usage"))
        message_id = as_text(message.get("id"))
        if not usage or message_id in self._counted:
            return
        if message_id:
            self._counted.add(message_id)
        context = sum(as_count(usage.get(name)) for name in _INPUT)
        self._live += context + as_count(usage.get("output_tokens"))
        if main:
            self.model = as_text(message.get("model"))
            self._context = context
        yield self._report()

    def compacted(self, tokens: int) -> Iterator[UsageReported]:
        """The context was compacted to this size; 0 when the agent does not tell."""
        if tokens:
            self._context = tokens
            yield self._report()

    def context_answer(self, answer: Json) -> Iterator[UsageReported]:
        """The agent's answer to a question about its context."""
        window = as_count(answer.get("maxTokens"))
        if window:
            model = as_text(answer.get("model")) or self.model
            self.model = self.model or model
            self._windows[model] = window
            yield self._report()

    def result(self, result: Json) -> Iterator[UsageReported]:
        """Settle with the totals of a result."""
        models = {name: as_map(facts) for name, facts in as_map(result.get("modelUsage")).items()}
        known = {name: as_count(facts.get("contextWindow")) for name, facts in models.items()}
        self._windows.update({name: window for name, window in known.items() if window})
        if self.window is None and any(known.values()):
            # The main model may be listed under another name.
            self._windows[self.model] = max(known.values())
        total = sum(as_count(facts.get(field)) for facts in models.values() for field in _TOTALS)
        # An older version without totals leaves the live count standing.
        if total:
            self._settled = total
            self._live = 0
        self._charge(as_text(result.get("session_id")), as_amount(result.get("total_cost_usd")))
        yield self._report()

    def _charge(self, session_id: str, total: float | None) -> None:
        if total is None:
            return
        before = self._totals.get(session_id, 0.0)
        self._totals[session_id] = total
        # A total that fell began anew.
        self.cost_usd = (self.cost_usd or 0.0) + (total - before if total >= before else total)

    def _report(self) -> UsageReported:
        return UsageReported(
            iteration=self._iteration,
            tokens=self.tokens,
            context_tokens=self._context,
            context_window=self.window,
            cost_usd=self.cost_usd,
        )
