"""How a session would end if it ended now: what its stream has said of failed calls and limits."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from ralph_tui.adapters.agents.claude import session_ends as outcome
from ralph_tui.adapters.agents.claude.session_ends import Refusal, Verdict


class Endings:
    """Follows a stream; the last result decides, else the last failed call, else the exit."""

    def __init__(self) -> None:
        self.verdict: Verdict | None = None
        """Of the last result; None while no turn has ended."""
        self.hopeless: Verdict | None = None
        """A failed call to the service that no further try can mend."""
        self.limit: tuple[bool, datetime | None] = (False, None)
        """Whether a usage limit is reached, and when it ends."""
        self._refusal: Refusal | None = None

    def answered(self) -> None:
        """The model spoke: earlier failures are over."""
        self._refusal = None

    def failed(self, error: str, status: object) -> None:
        """A call failed for good."""
        self._refusal = outcome.of_retry(error, status) or self._refusal

    def retried(self, error: str, status: object) -> None:
        """A call failed, and is tried again."""
        self._refusal = outcome.of_retry(error, status)
        if self._refusal is not None and self._refusal.outcome == "auth":
            self.hopeless = outcome.of_refusal(self._refusal)

    def result(self, result: Mapping[str, object]) -> None:
        """A turn ended."""
        self.verdict = self._dated(outcome.of_result(result, self._refusal))
        self._refusal = None

    def at_exit(self, exit_code: int | None, last_words: str, *, heard: bool) -> Verdict:
        """How it ended without a result of its last turn; see `outcome.of_exit`."""
        if self._refusal is not None:
            return self._dated(outcome.of_refusal(self._refusal))
        return outcome.of_exit(exit_code, last_words, heard=heard)

    def _dated(self, verdict: Verdict) -> Verdict:
        reached, resets_at = self.limit
        if verdict.outcome != "limited" or not reached or verdict.limit == "overload":
            return verdict
        return replace(verdict, limit="usage_limit", resets_at=resets_at)
