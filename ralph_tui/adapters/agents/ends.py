"""How sessions end, and what a failed call to a model's service means, for all agents. Pure.

Fields decide: first the status, then the error class. The message decides only without such fields,
and only if it is known to describe a failed call. A test that prints "connection refused" is not an
outage.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, cast

from ralph_tui.adapters.processes.child import Exit
from ralph_tui.events import SessionFinished
from ralph_tui.events.agent import SessionOutcome
from ralph_tui.text.sanitize import clip, one_line

LONGEST_REASON = 300
"""Maximum length of foreign text in a reason, in characters."""

_STOPPED: Mapping[str, str] = {
    "timeout": "The session exceeded its time limit and was stopped.",
    "interrupted": "The agent was interrupted.",
    "silent": "The agent was silent for too long and was interrupted.",
    "budget": "The session used up its budget and was stopped.",
    "rolled_over": "The session was ended for a context handoff.",
    "context_full": "The session was ended because its context was full.",
    "stopped": "Stopped.",
}

Limit = Literal["usage_limit", "overload", "outage"]


@dataclass(frozen=True)
class SessionEnd:
    """An outcome and the sentence that explains it, empty on success."""

    outcome: SessionOutcome
    reason: str = ""
    limit: Limit | None = None
    """The kind of limit, if the outcome is ``limited``."""
    resets_at: datetime | None = None
    """When the limit ends, in UTC; None if unknown."""


def local_now() -> datetime:
    """Return the current time in the user's time zone, which agents use in their messages."""
    return datetime.now().astimezone()


def last_words(text: str) -> str:
    """Format a program's last output, as in ``: out of memory``, or return ""."""
    words = clip(one_line(text[:2000]), LONGEST_REASON).strip()
    return f": {words}" if words else ""


def signal_text(exit_code: int | None) -> str | None:
    """Return `` by signal 9``, "" if the exit code is unknown, or None if there was no signal."""
    if exit_code is None:
        return ""
    return f" by signal {exit_code - 128}" if exit_code > 128 else None


def end_of_stop(outcome: str) -> SessionEnd:
    """Return the end of a session that was stopped; `outcome` says why."""
    reason = _STOPPED.get(outcome, "The agent was stopped.")
    return SessionEnd(cast("SessionOutcome", outcome), reason)


@dataclass
class Tally:
    """The counters of a session, as far as the agent reports them."""

    cost_usd: float | None = None
    tokens: int = 0
    turns: int = 0
    tool_calls: int = 0
    tool_errors: int = 0


def session_finished(
    iteration: int, ended: Exit, end: SessionEnd, tally: Tally, duration_s: float
) -> SessionFinished:
    """Build the last event of a session, after its process has exited."""
    return SessionFinished(
        iteration=iteration,
        outcome=end.outcome,
        reason=end.reason,
        exit_code=ended.code,
        duration_s=round(duration_s, 3),
        limit=end.limit,
        resets_at=end.resets_at,
        cost_usd=tally.cost_usd,
        tokens=tally.tokens,
        turns=tally.turns,
        tool_calls=tally.tool_calls,
        tool_errors=tally.tool_errors,
        leftovers=ended.leftovers,
    )


Remedies = Mapping[SessionOutcome, str]
"""Advice to users about outcomes, where it depends on the agent."""

_OVERLOAD = frozenset(
    {"overloaded", "overloadederror", "serveroverloaded", "flexunavailable",
     "policycapacityunavailable"}
)  # fmt: skip
_LIMITS = frozenset(
    {"ratelimit", "ratelimiterror", "ratelimitexceeded", "usagelimitreached", "usagelimitexceeded",
     "resourceexhausted"}
)  # fmt: skip
_AUTH = frozenset(
    {"authenticationfailed", "authenticationerror", "authenticationrequired", "unauthorized",
     "permissionerror", "permissiondenied", "oauthorgnotallowed", "billingerror",
     "creditbalancetoolow", "insufficientquota", "noapikey"}
)  # fmt: skip
_OUTAGES = frozenset(
    {"servererror", "internalservererror", "connectionfailed", "httpconnectionfailed",
     "responsestreamconnectionfailed", "responsestreamdisconnected",
     "responsetoomanyfailedattempts", "unavailable"}
)  # fmt: skip
"""Errors without a status that mean a service or network outage."""
_CONTEXT = frozenset({"contextwindowexceeded", "contextlengthexceeded", "prompttoolong"})
_NO_MODEL = frozenset({"modelnotfound"})
_BUDGET = frozenset({"sessionbudgetexceeded"})

