"""The silence of a service while an agent waits for it: what is said of it, and when. Pure."""

from ralph_tui.text.format import duration

FIRST_S = 10.0
"""Seconds without a first answer after which that is said, once."""
QUIET_S = 60.0
"""Seconds without a word after which that is said."""
NO_ANSWER = "No answer from the agent's service yet; it is waited for"


class Silence:
    """Goes on from one stage to the next until something is heard."""

    def __init__(self, end_s: float | None = None) -> None:
        """`end_s`: seconds after which it has lasted too long; None: only a first answer counts."""
        self._end_s = end_s
        self._answered = False
        """Whether there was a first answer, or it was said that there is none."""
        self._passed_s = 0.0

    def heard(self, *, answered: bool = False) -> None:
        """Something was said; `answered`: by the service."""
        self._passed_s = 0.0
        self._answered = self._answered or answered

    def next_s(self) -> float | None:
        """Seconds until the next stage; None where there is none."""
        at = self._next()
        return None if at is None else max(0.1, at - self._passed_s)

    def passes(self) -> str:
        """The next stage is reached: what is to be said; empty: it has lasted too long."""
        at = self._next() or 0.0
        self._passed_s = at
        if self._waits_for_first:
            self._answered = True
            return NO_ANSWER
        if at == self._end_s:
            return ""
        return f"The agent's service has not answered for {duration(at)}"

    @property
    def _waits_for_first(self) -> bool:
        return not self._answered and (self._end_s is None or self._end_s > FIRST_S)

    def _next(self) -> float | None:
        if self._waits_for_first:
            return FIRST_S
        if self._end_s is None:
            return None
        return QUIET_S if self._passed_s < QUIET_S < self._end_s else self._end_s
