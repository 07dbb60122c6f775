"""Tokens and context of one session. Pure.

Codex tells totals of a thread, which go on over its resumptions: what a session used is a
difference. Subagents have threads of their own; only the main one's context is told.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ralph_tui.adapters.agents.json_fields import as_count, as_map
from ralph_tui.events import UsageReported

Json = Mapping[str, object]


@dataclass
class Ledger:
    """What the sessions of one run know of each other."""

    threads: dict[str, str] = field(default_factory=dict)
    """What Codex calls a session, by what we call it; empty: it has not answered."""
    totals: dict[str, int] = field(default_factory=dict)
    """Tokens of a thread when it was last heard of."""


class Usage:
    """What a session has used so far."""

    def __init__(self, iteration: int, ledger: Ledger) -> None:
        self._iteration = iteration
        self._ledger = ledger
        self._before: dict[str, int] = {}
        """Tokens of each thread before this session."""
        self._used: dict[str, int] = {}
        self.context: int | None = None
        self.window: int | None = None

    @property
    def tokens(self) -> int:
        """Of all threads of this session."""
        return sum(self._used.values())

    def told(self, thread: str, usage: Json, *, main: bool, in_turn: bool) -> UsageReported:
        """``thread/tokenUsage/updated``; what comes before a turn is of the sessions before."""
        total = _tokens(as_map(usage.get("total")))
        last = as_map(usage.get("last"))
        if thread not in self._before:
            known = self._ledger.totals.get(thread)
            first = total if not in_turn else max(0, total - _tokens(last))
            self._before[thread] = first if known is None else min(known, total)
        self._ledger.totals[thread] = total
        if _is_no_sum(as_map(usage.get("total"))):
            self._before[thread] = total - self._used.get(thread, 0)
        self._used[thread] = max(0, total - self._before[thread])
        if main:
            self.window = as_count(usage.get("modelContextWindow")) or self.window
            self.context = (self.window if _is_no_sum(last) else _tokens(last)) or self.context
        return self.report()

    def report(self) -> UsageReported:
        """What is known now; Codex tells no cost."""
        return UsageReported(
            iteration=self._iteration,
            tokens=self.tokens,
            context_tokens=self.context,
            context_window=self.window,
        )


def _is_no_sum(usage: Json) -> bool:
    """Whether it only says that the window is full: nobody has used these tokens."""
    parts = [as_count(usage.get(name)) for name in ("inputTokens", "outputTokens")]
    return "inputTokens" in usage and _tokens(usage) > 0 and not any(parts)


def _tokens(usage: Json) -> int:
    return as_count(usage.get("totalTokens")) or (
        as_count(usage.get("inputTokens")) + as_count(usage.get("outputTokens"))
    )