_WORDS: tuple[tuple[re.Pattern[str], SessionOutcome, Limit | None], ...] = (
    (re.compile(r"API Error: 529|overloaded_error", re.I), "limited", "overload"),
    (
        re.compile(
            r"API Error: 429|rate_limit_error|hit your (\S{1,20} )?limit|spending cap reached"
            r"|(usage|hour|weekly) limit reached|limit reached.*resets"
            r"|exhausted your (\w{1,20} )?(quota|capacity)",
            re.I,
        ),
        "limited",
        "usage_limit",
    ),
    (
        re.compile(
            r"API Error: 40[13]\b|authentication_error|(invalid|incorrect|missing) (x-)?api[ _-]key"
            r"|api key is missing|please run /login|not logged in|authentication required"
            r"|oauth token (has expired|revoked)|credit balance is too low|\b401 unauthorized",
            re.I,
        ),
        "auth",
        None,
    ),
    (
        re.compile(
            r"prompt is too long|context (window|length) exceeded|context_length_exceeded"
            r"|exceeds the context window|maximum context length|input token count exceeds",
            re.I,
        ),
        "context_full",
        None,
    ),
)
"""Patterns for a program's output; the first match decides."""
_SERVICE_WORDS: tuple[tuple[re.Pattern[str], SessionOutcome, Limit | None], ...] = (
    (re.compile(r"\boverloaded\b|\bstatus:? 529\b", re.I), "limited", "overload"),
    (
        re.compile(r"too many requests|rate.limit(ed)?\b|\bstatus:? 429\b", re.I),
        "limited",
        "usage_limit",
    ),
    (
        re.compile(
            r"\bmodel\b.{0,120}\b(not found|(does not|doesn't) exist|not supported)"
            r"|unknown model|model_not_found",
            re.I,
        ),
        "unknown_model",
        None,
    ),
    (
        re.compile(
            r"connection (refused|reset|failed|error|closed)|ECONN(REFUSED|RESET)|ENOTFOUND"
            r"|EAI_AGAIN|fetch failed|network error|error sending request|timed out"
            r"|(unable|failed) to connect|service unavailable|bad gateway|gateway time-?out"
            r"|internal server error|high demand|stream disconnected|status:? 5\d\d\b",
            re.I,
        ),
        "limited",
        "outage",
    ),
)
"""Further patterns, for texts known to describe a failed call."""

_SENTENCES: Mapping[SessionOutcome, str] = {
    "error": "The agent reported a failure",
    "limited": "A usage limit ended the session",
    "auth": "The agent is not allowed to use its service",
    "context_full": "The agent's context window overflowed",
    "max_turns": "The agent reached its maximum number of turns",
    "budget": "The agent reached its budget",
    "interrupted": "The agent was interrupted",
    "unknown_model": "The service does not know this model or address",
    "unresumable": "The agent cannot resume its session",
}
_UNPAID = re.compile(r"credit balance|billing.?error|insufficient.?quota", re.I)
"""Errors that a new login does not fix."""
_LIMITED: Mapping[Limit, str] = {
    "usage_limit": _SENTENCES["limited"],
    "overload": "The agent's service is overloaded, which ended the session",
    "outage": "The agent's service is down",
}

_AT = re.compile(
    r"try again at (?:(?P<month>[A-Z][a-z]{2})[a-z]* (?P<day>\d{1,2})(?:st|nd|rd|th)?,? "
    r"(?P<year>\d{4}),? )?(?P<hour>\d{1,2}):(?P<minute>\d\d) ?(?P<half>[AP]M)",
    re.I,
)
_IN = re.compile(
    r"try again in (?P<parts>(?:\d{1,6}(?:\.\d{1,6})? ?[a-z]{1,7}[ ,]{0,2}){1,4})", re.I
)
_PART = re.compile(r"(\d{1,6}(?:\.\d{1,6})?) ?([a-z]+)", re.I)
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_EPOCH = re.compile(
    r"(?P<before>\b(?:resets?|try again|until)(?: at)?:? |\breached\|)(?P<at>[12]\d{9})\b", re.I
)
_FARTHEST = timedelta(days=40)


@dataclass(frozen=True)
class FailedCall:
    """A failed call to the service, and what it means unless a better explanation follows."""

    outcome: SessionOutcome
    limit: Limit | None = None
    said: str = ""
    """A short description of the failure."""

    @property
    def trouble(self) -> Limit:
        """The state of the service while the agent retries, as in `AgentNoted.service`."""
        return self.limit or "outage"


