"""How a session would end if it ended now: what its stream has said of failed calls and limits."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from ralph_tui.adapters.agents.claude.session_ends import (
    NO_ANSWER,
    end_of_exit,
    end_of_failed_call,
    end_of_result,
)
from ralph_tui.adapters.agents.failures import FailedCall, failed_call
from ralph_tui.adapters.agents.session_end import SessionEnd


class EndTracker:
    """Follows a stream; the last result decides, else the last failed call, else the exit."""

    def __init__(self) -> None:
        self.of_last_turn: SessionEnd | None = None
        """Of the last result; None while no turn has ended."""
        self.hopeless: SessionEnd | None = None
        """Of a failed call to the service that no further try can mend."""
        self.limit: tuple[bool, datetime | None] = (False, None)
        """Whether a usage limit is reached, and when it ends."""
        self._failed_call: FailedCall | None = None

    def answered(self) -> None:
        """The model spoke: earlier failures are over."""
        self._failed_call = None

    def failed(self, error: str, status: object) -> None:
        """A call failed for good."""
        self._failed_call = failed_call(error, status) or self._failed_call

    def retried(self, error: str, status: object) -> None:
        """A call failed, and is tried again; no status: nothing answered."""
        silent = status is None and error in ("", "unknown")
        self._failed_call = failed_call(NO_ANSWER if silent else error, status)
        if self._failed_call is not None and self._failed_call.outcome == "auth":
            self.hopeless = end_of_failed_call(self._failed_call)

    def result(self, result: Mapping[str, object]) -> None:
        """A turn ended."""
        now = datetime.now().astimezone()
        self.of_last_turn = self._dated(end_of_result(result, self._failed_call, now))
        self._failed_call = None

    def at_exit(self, exit_code: int | None, last_words: str, *, heard: bool) -> SessionEnd:
        """How it ended without a result of its last turn; see `end_of_exit`."""
        if self._failed_call is not None:
            return self._dated(end_of_failed_call(self._failed_call))
        return end_of_exit(exit_code, last_words, heard=heard)

    def _dated(self, end: SessionEnd) -> SessionEnd:
        reached, resets_at = self.limit
        if end.outcome != "limited" or not reached or end.limit in ("overload", "outage"):
            return end
        return replace(end, limit="usage_limit", resets_at=resets_at or end.resets_at)
