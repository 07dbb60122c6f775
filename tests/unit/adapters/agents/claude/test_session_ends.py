"""The outcome table: what results and exits mean."""

import pytest

from ralph_tui.adapters.agents.claude.session_ends import (
    FailedCall,
    end_of_exit,
    end_of_failed_call,
    end_of_result,
)


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        ({"subtype": "success", "is_error": False, "terminal_reason": "completed"}, "success"),
        ({"subtype": "success", "is_error": False, "terminal_reason": "hook_stopped"}, "success"),
        ({"subtype": "success", "is_error": True, "api_error_status": 401}, "auth"),
        ({"subtype": "success", "is_error": True, "api_error_status": 403}, "auth"),
        ({"subtype": "success", "is_error": True, "api_error_status": 404}, "error"),
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


def test_a_reason_is_one_short_clean_line() -> None:
    end = end_of_result({"is_error": True, "result": "bad\n\x1b[31mthing " + "x" * 5000})
    assert end.reason.startswith("The agent reported a failure: bad⏎thing")
    assert len(end.reason) < 400


@pytest.mark.parametrize(
    ("code", "stderr", "heard", "outcome", "words"),
    [
        (0, "", True, "error", "broke off without a result"),
        (0, "", False, "error", "printed nothing that can be understood"),
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
        in end_of_failed_call(FailedCall("auth", said="401")).reason
    )
