"""How sessions of Claude Code end: by a result, a failed call or an exit. Pure.

Results are judged by ``is_error``, ``terminal_reason`` and ``api_error_status``, never by their
subtype or the exit code alone: a refused login arrives as subtype "success". Older versions may
report only words; then the words decide.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from ralph_tui.adapters.agents.claude import CLAUDE
from ralph_tui.adapters.agents.ends import (
    FailedCall,
    Remedies,
    SessionEnd,
    classify_words,
    end_of_call,
    failed_call,
    last_words,
    local_now,
    parse_reset,
    signal_text,
)
from ralph_tui.events.agent import SessionOutcome
from ralph_tui.text.json_fields import as_list, as_text

NO_ANSWER = "connection_failed"
_INTERRUPTED = frozenset({"aborted_streaming", "aborted_tools"})

REMEDIES: Remedies = {
    "auth": CLAUDE.login,
    "unknown_model": "choose a model with --model, or correct ANTHROPIC_BASE_URL",
}


def end_of_result(
    result: Mapping[str, object], last_failed: FailedCall | None = None, now: datetime | None = None
) -> SessionEnd:
    """Return how a turn ended, from its ``result`` event and its last failed call.

    `now` must be aware. It is only used with older versions, which report a limit's end in words.
    """
    if not _failed(result):
        if as_text(result.get("terminal_reason")) == "hook_stopped":
            return SessionEnd("success", "One of your hooks stopped the agent before it was done.")
        if as_text(result.get("stop_reason")) == "refusal":
            return SessionEnd("success", "The model refused to continue.")
        return SessionEnd("success")
    details = as_text(result.get("result")) or "; ".join(
        text for item in as_list(result.get("errors")) if (text := as_text(item))
    )
    details = details[:2000]
    outcome = _outcome_of_result(result)
    failed = failed_call(as_text(result.get("api_error")), result.get("api_error_status"))
    limit = failed.limit if failed is not None else None
    if outcome == "error":
        # Older versions report it only in words.
        outcome, limit = classify_words(details) or (outcome, limit)
    if outcome == "error" and last_failed is not None and result.get("api_error_status") is None:
        outcome, limit = last_failed.outcome, last_failed.limit
    call = FailedCall(outcome, limit if outcome == "limited" else None, details)
    return end_of_call(call, REMEDIES, None if now is None else parse_reset(details, now))


def end_of_exit(exit_code: int | None, text: str, *, heard: bool) -> SessionEnd:
    """Return the end for an exit without a result; `heard` is True after any known event."""
    said = last_words(text)
    if exit_code in (126, 127) and not heard:
        return SessionEnd("missing", f"The agent's command was not found{said}.")
    if (signal := signal_text(exit_code)) is not None:
        return SessionEnd(
            "crashed", f"The agent's process was terminated{signal} without a result{said}."
        )
    if exit_code == 0:
        broke_off = "The agent's output ended without a result"
        what = broke_off if heard else "The agent printed no readable output"
        return SessionEnd("error", f"{what}{said}.")
    known = classify_words(text)
    if known is not None:
        return end_of_call(FailedCall(*known, said=text), REMEDIES)
    outcome: SessionOutcome = "error" if said else "crashed"
    return SessionEnd(outcome, f"The agent exited with code {exit_code} without a result{said}.")


def _failed(result: Mapping[str, object]) -> bool:
    if result.get("is_error") is True:
        return True
    # Older versions do not report reaching the turn limit as an error; then the subtype counts.
    silent = not as_text(result.get("terminal_reason"))
    return silent and as_text(result.get("subtype")).startswith("error_")


def _outcome_of_result(result: Mapping[str, object]) -> SessionOutcome:
    reason = as_text(result.get("terminal_reason"))
    ended = reason or as_text(result.get("subtype"))
    if ended in _INTERRUPTED:
        return "interrupted"
    if ended in ("max_turns", "error_max_turns"):
        return "max_turns"
    if "budget" in ended or as_text(result.get("subtype")) == "error_max_budget_usd":
        return "budget"
    api_error = as_text(result.get("api_error"))
    if "prompt_too_long" in (reason, api_error):
        return "context_full"
    failed = failed_call(api_error, result.get("api_error_status"))
    return failed.outcome if failed is not None else "error"


class EndTracker:
    """How a stream ends: the last result decides, else the last failed call, else the exit."""

    def __init__(self) -> None:
        self.of_last_turn: SessionEnd | None = None
        """How the last turn ended; None until a turn has ended."""
        self.unrecoverable: SessionEnd | None = None
        """How the session ends because of a failed call that retrying cannot fix."""
        self.limit: tuple[bool, datetime | None] = (False, None)
        """Whether a usage limit has been reached, and when it ends."""
        self._failed_call: FailedCall | None = None

    def answered(self) -> None:
        """Forget earlier failures: the model answered."""
        self._failed_call = None

    def failed(self, error: str, status: object) -> None:
        """Record a call that failed for good."""
        self._failed_call = failed_call(error, status) or self._failed_call

    def retried(self, error: str, status: object) -> None:
        """Record a failed call that is being retried; no status means no response."""
        silent = status is None and error in ("", "unknown")
        self._failed_call = failed_call(NO_ANSWER if silent else error, status)
        if self._failed_call is not None and self._failed_call.outcome == "auth":
            self.unrecoverable = end_of_call(self._failed_call, REMEDIES)

    def result(self, result: Mapping[str, object]) -> None:
        """Record the end of a turn."""
        ended = end_of_result(result, self._failed_call, local_now())
        self.of_last_turn = self._with_reset_time(ended)
        self._failed_call = None

    def at_exit(self, exit_code: int | None, last_words: str, *, heard: bool) -> SessionEnd:
        """Return the end for an exit during a turn; see `end_of_exit`."""
        if self._failed_call is not None:
            return self._with_reset_time(end_of_call(self._failed_call, REMEDIES))
        return end_of_exit(exit_code, last_words, heard=heard)

    def _with_reset_time(self, end: SessionEnd) -> SessionEnd:
        reached, resets_at = self.limit
        if end.outcome != "limited" or not reached or end.limit in ("overload", "outage"):
            return end
        return replace(end, limit="usage_limit", resets_at=resets_at or end.resets_at)
