"""Failed calls as Codex tells them: those that it tries again, and the last."""

from datetime import datetime

from tests.doubles.answering import REFUSALS
from tests.doubles.scenario import Answer, Json, Script

TRIES = 2
"""Attempts after which a call fails for good."""
ASKED_TWICE = ("500", "529", "drop")
"""Faults that are not reported the first time: the request is repeated."""
_AT_ONCE = {"overflow": "contextWindowExceeded", "400": "other", "429": ""}
"""Faults that are not tried again."""


def of(answer: Answer, tries: int, script: Script) -> Json:
    """The notification about a fault that came after so many tries."""
    fault = answer.fault
    if answer.resets_in_s:
        text = f"You’ve hit your usage limit. Try again at {_moment(script.resets_at(answer))}."
        return _error_event(text, "usageLimitExceeded")
    if fault in _AT_ONCE and not answer.retry_after:
        if fault == "429":
            text = "exceeded retry limit, last status: 429 Too Many Requests"
            return _error_event(text, {"responseTooManyFailedAttempts": {"httpStatusCode": 429}})
        return _error_event(REFUSALS[fault][2], _AT_ONCE[fault])
    status = int(fault) if fault.isdigit() and fault != "500" else None
    words = REFUSALS[fault][2] if fault in REFUSALS else "error sending request"
    if tries < TRIES:
        info = {"responseStreamDisconnected": {"httpStatusCode": status}}
        return {
            **_error_event(f"Reconnecting... {tries + 1}/{TRIES}", info, words),
            "willRetry": True,
        }
    if fault == "drop":
        return _error_event(words, {"responseStreamDisconnected": {"httpStatusCode": None}})
    if fault == "500":
        return _error_event("We’re currently experiencing high demand.", "internalServerError")
    return _error_event(words, {"httpConnectionFailed": {"httpStatusCode": status}})


def _moment(seconds: int) -> str:
    """``Nov 22nd, 2026 12:26 AM``, in the user's local time."""
    at = datetime.fromtimestamp(seconds).astimezone()
    end = "th" if 10 < at.day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(at.day % 10, "th")
    return f"{at:%b} {at.day}{end}, {at:%Y} {at:%I:%M %p}"


def _error_event(message: str, info: object, details: str | None = None) -> Json:
    error = {"message": message, "codexErrorInfo": info, "additionalDetails": details}
    return {"error": error, "willRetry": False}
