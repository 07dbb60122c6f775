"""Results of the stub's calls to its service: answers, retries on the stream, or a failure."""

import os
import random
import time
from collections.abc import Callable

from tests.doubles.inbox import Inbox
from tests.doubles.scenario import Answer, Script
from tests.doubles.turns import CallFailedError
from tests.doubles.wire import Json, Wire

PACE = float(os.environ.get("STUB_PACE", "0.02"))
"""Real seconds for each second of waiting before a retry."""
LONG_WAIT_S = 60
"""From such a ``retry-after`` on a call fails at once."""

RETRIED: dict[str, tuple[int | None, str]] = {
    "429": (429, "rate_limit"),
    "529": (529, "overloaded"),
    "500": (500, "server_error"),
    "401": (401, "authentication_failed"),
    "drop": (None, "unknown"),
}
FAILURES = {
    "401": ("Invalid API key · Fix external API key", "authentication_failed",
            "authentication_error"),
    "403": ("Failed to authenticate. API Error: 403 not allowed", "authentication_failed",
            "permission_error"),
    "404": ("There's an issue with the selected model ({model}). It may not exist or you may not "
            "have access to it. Run --model to pick a different model.", "model_not_found",
            "not_found_error"),
    "429": ("API Error: Request rejected (429) · This request would exceed your rate limit.",
            "rate_limit", "rate_limit_error"),
    "529": ("API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again "
            "in a moment.", "server_error", "overloaded_error"),
    "500": ("API Error: 500 Internal server error. This is a server-side issue, usually temporary "
            "— try again in a moment.", "server_error", "api_error"),
    "drop": ("API Error: Unable to connect to API (ECONNRESET)", "server_error", ""),
    "overflow": ("Prompt is too long", "invalid_request", "invalid_request_error"),
}  # fmt: skip
DROPPED = "API Error: Connection dropped (ECONNRESET). Check the gateway, and try again."
"""...as newer versions say it."""
LIMIT = {
    "status": "rejected",
    "rateLimitType": "five_hour",
    "overageStatus": "rejected",
    "isUsingOverage": False,
}


class Service:
    """The model as the main conversation or one subagent meets it."""

    def __init__(
        self,
        script: Script,
        inbox: Inbox,
        wire: Wire,
        broken: Callable[[Answer], None],
        heard: Callable[[], None] = lambda: None,
    ) -> None:
        self._script = script
        self._inbox = inbox
        self._wire = wire
        self._broken = broken
        """Called with an answer that broke off in the middle."""
        self._heard = heard
        """Called when the answer, or the failure, begins."""

    def call(self) -> Answer:
        """The next answer; raises `CallFailedError`."""
        attempt = 0
        retries = int(os.environ.get("CLAUDE_CODE_MAX_RETRIES", "10"))
        while True:
            answer = self._script.next(time.time())
            self._inbox.wait(answer.delay_s)
            if answer.fault == "error_event":
                # The real binary asks again without streaming, and says nothing.
                self._broken(answer)
                continue
            if not answer.fault:
                self._heard()
                self._stall(answer)
                return answer
            attempt += 1
            failure = RETRIED.get(answer.fault)
            if failure is None or attempt > retries or self._is_far_away(answer):
                self._heard()
                raise self._failure(answer)
            self._retry(answer, attempt, retries, *failure)

    def _stall(self, answer: Answer) -> None:
        if answer.stall_s:
            counted = self._wire.snapshot()
            if self._wire.modern:
                # Charged even if the turn is interrupted now.
                self._wire.count((answer.input_tokens, answer.cached_tokens, 1))
            self._inbox.wait(answer.stall_s)
            self._wire.restore(counted)

    def _retry(
        self, answer: Answer, attempt: int, retries: int, status: int | None, error: str
    ) -> None:
        delay = float(answer.retry_after or min(0.5 * 2 ** (attempt - 1), 32))
        self._wire.put(
            "system",
            "api_retry",
            attempt=attempt,
            max_retries=retries,
            retry_delay_ms=round(delay * 1000 * (1 + random.random() / 4)),
            error_status=status,
            error=error,
        )
        self._inbox.wait(delay * PACE)

    def _is_far_away(self, answer: Answer) -> bool:
        return bool(answer.resets_in_s) or float(answer.retry_after or 0) >= LONG_WAIT_S

    def _failure(self, answer: Answer) -> CallFailedError:
        text, error, error_type = FAILURES[answer.fault]
        text = text.format(model=self._wire.model)
        status = int(answer.fault) if answer.fault.isdigit() else None
        if answer.fault == "overflow":
            self._wire.put("system", "status", status="compacting")
            failed = {"compact_result": "failed", "compact_error": "exhausted"}
            self._wire.put("system", "status", status=None, **failed)
            return CallFailedError(text, error, 400, error_type, reason="prompt_too_long")
        # Only subscriptions receive their limits.
        if answer.resets_in_s and self._wire.key_source == "none":
            return self._limited(answer, error, error_type)
        if answer.fault == "drop" and self._wire.modern:
            return CallFailedError(DROPPED, error, None, details={"api_error": "connection_failed"})
        return CallFailedError(text, error, status, error_type)

    def _limited(self, answer: Answer, error: str, error_type: str) -> CallFailedError:
        resets_at = self._script.resets_at(answer)
        limit: Json = {**LIMIT, "resetsAt": resets_at}
        if self._wire.modern:
            window = {"utilization": 1, "resetsAt": resets_at, "status": "rejected"}
            limit["unifiedWindows"] = {"five_hour": window}
        self._wire.put("rate_limit_event", rate_limit_info=limit)
        at = time.localtime(resets_at)
        clock = time.strftime("%I:%M%p", at).lstrip("0").lower().replace(":00", "")
        text = f"You've hit your limit · resets {clock} ({time.tzname[0]})"
        return CallFailedError(text, error, 429, error_type, {"api_error": "usage_limit_reached"})
