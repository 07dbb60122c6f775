"""How a session ended: by what its result says, else by how its process ended. Pure.

A result decides by ``is_error``, ``terminal_reason`` and ``api_error_status``, never by its subtype
or the exit code alone: a refused login arrives as subtype "success".
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ralph_tui.agents.fields import as_list, as_text
from ralph_tui.events.agent import SessionOutcome
from ralph_tui.text import clip, one_line

REASON = 300

_LIMIT_ERRORS = frozenset(
    {"rate_limit", "rate_limit_error", "overloaded", "overloaded_error", "usage_limit_reached"}
)
_AUTH_ERRORS = frozenset(
    {"authentication_failed", "authentication_error", "permission_error", "oauth_org_not_allowed",
     "billing_error", "credit_balance_too_low"}
)  # fmt: skip
_INTERRUPTED = frozenset({"aborted_streaming", "aborted_tools"})

_SENTENCES: Mapping[SessionOutcome, str] = {
    "error": "The agent reported a failure",
    "limited": "A usage limit or overload of the agent's service ended the session",
    "auth": "The agent is not allowed to use its service: log in again or check its API key",
    "context_full": "The agent's context window overflowed",
    "max_turns": "The agent reached its maximum number of turns",
    "budget": "The agent reached its budget",
    "interrupted": "The agent was interrupted",
}


@dataclass(frozen=True)
class Verdict:
    """An outcome and the sentence that explains it, empty on success."""

    outcome: SessionOutcome
    reason: str = ""


def of_result(result: Mapping[str, object]) -> Verdict:
    """What one ``result`` event says of the turn it ends."""
    outcome = _outcome(result)
    if outcome == "success":
        return Verdict(outcome)
    details = as_text(result.get("result")) or "; ".join(
        text for item in as_list(result.get("errors")) if (text := as_text(item))
    )
    if outcome == "interrupted" or not details.strip():
        return Verdict(outcome, f"{_SENTENCES[outcome]}.")
    return Verdict(outcome, f"{_SENTENCES[outcome]}: {clip(one_line(details[:2000]), REASON)}")


def of_retry(error: str, status: object) -> SessionOutcome | None:
    """What the last failed call to the service means when nothing came after it."""
    if status in (401, 403) or error in _AUTH_ERRORS:
        return "auth"
    if status in (429, 529) or error in _LIMIT_ERRORS:
        return "limited"
    return None


def of_refusal(refusal: SessionOutcome) -> Verdict:
    """A session that ended while its calls to the service were refused."""
    return Verdict(refusal, f"{_SENTENCES[refusal]}.")


def of_exit(exit_code: int | None, last_words: str, *, heard: bool) -> Verdict:
    """A process that ended without a result; `heard` says whether it printed any known event."""
    said = f": {clip(one_line(last_words[:2000]), REASON)}" if last_words.strip() else ""
    if exit_code in (126, 127) and not heard:
        return Verdict("missing", f"The agent's command was not found{said}.")
    if exit_code is None or exit_code > 128:
        signal = "" if exit_code is None else f" by signal {exit_code - 128}"
        return Verdict("crashed", f"The agent's process was ended{signal} without a result{said}.")
    if exit_code == 0 and heard:
        return Verdict("error", f"The agent's stream broke off without a result{said}.")
    if exit_code == 0:
        return Verdict("error", f"The agent printed nothing that can be understood{said}.")
    outcome: SessionOutcome = "error" if said else "crashed"
    return Verdict(outcome, f"The agent exited with code {exit_code} without a result{said}.")


def _outcome(result: Mapping[str, object]) -> SessionOutcome:
    if result.get("is_error") is not True:
        return "success"
    reason = as_text(result.get("terminal_reason"))
    # Older versions give no terminal_reason: only then the subtype may speak.
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
    return of_retry(api_error, result.get("api_error_status")) or "error"
