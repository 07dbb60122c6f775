"""Whether the agent's service refuses or is silent while the agent itself tries again."""

from dataclasses import dataclass
from datetime import datetime

from ralph_tui.events import (
    AgentAsked,
    AgentNoted,
    AgentSpoke,
    RunFinished,
    RunResumed,
    SessionFinished,
    SessionStarted,
    ToolFinished,
    ToolStarted,
    UsageReported,
)
from ralph_tui.events.base import Event
from ralph_tui.state.fold import Fold, Handlers, on
from ralph_tui.text.format import day_and_clock
from ralph_tui.text.terms import WAITS


@dataclass(frozen=True)
class Trouble:
    """What keeps the agent's service from answering."""

    cause: str
    """``usage_limit``, ``overload``, ``outage``; ``silent``: nothing was heard of it."""
    since: datetime
    text: str
    """The agent's last words on it."""

    @property
    def word(self) -> str:
        """``overload``, ``no answer``."""
        return "no answer" if self.cause == "silent" else WAITS[self.cause].word

    def words(self, now: datetime) -> str:
        """``overload since 15:34, the agent tries again by itself``."""
        since = day_and_clock(self.since, now)
        if self.cause == "silent":
            return f"{self.word} of the agent's service since {since}"
        return f"{self.word} since {since}, the agent tries again by itself"


class ServiceFold(Fold):
    """Begins with a refused call, ends when the agent works again."""

    def __init__(self) -> None:
        self.trouble: Trouble | None = None
        self._tokens = 0

    def handlers(self) -> Handlers:
        """See `Fold`."""
        ends = (AgentSpoke, AgentAsked, ToolStarted, ToolFinished, SessionFinished, RunFinished)
        return (
            on(AgentNoted, self._noted),
            on(UsageReported, self._used),
            on(SessionStarted, self._began),
            on(RunResumed, self._began),
            *(on(kind, self._over) for kind in ends),
        )

    def _noted(self, event: AgentNoted) -> bool:
        if not event.service:
            return False
        since = self.trouble.since if self.trouble else event.at
        self.trouble = Trouble(event.service, since, event.text)
        return True

    def _used(self, event: UsageReported) -> bool:
        grew, self._tokens = event.tokens > self._tokens, event.tokens
        return grew and self._over(event)

    def _began(self, event: Event) -> bool:
        self._tokens = 0
        return self._over(event)

    def _over(self, _: Event) -> bool:
        was, self.trouble = self.trouble, None
        return was is not None
