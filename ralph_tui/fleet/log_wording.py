"""How the events of a fleet are worded: the rows of its log, the lines without a screen. Pure."""

from collections.abc import Callable
from typing import Any

from ralph_tui.fleet import events as told
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.plan import HERE, SIGNED, host_words
from ralph_tui.fleet.waiting_wording import account_words, held_words
from ralph_tui.fleet.wording import NO_WORK, at_mark, some
from ralph_tui.text.format import clock, count, ending, money, percent
from ralph_tui.text.terms import RowLevel, in_words, outcome_word, who_words

Said = tuple[RowLevel, str]
_DONE = {
    "abort": "gave {} up",
    "answer": "answered the question of {}",
    "checkpoint": "asked {} for a snapshot",
    "edit_prompt": "asked {} about its next prompt",
    "extend": "changed what {} may use",
    "guide": "gave {} guidance",
    "hold": "stopped the countdown of {}'s question",
    "instruct": "changed the standing instructions of {}",
    "learning": "changed what {} has learned",
    "permissions": "changed the permissions of {}",
    "reflect": "told {} what to do differently next time",
    "restore": "asked {} to restore a snapshot",
    "retry": "told {} to try again",
    "rollover": "asked {} for a fresh session",
    "unpause": "let {} go on",
}
"""What somebody did to a loop, by command, where it is not "asked it to ..."."""


def event_words(event: FleetEvent) -> Said | None:
    """A row of the fleet's log, and how much it matters; None: it is none."""
    words = _WORDS.get(type(event))
    return None if words is None else words(event)


def _about(loop: str, what: str) -> str:
    return f"loop {loop} {what}" if loop else what


def _because(what: str, reason: str) -> str:
    return f"{what}: {reason}" if reason else what


def _ended(event: told.LoopEnded) -> Said:
    levels: dict[str, RowLevel] = {"completed": "good", "failed": "critical", "interrupted": "log"}
    what = outcome_word(event.outcome)
    at = f" at {percent(100 * event.completion)}" if event.completion is not None else ""
    on = f" on {event.host}" if event.host and event.host != HERE else ""
    begun = f"could not begin{on}" if event.never_began else f"{what}{at}{on}"
    return levels.get(event.outcome, "warn"), _because(_about(event.loop, begun), event.reason)


def _given(event: told.CommandGiven) -> Said | None:
    if not event.loop and not event.refused and event.name in ("stop", "abort"):
        return None  # `StopAsked` tells it
    if event.by == SIGNED:  # what the fleet itself does is told where it decides that
        return None
    whom = f"loop {event.loop}" if event.loop else "the fleet"
    who = who_words(event.by) or "somebody"
    if event.refused:
        said = f"{who} told {whom} '{in_words(event.name)}', which was refused"
        return "warn", f"{said}: {event.refused}"
    done = _DONE.get(event.name, f"asked {{}} to {in_words(event.name)}")
    return "owner", f"{who} {done.format(whom)}"


def _chosen(event: told.WinnerChosen) -> Said:
    if not event.loop:
        return "warn", _because(f"no attempt at {event.tries_at} is chosen", event.reason)
    return "good", _because(f"loop {event.loop} is chosen", event.reason)


def _verified(event: told.WinnerVerified) -> Said:
    how = "passed once more in a fresh clone" if event.passed else "failed in a fresh clone"
    level: RowLevel = "good" if event.passed else "critical"
    return level, _because(f"the completion command of loop {event.loop} {how}", event.reason)


def _conflicts(event: told.ConflictsFound) -> Said | None:
    if event.unknown:
        return "log", f"conflicts of {event.branch} are not known: {event.unknown}"
    new = event.others if event.new is None else event.new
    return ("warn", f"{event.branch} conflicts with {some(list(new))}") if new else None


def _stop_asked(event: told.StopAsked) -> Said:
    what = "abort it" if event.abort else "stop now" if event.now else "stop"
    return "owner", f"{who_words(event.by)} asked the fleet to {what}"


