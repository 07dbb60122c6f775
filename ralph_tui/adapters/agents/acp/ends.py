"""How ACP sessions end: by an answer, a failed request, a silent service or an exit.

Agents report a failed call to their service in different ways: as an error code, as an error class
in the data, or only in words. One agent even ends the turn as if it had succeeded.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ralph_tui.adapters.agents.acp.quirks import Quirks
from ralph_tui.adapters.agents.acp.updates import UpdateReader
from ralph_tui.adapters.agents.ends import (
    LONGEST_REASON,
    FailedCall,
    Remedies,
    SessionEnd,
    classify,
    end_of_call,
    last_words,
    parse_reset,
    signal_text,
)
from ralph_tui.adapters.agents.rpc.messages import NO_METHOD, Failure
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.format import duration
from ralph_tui.text.json_fields import as_map, as_text
from ralph_tui.text.sanitize import clip, one_line

Json = Mapping[str, object]

AUTH_REQUIRED = -32000
"""The protocol's error code for a missing login."""
_UNSUPPORTED = "The agent does not support a required call of the Agent Client Protocol"
_CLASSES = ("errorKind", "errorName", "codexErrorInfo", "type", "code", "kind")
_GENERAL = frozenset({"APIError", "UnknownError", "Error", "invalid_request_error"})
"""Error classes that are too general to determine an outcome: the message decides instead."""
_PREFIX = re.compile(r"\A(?:Internal error|Invalid params)(?:: |\Z)")
_IN_ERROR_OUTPUT = re.compile(rb"\bstatus(?: code)?[:=]? (?P<status>[45]\d\d)\b")
_IN_WORDS = re.compile(r"\b(?:(?:unexpected )?status:?|API Error:) (?P<status>[45]\d\d)\b")
_DAILY = re.compile(r"\bdaily quota\b|\bquota .{0,40}per day\b", re.I)
_PACIFIC = "America/Los_Angeles"
"""The time zone of Google's daily quotas."""
_STOPS: Mapping[str, SessionEnd] = {
    "end_turn": SessionEnd("success"),
    "refusal": SessionEnd("success", "The model refused to continue."),
    "max_turn_requests": SessionEnd(
        "max_turns", "The agent ended its turn after too many model calls."
    ),
    "max_tokens": SessionEnd("error", "The model's answer exceeded its maximum length."),
    "cancelled": SessionEnd("error", "The agent cancelled its turn."),
}


def of_result(result: Json, reader: UpdateReader, quirks: Quirks, now: datetime) -> SessionEnd:
    """Return how a turn ended, given the answer to its prompt."""
    # The final message of a turn may come from a service that refused a call.
    refused = bool(reader.failing) or "error" in _inner(reader.last_text)
    if reader.failed or (quirks.text_may_be_error and refused):
        return _end(_failed_words(reader), quirks, now)
    reason = as_text(result.get("stopReason"))
    return _STOPS.get(reason, SessionEnd("success"))


def of_failure(failure: Failure, quirks: Quirks, now: datetime) -> SessionEnd:
    """Return how a session ended, given the request that failed."""
    if failure.code == AUTH_REQUIRED:
        return _end(FailedCall("auth", said=words_of(failure)), quirks, now)
    if failure.code == NO_METHOD:
        return SessionEnd("error", f"{_UNSUPPORTED} ({words_of(failure)}); is it up to date?")
    data, inner = as_map(failure.data), _inner(failure.message)
    words = words_of(failure)
    known = _status(data, inner) or _status_in(words)
    status = failure.code if 400 <= failure.code < 600 else known
    call = classify(_class(data) or _class(inner), status, words)
    return _end(call, quirks, now)


def no_model(model: str, words: str, quirks: Quirks) -> SessionEnd:
    """Return the end of a session whose agent rejected the model."""
    named = clip(one_line(model), 80)
    return SessionEnd(
        "unknown_model",
        f"{quirks.title} has no model {named!r} ({words}); choose another one with --model.",
    )


