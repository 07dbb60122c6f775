"""How Codex's sessions end: failed calls, usage windows, failed requests, exits. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from ralph_tui.adapters.agents.codex import CODEX
from ralph_tui.adapters.agents.ends import (
    FailedCall,
    Remedies,
    SessionEnd,
    classify,
    classify_words,
    end_of_call,
    last_words,
    parse_reset,
    signal_text,
)
from ralph_tui.text.json_fields import as_amount, as_map, as_moment, as_text

Json = Mapping[str, object]

REMEDIES: Remedies = {
    "auth": CODEX.login,
    "unknown_model": "choose a model with --model, or correct Codex's config.toml",
}
SIGNED_OUT = FailedCall("auth", said="Codex reports that you are not signed in")
"""Ends a signed-out session at once; otherwise, Codex would retry refused calls for minutes."""
NEAR = 90.0
"""Percent of a usage window at which a warning is shown."""


def failed(error: Json) -> FailedCall:
    """Classify ``error{message, codexErrorInfo}``."""
    info = error.get("codexErrorInfo")
    name, status = as_text(info), None
    for key, about in as_map(info).items():
        name, status = key, as_map(about).get("httpStatusCode")
    words = as_text(error.get("message"))
    details = as_text(error.get("additionalDetails"))
    call = classify(name, status, f"{words} {details}".strip())
    # The message about a retried call counts the attempts.
    return replace(call, said=details or words)


def retried(error: Json, call: FailedCall) -> str:
    """Describe a failed call that Codex retries."""
    details = map(as_map, as_map(error.get("codexErrorInfo")).values())
    statuses = (about.get("httpStatusCode") for about in details)
    code = next((f" ({status})" for status in statuses if type(status) is int), "")
    what = {"outage": "is unavailable", "overload": "is overloaded"}.get(
        call.limit or "", "refuses"
    )
    words = as_text(error.get("message")).strip()
    return f"The service {what}{code}; the agent is retrying{': ' * bool(words)}{words}"


class Windows:
    """The usage windows of a subscription, as last reported."""

    def __init__(self) -> None:
        self._windows: dict[str, Json] = {}
        self._reported: set[str] = set()

    @property
    def known(self) -> bool:
        """True if any usage window is known, which shows that the account has a subscription."""
        return bool(self._windows)

    def take(self, limits: Json) -> list[str]:
        """Handle ``account/rateLimits/updated``; return warnings about windows near their limit."""
        near = []
        for name in ("primary", "secondary"):
            window = as_map(limits.get(name))
            if not window:
                continue
            self._windows[name] = window
            used = as_amount(window.get("usedPercent")) or 0.0
            if NEAR <= used < 100 and name not in self._reported:
                self._reported.add(name)
                resets = as_moment(window.get("resetsAt"))
                until = f", resets at {resets:%Y-%m-%d %H:%M} UTC" if resets else ""
                near.append(f"Usage limit is near ({_span(window)}, {used:.0f}% used{until})")
        return near

    def end(self, call: FailedCall, now: datetime) -> SessionEnd:
        """Return the end of a session after a failed call; `now` must be in the user's zone."""
        return end_of_call(call, REMEDIES, self._resets_at(call, now))

    def _resets_at(self, call: FailedCall, now: datetime) -> datetime | None:
        full = [
            window
            for window in self._windows.values()
            if (as_amount(window.get("usedPercent")) or 0.0) >= 100
        ]
        ends = [end for window in full if (end := as_moment(window.get("resetsAt"))) and end > now]
        return max(ends, default=None) or parse_reset(call.said, now)


def _span(window: Json) -> str:
    minutes = as_amount(window.get("windowDurationMins")) or 0.0
    if not minutes:
        return "usage window"
    hours = minutes / 60
    if hours < 2:
        return f"{minutes:.0f}-minute window"
    return f"{hours / 24:.0f}-day window" if hours >= 48 else f"{hours:.0f}-hour window"


def end_of_exit(exit_code: int | None, text: str, *, began: bool) -> SessionEnd:
    """Return the end if the server exited before its turn ended.

    `text` is its last line; `began` is True after the handshake.
    """
    said = last_words(text)
    if exit_code in (126, 127) and not began:
        return SessionEnd("missing", f"Codex cannot be run{said}.")
    if (signal := signal_text(exit_code)) is not None:
        return SessionEnd("crashed", f"Codex was terminated{signal} while it was working{said}.")
    if (known := classify_words(text)) is not None:
        return end_of_call(FailedCall(*known, said=text), REMEDIES)
    when = "while it was working" if began else "before it started"
    code = f" with code {exit_code}" if exit_code else ""
    return SessionEnd("error", f"Codex ended{code} {when}{said}; run `codex` by hand to see why.")
