"""How a fleet and its events are worded, where screen, status and lines say the same. Pure."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from ralph_tui.fleet import events as told
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.plan import HERE
from ralph_tui.fleet.state import FleetState
from ralph_tui.text.format import clock, count, duration, ending, money, percent
from ralph_tui.text.terms import STAGES, RowLevel, in_words, outcome_word, who_words

GONE = "the fleet's process is gone; ralph-tui fleet resume goes on with it"
NO_WORK = "has changed nothing"
NAMED = 4
"""Loops, or branches, that are named one by one."""
COST_NOT_TOLD = "cost not told"
_HELD = {"paused": "paused", "limited": "waiting"}
"""Words of phases in which no agent works."""


def host_words(name: str) -> str:
    """A host as people read it: that of the fleet's own process is the machine they are at."""
    return "this machine" if name == HERE else name


def fleet_sentence(state: FleetState, now: datetime, *, lost: bool = False) -> str:
    """What the owner should know first; `lost`: the fleet's process is gone, without an end."""
    if state.started is None:
        return "it is starting"
    if state.finished is not None:
        return ending(state.finished.outcome, state.finished.reason)
    if lost:
        return GONE
    return "; ".join(_parts(state, now)) or "all loops are over; their work is being collected"


def _parts(state: FleetState, now: datetime) -> Iterator[str]:
    loops = state.loops.values()
    asking = [loop for loop in loops if loop.question]
    if asking:
        waits = "waits" if len(asking) == 1 else "wait"
        yield f"{named(asking)} {waits} for your answer"
    if state.stopping is not None:
        yield _stopping(state.stopping)
    for account, held in state.held.items():
        until = f" until {clock(held.until)}" if held.until else ""
        yield f"{account or 'the login'} is at its limit{until}"
    away = [loop for loop in loops if loop.status == "lost"]
    if away:
        lost_ones = {loop.host: loop.lost_until for loop in away}
        yield from (_host_away(host, until, now) for host, until in lost_ones.items())
    yield from tally(state)
    if state.budget_percent and not state.stopping:
        what = "nothing new starts" if state.budget_percent < 100 else "running loops stop"
        yield f"{state.budget_percent} % of the budget are used: {what}"


def _stopping(asked: told.StopAsked) -> str:
    if asked.abort:
        return "it is being given up"
    return "it is being stopped" if asked.now else "it stops after the running iterations"


def _host_away(host: str, until: datetime | None, now: datetime) -> str:
    left = f" for {duration((until - now).total_seconds())} more" if until and until > now else ""
    return f"nothing is heard of {host_words(host)}: its loops may go on{left}"


def tally(state: FleetState) -> Iterator[str]:
    """How many loops run, wait and are over: ``3 run``, ``2 queued``, ``4 of 9 over``."""
    loops = list(state.loops.values())
    running = sum(loop.status in ("running", "placing") for loop in loops)
    queued = sum(loop.status == "queued" for loop in loops)
    over = sum(loop.over for loop in loops)
    if len(loops) == 1 and running + queued:
        yield "the loop runs" if running else "the loop waits for a place"
        return
    if running:
        yield f"{running} {'runs' if running == 1 else 'run'}"
    if queued:
        yield f"{queued} queued"
    if over and over < len(loops):
        yield f"{over} of {len(loops)} over"


def named(loops: Iterable[LoopState]) -> str:
    """``loop 3``, ``loops 3, 4``, ``loops 3, 4, 5, 6 and 2 more``."""
    ids = [loop.spec.id for loop in loops]
    return f"loop{'s' * (len(ids) > 1)} {_some(ids)}"


def loop_sentence(loop: LoopState, state: FleetState, now: datetime) -> str:
    """How one loop stands."""
    match loop.status:
        case "queued":
            after = f" (after {', '.join(loop.spec.after)})" if loop.spec.after else ""
            why = f"; {loop.reason}" if loop.reason else ""
            return f"it waits for a place{after}{why}"
        case "placing":
            stage = f": {STAGES.get(loop.stage, in_words(loop.stage))}" if loop.stage else ""
            return f"it is being placed on {host_words(loop.host)}{stage}"
        case "lost":
            return _host_away(loop.host, loop.lost_until, now)
        case "skipped":
            return f"it does not run: {loop.reason}"
        case "ended":
            return ending(loop.outcome or "interrupted", loop.reason)
        case "running":
            return loop.question or loop.verdict or in_words(loop.phase) or "it runs"


def result_sentence(loop: LoopState) -> str:
    """What became of a loop's work; empty: nothing is known of any yet."""
    if loop.not_collected:
        return f"its work could not be collected: {loop.not_collected}"
    if loop.collecting:
        return "its work is being collected"
    if not loop.commit:
        return ""
    if not loop.branch:
        return NO_WORK
    lines = loop.changed_lines
    changed = f", {count(lines, 'line')} changed" if lines is not None else ""
    return f"branch {loop.branch} at {loop.commit[:9]}, {count(loop.files, 'file')}{changed}"


def conflict_sentences(loop: LoopState) -> Iterator[str]:
    """What its branch cannot be merged with."""
    if loop.conflicts_unknown:
        yield f"conflicts are not known: {loop.conflicts_unknown}"
    shown = len(loop.conflicts) if len(loop.conflicts) <= NAMED else NAMED - 1
    for branch, files in list(loop.conflicts.items())[:shown]:
        yield (
            f"conflicts with {branch}: {', '.join(files)}" if files else f"conflicts with {branch}"
        )
    if more := len(loop.conflicts) - shown:
        yield f"conflicts with {more} more branches"


