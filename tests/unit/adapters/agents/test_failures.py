"""Classification of failures: fields, messages, and when a limit ends."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.agents.ends import (
    FailedCall,
    classify,
    classify_words,
    end_of_call,
    failed_call,
    parse_reset,
    sentence,
    with_local_times,
)
from tests.rows import each_row

NOW = datetime(2026, 11, 21, 22, 43, 31, tzinfo=timezone(timedelta(hours=1)))
USAGE = "You’ve hit your usage limit. Upgrade to Pro (https://x.y), or try again at "


@each_row(
    ("error", "status", "outcome", "limit"),
    [
        ("", 401, "auth", None),
        ("", 402, "auth", None),
        ("", 403, "auth", None),
        ("", 404, "unknown_model", None),
        ("", 408, "limited", "outage"),
        ("", 429, "limited", "usage_limit"),
        ("", 500, "limited", "outage"),
        ("", 503, "limited", "outage"),
        ("", 529, "limited", "overload"),
        ("usageLimitExceeded", None, "limited", "usage_limit"),
        ("rate_limit", None, "limited", "usage_limit"),
        ("serverOverloaded", None, "limited", "overload"),
        ("overloaded", None, "limited", "overload"),
        ("connection_failed", None, "limited", "outage"),
        ("httpConnectionFailed", None, "limited", "outage"),
        ("httpConnectionFailed", 401, "auth", None),
        ("responseTooManyFailedAttempts", 429, "limited", "usage_limit"),
        ("responseStreamDisconnected", 500, "limited", "outage"),
        ("unauthorized", None, "auth", None),
        ("authentication_failed", None, "auth", None),
        ("contextWindowExceeded", None, "context_full", None),
        ("prompt_too_long", None, "context_full", None),
        ("modelNotFound", None, "unknown_model", None),
        ("sessionBudgetExceeded", None, "budget", None),
    ],
)
def test_fields_decide(error: str, status: int | None, outcome: str, limit: str | None) -> None:
    known = failed_call(error, status)
    assert known is not None
    assert (known.outcome, known.limit) == (outcome, limit)
    # Whatever the accompanying text.
    failure = classify(error, status, "Connection refused, 429 Too Many Requests, overloaded")
    assert (failure.outcome, failure.limit) == (outcome, limit)


@each_row(
    ("error", "status"),
    [("", None), ("other", None), ("", 400), ("connection_failed", 400), ("", "429"), ("", True)],
)
def test_fields_that_say_nothing(error: str, status: object) -> None:
    assert failed_call(error, status) is None
    assert classify(error, status, "It did not work.") == FailedCall(
        "error", None, "It did not work."
    )


@each_row(
    ("text", "outcome", "limit"),
    [
        ("exceeded retry limit, last status: 429 Too Many Requests", "limited", "usage_limit"),
        ("You have exhausted your daily quota on this model.", "limited", "usage_limit"),
        (USAGE + "Nov 22nd, 2026 12:43 AM.", "limited", "usage_limit"),
        ("You've hit your 5-hour limit", "limited", "usage_limit"),
        ("We're currently experiencing high demand", "limited", "outage"),
        ("connect ECONNREFUSED 127.0.0.1:1", "limited", "outage"),
        ("error sending request for url (http://127.0.0.1:1/v1)", "limited", "outage"),
        ("Overloaded", "limited", "overload"),
        ("Authentication required", "auth", None),
        ("Gemini API key is missing or not configured.", "auth", None),
        ("unexpected status 401 Unauthorized", "auth", None),
        ("The model `x` does not exist", "unknown_model", None),
        ("The 'x' model is not supported when using a ChatGPT account.", "unknown_model", None),
        ("This model's maximum context length is 8192 tokens", "context_full", None),
        ('{"code": "context_length_exceeded"}', "context_full", None),
        ("Something else", "error", None),
        ("", "error", None),
    ],
)
def test_words_decide_where_nothing_else_does(text: str, outcome: str, limit: str | None) -> None:
    failure = classify(text=text)
    assert (failure.outcome, failure.limit) == (outcome, limit)


def test_last_words_of_a_program_are_no_outage() -> None:
    # It may refer to one of the project's services.
    assert classify_words("connect ECONNREFUSED 127.0.0.1:5432") is None
    assert classify_words("model not found in models.py") is None


@each_row(
    ("text", "resets_at"),
    [
        (USAGE + "Nov 22nd, 2026 12:43 AM.", datetime(2026, 11, 21, 23, 43, tzinfo=UTC)),
        (USAGE + "Dec 1st, 2026 1:05 PM.", datetime(2026, 12, 1, 12, 5, tzinfo=UTC)),
        (USAGE + "11:05 PM.", datetime(2026, 11, 21, 22, 5, tzinfo=UTC)),
        (USAGE + "9:05 PM.", datetime(2026, 11, 22, 20, 5, tzinfo=UTC)),
        ("Please try again in 20s.", NOW + timedelta(seconds=20)),
        ("try again in 1 day 2 hours 3 minutes", NOW + timedelta(days=1, hours=2, minutes=3)),
        ("try again in 6m0s", NOW + timedelta(minutes=6)),
        ("Try again in 350ms", NOW + timedelta(seconds=0.35)),
        (USAGE + "Nov 20th, 2026 12:43 AM.", None),
        (USAGE + "Nov 31st, 2026 12:43 AM.", None),
        (USAGE + "Nov 22nd, 2036 12:43 AM.", None),
        (USAGE + "99:99 AM.", None),
        ("limit reached|1795300000", datetime.fromtimestamp(1795300000, UTC)),
        ("limit reached|1595300000", None),
        ("try again in 5 parsecs", None),
        ("try again later", None),
    ],
)
def test_when_a_limit_ends(text: str, resets_at: datetime | None) -> None:
    assert parse_reset(text, NOW) == resets_at


@given(st.text() | st.from_regex(r"try again (at|in) [ \w:.,]{0,40}", fullmatch=True))
def test_no_words_raise(text: str) -> None:
    found = parse_reset(text, NOW)
    assert found is None or NOW < found < NOW + timedelta(days=41)
    assert classify(text=text).outcome in (
        "error",
        "limited",
        "auth",
        "unknown_model",
        "context_full",
    )


@given(st.text(), st.none() | st.integers() | st.text() | st.booleans() | st.floats(), st.text())
def test_every_failure_ends_in_one_sentence(error: str, status: object, text: str) -> None:
    end = end_of_call(classify(error, status, text), {"auth": "log in"}, NOW)
    assert end.outcome != "success"
    assert end.reason
    assert "\n" not in end.reason
    assert len(end.reason) < 450
    assert (end.limit is not None) == (end.outcome == "limited")
    assert (end.resets_at is not None) == (end.limit == "usage_limit")


def test_what_to_do_is_said_where_that_is_known() -> None:
    end = end_of_call(FailedCall("auth", said="no key"), {"auth": "run `agent login`"})
    assert end.reason == "The agent is not allowed to use its service (no key): run `agent login`."
    assert end_of_call(FailedCall("limited", "outage"), {}).reason == "The agent's service is down."


def test_the_end_of_a_limit_in_seconds_is_told_as_a_local_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        failure = sentence("limited", "You hit your limit. Resets 1795396356.", {}, "usage_limit")
        assert failure.endswith(": You hit your limit. Resets 2026-11-23 10:12.")
        old = with_local_times("Claude AI usage limit reached|1795396356")
        assert old == "Claude AI usage limit reached|2026-11-23 10:12"
        assert with_local_times("request 1795396356 of 12") == "request 1795396356 of 12"
    finally:
        monkeypatch.undo()
        time.tzset()
