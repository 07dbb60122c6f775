"""What results, failed calls and exits of Claude Code say of a session's end. Pure.

A result decides by ``is_error``, ``terminal_reason`` and ``api_error_status``, never by its subtype
or the exit code alone: a refused login arrives as subtype "success". Older versions tell only
words; then these decide.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ralph_tui.adapters.agents.json_fields import as_list, as_text
from ralph_tui.adapters.agents.session_end import LONGEST_REASON, Limit, SessionEnd
from ralph_tui.events.agent import SessionOutcome
from ralph_tui.text.sanitize import clip, one_line

_OVERLOAD = frozenset({"overloaded", "overloaded_error"})
_LIMITS = frozenset({"rate_limit", "rate_limit_error", "usage_limit_reached"})
_AUTH_ERRORS = frozenset(
    {"authentication_failed", "authentication_error", "permission_error", "oauth_org_not_allowed",
     "billing_error", "credit_balance_too_low", "no_api_key"}
)  # fmt: skip
NO_ANSWER = "connection_failed"
_OUTAGES = frozenset({"server_error", NO_ANSWER})
"""Errors of a service that is down, or of a network that does not lead to it."""
_NO_MODEL = "model_not_found"
_INTERRUPTED = frozenset({"aborted_streaming", "aborted_tools"})

_WORDS: tuple[tuple[re.Pattern[str], SessionOutcome], ...] = (
    (re.compile(r"API Error: 529|overloaded_error", re.I), "limited"),
    (
        re.compile(
            r"API Error: 429|rate_limit_error|hit your limit|(usage|hour|weekly) limit reached"
            r"|spending cap reached|limit reached.*resets",
            re.I,
        ),
        "limited",
    ),
    (
        re.compile(
            r"API Error: 40[13]\b|authentication_error|invalid api key|please run /login"
            r"|not logged in|oauth token (has expired|revoked)|credit balance is too low",
            re.I,
        ),
        "auth",
    ),
    (re.compile(r"prompt is too long|context (window|length) exceeded", re.I), "context_full"),
)
"""What the words of a failed turn mean where nothing else does; the first that is found."""
_OVERLOADED = re.compile(r"\b529\b|overloaded", re.I)

_REMEDIES: Mapping[SessionOutcome, str] = {
    "auth": "run `claude` and then /login, or set ANTHROPIC_API_KEY to a valid key",
    "unknown_model": "choose a model with --model, or correct ANTHROPIC_BASE_URL",
}

_SENTENCES: Mapping[SessionOutcome, str] = {
    "error": "The agent reported a failure",
    "limited": "A usage limit ended the session",
    "auth": "The agent is not allowed to use its service",
    "context_full": "The agent's context window overflowed",
    "max_turns": "The agent reached its maximum number of turns",
    "budget": "The agent reached its budget",
    "interrupted": "The agent was interrupted",
    "unknown_model": "The service knows no such model or address",
    "unresumable": "The agent cannot resume its session",
}
_LIMITED: Mapping[Limit, str] = {
    "usage_limit": _SENTENCES["limited"],
    "overload": "The agent's service is overloaded, which ended the session",
    "outage": "The agent's service is down",
}


@dataclass(frozen=True)
class FailedCall:
    """A call to the service that failed: what it means when nothing better follows."""

    outcome: SessionOutcome
    limit: Limit | None = None
    said: str = ""
    """What was said of it, shortly."""


def end_of_result(
    result: Mapping[str, object], last_failed: FailedCall | None = None
) -> SessionEnd:
    """What one ``result`` event says of the turn it ends; `last_failed` is its last failed call."""
    if not _failed(result):
        if as_text(result.get("terminal_reason")) == "hook_stopped":
            return SessionEnd("success", "A hook of yours stopped the agent before it was done.")
        if as_text(result.get("stop_reason")) == "refusal":
            return SessionEnd("success", "The model refused to go on.")
        return SessionEnd("success")
    details = as_text(result.get("result")) or "; ".join(
        text for item in as_list(result.get("errors")) if (text := as_text(item))
    )
    details = details[:2000]
    outcome = _told(result)
    limit = _limit(as_text(result.get("api_error")), result.get("api_error_status"))
    if outcome == "error":
        # Older versions say it in words only.
        outcome = _in_words(details) or outcome
    if outcome == "error" and last_failed is not None and result.get("api_error_status") is None:
        outcome, limit = last_failed.outcome, last_failed.limit
    if outcome != "limited":
        limit = None
    elif limit is None:
        limit = _limit_in_words(details)
    return SessionEnd(outcome, _sentence(outcome, details, limit), limit)


def failed_call(error: str, status: object) -> FailedCall | None:
    """What a failed call to the service says of the session's end; None when it says nothing."""
    code = str(status) if type(status) is int else ""
    said = ", ".join(filter(None, (error.replace("_", " "), code)))
    if status in (401, 403) or error in _AUTH_ERRORS:
        return FailedCall("auth", said=said)
    if status == 404 or error == _NO_MODEL:
        return FailedCall("unknown_model", said=said)
    if (limit := _limit(error, status)) is not None:
        return FailedCall("limited", limit, said)
    return None


