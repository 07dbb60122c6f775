"""Who works instead of whom, until when, in the words of log, lines, status and screens."""

from collections.abc import Sequence
from datetime import datetime

from ralph_tui.events import AgentChanged
from ralph_tui.state.roster import RosterFold, Worked
from ralph_tui.state.wording import Row
from ralph_tui.text.format import count, day_and_clock, money, token_count
from ralph_tui.text.sanitize import clip, one_line

LONGEST_WHY = 80
"""Characters of why a program cannot be run."""
_WHY = {
    "overload": "{name} is not served (overload)",
    "outage": "{name} is not served (its service is down)",
    "auth": "{name} is not signed in",
    "missing": "{name} cannot be run",
    "not_started": "{name} does not start",
    "unknown_model": "{name} has no such model",
}


def changed_words(e: AgentChanged, now: datetime, agent: str = "") -> str:
    """``claude is at its limit until 03:10; codex works meanwhile``; `agent`: who works by now."""
    if e.cause == "back":
        return f"{e.agent} is tried again, {e.before} no longer stands in"
    at = "" if e.until is None else day_and_clock(e.until, now)
    if e.cause == "usage_limit":
        until = f", next try at {at}" if e.guessed else f" until {at}"
        why = f"{e.before} is at its limit{until if at else ''}"
    else:
        why = _WHY[e.cause].format(name=e.before) + (f", next try at {at}" if at else "")
        if e.cause == "missing" and e.reason:
            # Not there, or there and not able to: its first words say which.
            why += f" ({clip(one_line(e.reason).partition(': ')[0].rstrip('.'), LONGEST_WHY)})"
    return f"{why}; {agent or e.agent} works meanwhile"


def changed_row(e: AgentChanged) -> Row:
    """Its entry in the log."""
    words = changed_words(e, e.at)
    return Row("log" if e.cause == "back" else "warn", "AGENT", words, e.reason)


def stands_in(roster: RosterFold, now: datetime) -> str:
    """Why another agent works than the first; empty where that one does, or none can."""
    away = roster.stands_in_for
    if away is None or roster.working in roster.refusals:
        return ""
    return changed_words(away, now, roster.working)


def worked_words(worked: dict[str, Worked]) -> list[str]:
    """``codex in iterations 2-4 (3 sessions, cost not told)``: who worked when, of several."""
    if len(worked) < 2:
        return []
    return [
        f"{name} in {_iterations(one.iterations)} ({_spent(one)})" for name, one in worked.items()
    ]


def untold_words(roster: RosterFold) -> str:
    """``without that of codex``: whose cost no sum has; empty where all have told theirs."""
    return f"without that of {' and '.join(roster.untold)}" if roster.untold else ""


def _iterations(numbers: Sequence[int]) -> str:
    spans: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    told = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
    return f"iteration{'s' if len(set(numbers)) > 1 else ''} {told}"


def _spent(worked: Worked) -> str:
    cost = "cost not told" if worked.cost_usd is None else money(worked.cost_usd, exact=True)
    tokens = f"{token_count(worked.tokens, partial=worked.tokens_partial)} tokens"
    used = [tokens] if worked.tokens else []
    return ", ".join([count(worked.sessions, "session"), cost, *used])
