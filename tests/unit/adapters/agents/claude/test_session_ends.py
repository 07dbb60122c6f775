"""Session outcomes by result and exit code."""

from datetime import UTC, datetime, timedelta

from ralph_tui.adapters.agents.claude.ends import REMEDIES, EndTracker, end_of_exit, end_of_result
from ralph_tui.adapters.agents.ends import FailedCall, end_of_call
from tests.rows import each_row


@each_row(
    ("result", "outcome"),
    [
        ({"subtype": "success", "is_error": False, "terminal_reason": "completed"}, "success"),
        ({"subtype": "success", "is_error": False, "terminal_reason": "hook_stopped"}, "success"),
        ({"subtype": "success", "is_error": True, "api_error_status": 401}, "auth"),
        ({"subtype": "success", "is_error": True, "api_error_status": 403}, "auth"),
        ({"subtype": "success", "is_error": True, "api_error_status": 404}, "unknown_model"),
        ({"subtype": "success", "is_error": True, "api_error_status": 400}, "error"),
        ({"subtype": "success", "is_error": True, "api_error_status": 503}, "limited"),
        ({"is_error": True, "api_error": "connection_failed", "api_error_status": None}, "limited"),
        ({"subtype": "success", "is_error": True, "api_error_status": 429}, "limited"),
        ({"subtype": "success", "is_error": True, "api_error_status": 529}, "limited"),
        ({"is_error": True, "api_error": "usage_limit_reached"}, "limited"),
        ({"is_error": True, "api_error": "authentication_failed"}, "auth"),
        ({"is_error": True, "terminal_reason": "prompt_too_long"}, "context_full"),
        ({"is_error": True, "terminal_reason": "max_turns"}, "max_turns"),
        ({"is_error": True, "subtype": "error_max_turns"}, "max_turns"),
        ({"is_error": True, "subtype": "error_max_budget_usd"}, "budget"),
        ({"is_error": True, "terminal_reason": "aborted_tools"}, "interrupted"),
        ({"is_error": True, "terminal_reason": "aborted_streaming"}, "interrupted"),
        ({"is_error": True, "subtype": "error_during_execution"}, "error"),
        ({"is_error": True, "terminal_reason": 5, "api_error_status": "429"}, "error"),
    ],
)
def test_results(result: dict[str, object], outcome: str) -> None:
    end = end_of_result(result)
    assert end.outcome == outcome
    assert end.reason or outcome == "success"


@each_row(
    ("result", "limit"),
    [
        ({"api_error_status": 500}, "outage"),
        ({"api_error_status": 502}, "outage"),
        ({"api_error_status": None, "api_error": "connection_failed"}, "outage"),
        ({"api_error_status": 529}, "overload"),
        ({"api_error_status": 429}, "usage_limit"),
        # The status of the service's answer outweighs its text.
        ({"api_error_status": 500, "result": "API Error: 500 rate_limit_error 529"}, "outage"),
        ({"api_error_status": 400, "result": "Connection refused, 503, server_error"}, None),
        ({"result": "Unable to connect to the database: connection_failed"}, None),
    ],
)
def test_a_service_that_is_down_is_told_by_fields(result: dict[str, object], limit: str) -> None:
    end = end_of_result({"is_error": True, "subtype": "success", **result})
    assert end.limit == limit
    assert end.outcome == ("error" if limit is None else "limited")


@each_row("error", ["server_error", "unknown"])
def test_older_versions_tell_of_a_dead_network_in_the_calls_before(error: str) -> None:
    ends = EndTracker()
    ends.retried("unknown", None)
    ends.failed(error, None)
    ends.result({"is_error": True, "result": "API Error: x", "api_error_status": None})
    assert ends.of_last_turn is not None
    assert (ends.of_last_turn.outcome, ends.of_last_turn.limit) == ("limited", "outage")


def test_a_call_that_is_answered_after_all_leaves_no_outage() -> None:
    ends = EndTracker()
    ends.retried("unknown", None)
    ends.answered()
    ends.result({"is_error": True, "subtype": "error_during_execution"})
    assert ends.of_last_turn is not None
    assert ends.of_last_turn.outcome == "error"


def test_an_unknown_model_is_told_with_what_to_do() -> None:
    end = end_of_result({"is_error": True, "api_error_status": 404, "result": "No such model."})
    assert end.reason == (
        "The service does not know this model or address (No such model.): choose a model with "
        "--model, or correct ANTHROPIC_BASE_URL."
    )


def test_a_reason_is_one_short_clean_line() -> None:
    end = end_of_result({"is_error": True, "result": "bad\n\x1b[31mthing " + "x" * 5000})
    assert end.reason.startswith("The agent reported a failure: bad⏎thing")
    assert len(end.reason) < 400


@each_row(
    ("code", "stderr", "heard", "outcome", "words"),
    [
        (0, "", True, "error", "ended without a result"),
        (0, "", False, "error", "printed no readable output"),
        (1, "no such model", True, "error", "exited with code 1 without a result: no such model"),
        (3, "", False, "crashed", "exited with code 3"),
        (127, "sh: x: not found", False, "missing", "not found"),
        (137, "", True, "crashed", "by signal 9"),
        (None, "", True, "crashed", "without a result"),
    ],
)
def test_exits_without_a_result(
    code: int | None, stderr: str, *, heard: bool, outcome: str, words: str
) -> None:
    end = end_of_exit(code, stderr, heard=heard)
    assert end.outcome == outcome
    assert words in end.reason


def test_a_refusal_names_the_remedy() -> None:
    assert (
        "(401): run `claude` and then /login"
        in end_of_call(FailedCall("auth", said="401"), REMEDIES).reason
    )


def test_an_older_versions_limit_ends_when_its_words_say() -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    reset = now + timedelta(hours=2)
    ends = EndTracker()
    words = f"Claude AI usage limit reached|{int(reset.timestamp())}"
    ends.result({"is_error": True, "subtype": "success", "result": words})
    assert ends.of_last_turn is not None
    assert (ends.of_last_turn.outcome, ends.of_last_turn.resets_at) == ("limited", reset)