def end_of_failed_call(call: FailedCall) -> SessionEnd:
    """A session that ended while its calls to the service were refused."""
    sentence = _sentence(call.outcome, call.said, call.limit)
    return SessionEnd(call.outcome, sentence, call.limit)


def end_of_exit(exit_code: int | None, last_words: str, *, heard: bool) -> SessionEnd:
    """A process that ended without a result; `heard` says whether it printed any known event."""
    said = f": {clip(one_line(last_words[:2000]), LONGEST_REASON)}" if last_words.strip() else ""
    if exit_code in (126, 127) and not heard:
        return SessionEnd("missing", f"The agent's command was not found{said}.")
    if exit_code is None or exit_code > 128:
        signal = "" if exit_code is None else f" by signal {exit_code - 128}"
        return SessionEnd(
            "crashed", f"The agent's process was ended{signal} without a result{said}."
        )
    if exit_code == 0 and heard:
        return SessionEnd("error", f"The agent's stream broke off without a result{said}.")
    if exit_code == 0:
        return SessionEnd("error", f"The agent printed nothing that can be understood{said}.")
    known = _in_words(last_words[:2000])
    if known is not None:
        limit = _limit_in_words(last_words) if known == "limited" else None
        return SessionEnd(known, _sentence(known, last_words[:2000], limit), limit)
    outcome: SessionOutcome = "error" if said else "crashed"
    return SessionEnd(outcome, f"The agent exited with code {exit_code} without a result{said}.")


def _failed(result: Mapping[str, object]) -> bool:
    if result.get("is_error") is True:
        return True
    # Older versions call a turn that ran out of turns no error; only then the subtype may speak.
    silent = not as_text(result.get("terminal_reason"))
    return silent and as_text(result.get("subtype")).startswith("error_")


def _told(result: Mapping[str, object]) -> SessionOutcome:
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


def _limit(error: str, status: object) -> Limit | None:
    if status == 529 or error in _OVERLOAD:
        return "overload"
    if status == 429 or error in _LIMITS:
        return "usage_limit"
    broken = type(status) is int and status >= 500
    return "outage" if broken or (status is None and error in _OUTAGES) else None


def _sentence(outcome: SessionOutcome, details: str, limit: Limit | None = None) -> str:
    sentence = _SENTENCES[outcome] if limit is None else _LIMITED[limit]
    if outcome == "interrupted":
        return f"{sentence}."
    if outcome not in _REMEDIES:
        return _because(sentence, details)
    words = clip(one_line(details), LONGEST_REASON).strip()
    return f"{sentence}{f' ({words})' if words else ''}: {_REMEDIES[outcome]}."


def _because(sentence: str, details: str) -> str:
    words = clip(one_line(details), LONGEST_REASON).strip()
    return f"{sentence}: {words}" if words else f"{sentence}."


def _limit_in_words(text: str) -> Limit:
    return "overload" if _OVERLOADED.search(text) else "usage_limit"


def _in_words(text: str) -> SessionOutcome | None:
    return next((outcome for words, outcome in _WORDS if words.search(text)), None)