def of_silence(seconds: float, status: int) -> SessionEnd:
    """Return the end of a session whose service was silent; `status` is its last status, or 0."""
    call = classify(status=status) if status else FailedCall("limited", "outage")
    limit = call.limit if call.outcome == "limited" else "outage"
    last = f"; its last refusal had status {status}" if status else ""
    return SessionEnd(
        "limited", f"The agent's service has not answered for {duration(seconds)}{last}", limit
    )


def of_exit(exit_code: int | None, text: str, *, began: bool) -> SessionEnd:
    """Return the end of a session whose process exited early; `text` is its last line of output."""
    said = last_words(text)
    if exit_code in (126, 127) and not began:
        return SessionEnd("missing", f"The agent's command cannot be run ({exit_code}){said}.")
    when = "while it was working" if began else "before it was ready"
    if (signal := signal_text(exit_code)) is not None:
        return SessionEnd("crashed", f"The agent was terminated{signal} {when}{said}.")
    see = "" if began else "; run it by hand to see why"
    return SessionEnd("crashed", f"The agent exited with code {exit_code} {when}{said}{see}.")


def status_in(line: bytes) -> int:
    """Return the status of a failed call in a line of error output, or 0."""
    match = _IN_ERROR_OUTPUT.search(line)
    return int(match["status"]) if match else 0


def words_of(failure: Failure) -> str:
    """Return a failed request's message for display."""
    data, inner = as_map(failure.data), _inner(failure.message)
    words = _PREFIX.sub("", as_text(inner.get("message")) or failure.message)
    more = as_text(data.get("message")) or as_text(data.get("details")) or as_text(failure.data)
    said = words or more or "it gave no reason"
    return clip(one_line(said[:2000]), LONGEST_REASON)


def _end(call: FailedCall, quirks: Quirks, now: datetime) -> SessionEnd:
    remedies: Remedies = {
        "auth": quirks.login,
        "unknown_model": "choose a model with --model, or correct the agent's own settings",
    }
    return end_of_call(call, remedies, _resets_at(call, now))


def _resets_at(call: FailedCall, now: datetime) -> datetime | None:
    reset = parse_reset(call.said, now)
    if reset is not None or not _DAILY.search(call.said):
        return reset
    try:
        there = now.astimezone(ZoneInfo(_PACIFIC))
    except (ZoneInfoNotFoundError, OSError):
        return None
    tomorrow = (there + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return tomorrow.astimezone(UTC)


def _failed_words(reader: UpdateReader) -> FailedCall:
    inner = _inner(reader.last_text)
    words = as_text(inner.get("message")) or reader.last_text.strip()
    code = reader.failing.get("codexErrorInfo")
    status = _status({"codexErrorInfo": code}, inner) or _status_in(words)
    return classify(_class({"codexErrorInfo": code}) or _class(inner), status, words)


def _inner(text: str) -> Json:
    """Return the error from a service's raw JSON response, or an empty dict for any other text."""
    text = text.strip()
    if not text.startswith("{") or len(text) > 100_000:
        return {}
    try:
        fields = as_map(parse_json(text))
    except ValueError:
        return {}
    return {**fields, **as_map(fields.get("error"))}


def _class(fields: Json) -> str:
    """Return the first useful error class in the fields: a string, or an object's only key."""
    for name in _CLASSES:
        value = fields.get(name)
        found = next(iter(value), "") if isinstance(value, dict) and len(value) == 1 else value
        if as_text(found) and found not in _GENERAL:
            return as_text(found)[:100]
    return ""


def _status_in(words: str) -> int | None:
    match = _IN_WORDS.search(words)
    return int(match["status"]) if match else None


def _status(*places: Json) -> int | None:
    for fields in places:
        info = fields.get("codexErrorInfo")
        inside = next(iter(info.values()), None) if isinstance(info, dict) and info else None
        nested = as_map(inside).get("httpStatusCode")
        for status in (nested, fields.get("code"), fields.get("status")):
            if type(status) is int and 400 <= status < 600:
                return status
    return None