def _finished(event: told.FleetFinished) -> Said:
    said = money(event.spent_usd) if event.spent_usd is not None else ""
    spent = f" ({said})" if said and said not in event.reason else ""
    level: RowLevel = "good" if event.outcome == "completed" else "warn"
    return level, f"the fleet is over: {ending(event.outcome, event.reason)}{spent}"


def _released(event: told.AccountReleased) -> Said:
    by = f": loop {event.loop} works" if event.loop else ""
    return "good", f"{account_words(event.account)} is free again{by}"


def _joined(event: told.HostJoined) -> Said:
    return "log", f"{host_words(event.host)} joined, {count(event.slots, 'slot')}"


_WORDS: dict[type[FleetEvent], Callable[[Any], Said | None]] = {
    told.FleetStarted: lambda e: ("log", f"{e.name} began with {count(len(e.plan.loops), 'loop')}"),
    told.FleetResumed: lambda e: ("owner", f"{who_words(e.by)} resumed the fleet"),
    told.HostJoined: _joined,
    told.HostRefused: lambda e: ("warn", f"{host_words(e.host)} was not let in: {e.reason}"),
    told.HostLeaving: lambda e: (
        "log",
        _because(f"{host_words(e.host)} stops its loops and leaves", e.reason),
    ),
    told.HostLost: lambda e: (
        ("log", f"{host_words(e.host)} has left")
        if e.left
        else ("warn", _because(f"{host_words(e.host)} is lost", e.reason))
    ),
    told.LoopPlaced: lambda e: (
        "log",
        _about(e.loop, f"{'is resumed' if e.resumed else 'is placed'} on {host_words(e.host)}"),
    ),
    told.LoopBegan: lambda e: ("log", _about(e.loop, "began")),
    told.LoopLost: lambda e: (
        "warn",
        _about(e.loop, f"is lost: it may go on where it is until {clock(e.until, seconds=True)}"),
    ),
    told.LoopAdopted: lambda e: (
        "good",
        _about(e.loop, f"was found again on {host_words(e.host)}"),
    ),
    told.LoopRetried: lambda e: ("log", _about(e.loop, "was told to try again")),
    told.LoopStopAsked: lambda e: ("log", _because(_about(e.loop, "is told to stop"), e.reason)),
    told.LoopEnded: _ended,
    told.LoopRequeued: lambda e: (
        "warn",
        _because(_about(e.loop, "waits for a place again"), e.reason),
    ),
    told.LoopSkipped: lambda e: ("log", _because(_about(e.loop, "is skipped"), e.reason)),
    told.TreeRemoved: lambda e: (
        "owner",
        _about(e.loop, "starts over when the fleet is resumed: its clone was pruned"),
    ),
    told.ResultCollected: lambda e: (
        "log",
        _about(
            e.loop,
            f"is collected as {e.branch}, {count(e.files, 'file')}" if e.branch else NO_WORK,
        ),
    ),
    told.AttemptKept: lambda e: (
        "log",
        f"what attempt {e.attempt} of loop {e.loop} had made on {e.host} is kept as {e.branch}, "
        f"{count(e.files, 'file')}"
        if e.branch
        else f"attempt {e.attempt} of loop {e.loop} had made nothing on {e.host}",
    ),
    told.CollectionFailed: lambda e: (
        "warn",
        _about(e.loop, f"could not be collected: {e.reason}"),
    ),
    told.ConflictsFound: _conflicts,
    told.WinnerVerified: _verified,
    told.WinnerChosen: _chosen,
    told.AccountHeld: lambda e: ("warn", f"{held_words(e, e.at)}; nothing starts on it"),
    told.AccountReleased: _released,
    told.BudgetReached: lambda e: (
        "warn",
        f"{e.percent} % of the budget are used, {money(e.spent_usd)} of {money(e.budget_usd)}: "
        f"{at_mark(e.percent)}",
    ),
    told.CommandGiven: _given,
    told.FleetNoticed: lambda e: (e.level, e.text) if e.text.strip() else None,
    told.StopAsked: _stop_asked,
    told.FleetFinished: _finished,
}