def state_word(loop: LoopState, *, lost: bool = False) -> str:
    """How a loop stands in a word; `lost`: the fleet's process is gone."""
    if loop.status == "ended":
        return outcome_word(loop.outcome or "interrupted")
    if loop.placed and lost:
        return "stopped"
    if loop.status == "running":
        return "asking" if loop.question else _HELD.get(loop.phase, "running")
    return loop.status


def cost_words(state: FleetState) -> str:
    """What all loops have cost, as far as their agents tell: ``$1.20``, ``cost not told``."""
    loops = list(state.loops.values())
    if not any(loop.cost_told for loop in loops):
        return COST_NOT_TOLD if any(loop.cost_missing for loop in loops) else money(0.0)
    least = "at least " if any(loop.cost_missing for loop in loops) else ""
    return f"{least}{money(state.spent_usd)}"


def spent_words(state: FleetState) -> str:
    """The same, and what they may cost: ``$1.20 of $5.00``."""
    spent, budget = cost_words(state), state.plan.budget_usd
    if budget is None:
        return spent
    return f"{spent}{', budget' if spent == COST_NOT_TOLD else ' of'} {money(budget)}"


# the log --------------------------------------------------------------------------------------

Said = tuple[RowLevel, str]


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
    begun = "could not begin" if event.never_began else f"{what}{at}"
    return levels.get(event.outcome, "warn"), _because(_about(event.loop, begun), event.reason)


def _given(event: told.CommandGiven) -> Said | None:
    if not event.loop and not event.refused:
        return None  # `StopAsked` tells it
    whom = f"loop {event.loop}" if event.loop else "the fleet"
    what = f"{who_words(event.by) or 'somebody'} asked {whom} to {in_words(event.name)}"
    return ("warn", f"{what}: {event.refused}") if event.refused else ("owner", what)


def _chosen(event: told.WinnerChosen) -> Said:
    if not event.loop:
        return "warn", _because(f"no try at {event.tries_at} is chosen", event.reason)
    return "good", _because(f"loop {event.loop} is chosen", event.reason)


def _verified(event: told.WinnerVerified) -> Said:
    how = "passed once more in a fresh clone" if event.passed else "failed in a fresh clone"
    level: RowLevel = "good" if event.passed else "critical"
    return level, _because(_about(event.loop, f"its completion command {how}"), event.reason)


def _conflicts(event: told.ConflictsFound) -> Said | None:
    if event.unknown:
        return "log", f"conflicts of {event.branch} are not known: {event.unknown}"
    new = event.others if event.new is None else event.new
    return ("warn", f"{event.branch} conflicts with {_some(list(new))}") if new else None


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def _stop_asked(event: told.StopAsked) -> Said:
    what = "give it up" if event.abort else "stop now" if event.now else "stop"
    return "owner", f"{who_words(event.by)} asked the fleet to {what}"


def _finished(event: told.FleetFinished) -> Said:
    spent = f" ({money(event.spent_usd)})" if event.spent_usd is not None else ""
    level: RowLevel = "good" if event.outcome == "completed" else "warn"
    return level, f"the fleet is over: {ending(event.outcome, event.reason)}{spent}"


def _held(event: told.AccountHeld) -> Said:
    until = f" until {clock(event.until)}" if event.until else ""
    name = event.account or "the login"
    return "warn", _because(f"{name} is at its limit{until}; nothing on it starts", event.reason)


def _joined(event: told.HostJoined) -> Said:
    return "log", f"{host_words(event.host)} joined, {count(event.slots, 'slot')}"


_WORDS: dict[type[FleetEvent], Callable[[Any], Said | None]] = {
    told.FleetStarted: lambda e: ("log", f"{e.name} began with {count(len(e.plan.loops), 'loop')}"),
    told.FleetResumed: lambda e: ("owner", f"{who_words(e.by)} resumed the fleet"),
    told.HostJoined: _joined,
    told.HostRefused: lambda e: ("warn", f"{host_words(e.host)} was not let in: {e.reason}"),
    told.HostLost: lambda e: (
        "log" if e.left else "warn",
        _because(f"{host_words(e.host)} {'has left' if e.left else 'is lost'}", e.reason),
    ),
    told.LoopPlaced: lambda e: (
        "log",
        _about(e.loop, f"{'is resumed' if e.resumed else 'is placed'} on {host_words(e.host)}"),
    ),
    told.LoopBegan: lambda e: ("log", _about(e.loop, "began")),
    told.LoopLost: lambda e: (
        "warn",
        _about(e.loop, f"is lost: it may go on where it is until {clock(e.until)}"),
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
    told.ResultCollected: lambda e: (
        "log",
        _about(
            e.loop,
            f"is collected as {e.branch}, {count(e.files, 'file')}" if e.branch else NO_WORK,
        ),
    ),
    told.CollectionFailed: lambda e: (
        "warn",
        _about(e.loop, f"could not be collected: {e.reason}"),
    ),
    told.ConflictsFound: _conflicts,
    told.WinnerVerified: _verified,
    told.WinnerChosen: _chosen,
    told.AccountHeld: _held,
    told.AccountReleased: lambda e: ("good", f"{e.account or 'the login'} works again"),
    told.BudgetReached: lambda e: (
        "warn",
        f"{e.percent} % of the budget are used: {money(e.spent_usd)} of {money(e.budget_usd)}",
    ),
    told.CommandGiven: _given,
    told.FleetNoticed: lambda e: (e.level, e.text) if e.text.strip() else None,
    told.StopAsked: _stop_asked,
    told.FleetFinished: _finished,
}