def failed_call(error: str, status: object) -> FailedCall | None:
    """Classify an error class and an HTTP status; return None if their meaning is unknown."""
    code = status if type(status) is int else None
    name = error.replace("_", "").replace("-", "").lower()
    said = ", ".join(filter(None, (error.replace("_", " "), str(code or ""))))
    if code in (401, 402, 403) or name in _AUTH:
        return FailedCall("auth", said=said)
    if code == 404 or name in _NO_MODEL:
        return FailedCall("unknown_model", said=said)
    if name in _CONTEXT:
        return FailedCall("context_full", said=said)
    if name in _BUDGET:
        return FailedCall("budget", said=said)
    limit = _limit(name, code)
    return None if limit is None else FailedCall("limited", limit, said)


def classify(error: str = "", status: object = None, text: str = "") -> FailedCall:
    """Classify a call that is known to have failed, by its fields or, failing that, its message."""
    known = failed_call(error, status)
    if known is not None:
        return FailedCall(known.outcome, known.limit, text or known.said)
    outcome, limit = classify_words(text) or _found(text, _SERVICE_WORDS) or ("error", None)
    return FailedCall(outcome, limit, text)


def classify_words(text: str) -> tuple[SessionOutcome, Limit | None] | None:
    """Classify the last output of an agent's program; return None if its meaning is unknown."""
    return _found(text, _WORDS)


def end_of_call(
    call: FailedCall, remedies: Remedies, resets_at: datetime | None = None
) -> SessionEnd:
    """Return the end of a session after a failed call."""
    reason = sentence(call.outcome, call.said, remedies, call.limit)
    return SessionEnd(
        call.outcome, reason, call.limit, resets_at if call.limit == "usage_limit" else None
    )


def sentence(
    outcome: SessionOutcome, details: str, remedies: Remedies, limit: Limit | None = None
) -> str:
    """Return a sentence about how a session ended; `details` is foreign text about it."""
    said = _SENTENCES.get(outcome, _SENTENCES["error"]) if limit is None else _LIMITED[limit]
    if outcome == "interrupted":
        return f"{said}."
    words = clip(one_line(with_local_times(details[:2000])), LONGEST_REASON).strip()
    if outcome == "auth" and _UNPAID.search(words):
        return f"{said} ({words}): add credit to the account, or use another one."
    if outcome in remedies:
        return f"{said}{f' ({words})' if words else ''}: {remedies[outcome]}."
    return f"{said}: {words}" if words else f"{said}."


def with_local_times(words: str) -> str:
    """Replace Unix timestamps in a message about a limit with local times."""
    return _EPOCH.sub(lambda match: f"{match['before']}{_local(int(match['at']))}", words)


def _local(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC).astimezone():%Y-%m-%d %H:%M}"


def parse_reset(text: str, now: datetime) -> datetime | None:
    """Parse when a limit ends: ``try again at ...``, ``try again in ...`` or a Unix timestamp.

    `now` must be aware: times of day are in its zone, because agents report them in the user's.
    """
    try:
        found = _reset_time(text, now) or _reset_delay(text, now) or _reset_seconds(text)
    except (ValueError, OverflowError):
        return None
    return found if found is not None and now < found <= now + _FARTHEST else None


def _reset_time(text: str, now: datetime) -> datetime | None:
    match = _AT.search(text)
    if match is None:
        return None
    hour = int(match["hour"]) % 12 + (12 if match["half"].upper() == "PM" else 0)
    moment = now.replace(hour=hour, minute=int(match["minute"]), second=0, microsecond=0)
    if match["month"]:
        month = _MONTHS.index(match["month"].lower()) + 1
        return moment.replace(year=int(match["year"]), month=month, day=int(match["day"]))
    return moment if moment > now else moment + timedelta(days=1)


def _reset_delay(text: str, now: datetime) -> datetime | None:
    match = _IN.search(text)
    if match is None:
        return None
    seconds = 0.0
    for amount, unit in _PART.findall(match["parts"]):
        thousandth = unit.lower().startswith(("ms", "milli"))
        seconds += float(amount) * (0.001 if thousandth else _UNITS.get(unit[0].lower(), 0.0))
    return now + timedelta(seconds=seconds) if seconds else None


def _reset_seconds(text: str) -> datetime | None:
    match = _EPOCH.search(text)
    return None if match is None else datetime.fromtimestamp(int(match["at"]), UTC)


def _limit(name: str, code: int | None) -> Limit | None:
    if code == 529 or name in _OVERLOAD:
        return "overload"
    if code == 429 or name in _LIMITS:
        return "usage_limit"
    broken = code is not None and (code >= 500 or code == 408)
    return "outage" if broken or (code is None and name in _OUTAGES) else None


def _found(
    text: str, table: tuple[tuple[re.Pattern[str], SessionOutcome, Limit | None], ...]
) -> tuple[SessionOutcome, Limit | None] | None:
    known = text[:4000]
    return next(((outcome, limit) for words, outcome, limit in table if words.search(known)), None)
