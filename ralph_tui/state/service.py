"""Trouble with the agent's service while the agent itself retries."""

from datetime import datetime
from typing import NamedTuple

from ralph_tui import events as ev
from ralph_tui.state.fold import Fold
from ralph_tui.text.format import day_and_clock
from ralph_tui.text.terms import WAITS


class Trouble(NamedTuple):
    """Why the agent's service does not answer."""

    cause: str
    """``usage_limit``, ``overload`` or ``outage``; ``silent`` if the service sends nothing."""
    since: datetime
    text: str
    """The agent's latest message about it."""

    @property
    def word(self) -> str:
        """The cause in words, as in ``overload`` or ``no answer``."""
        return "no answer" if self.cause == "silent" else WAITS[self.cause].word

    def words(self, now: datetime) -> str:
        """Return ``overload since 15:34, ...``, with a note that the agent retries on its own."""
        since = day_and_clock(self.since, now)
        if self.cause == "silent":
            return f"{self.word} from the agent's service since {since}"
        return f"{self.word} since {since}; the agent retries automatically"


class ServiceFold(Fold):
    """The current trouble: it begins with a refused call and ends when the agent works again."""

    def __init__(self) -> None:
        self.trouble: Trouble | None = None
        self._tokens = 0

    def on_noted(self, event: ev.AgentNoted) -> bool:
        if not event.service:
            return False
        since = self.trouble.since if self.trouble else event.at
        self.trouble = Trouble(event.service, since, event.text)
        return True

    def on_used(self, event: ev.UsageReported) -> bool:
        grew, self._tokens = event.tokens > self._tokens, event.tokens
        return grew and self._over()

    def on_began(self, event: ev.SessionStarted | ev.RunResumed) -> bool:
        self._tokens = 0
        return self._over()

    def on_over(
        self,
        _: ev.AgentSpoke
        | ev.AgentAsked
        | ev.ToolStarted
        | ev.ToolFinished
        | ev.SessionFinished
        | ev.RunFinished,
    ) -> bool:
        return self._over()

    def _over(self) -> bool:
        was, self.trouble = self.trouble, None
        return was is not None
