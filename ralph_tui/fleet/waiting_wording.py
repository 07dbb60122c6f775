"""For what loops wait that could work: a place, their login, others before them. Pure."""

from collections.abc import Iterator
from datetime import datetime

from ralph_tui.fleet.events import AccountHeld
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.lost_hosts import gone_at, host_with_tree
from ralph_tui.fleet.plan import host_words
from ralph_tui.fleet.state import FleetState
from ralph_tui.text.format import clock, day_and_clock
from ralph_tui.text.terms import WAITS


def account_words(login: str) -> str:
    """A login as people read it; its name is that of an agent where no account was named."""
    return f"account {login}" if login else "the login"


def held_words(held: AccountHeld, now: datetime) -> str:
    """``account work is at its limit until 10:59: usage limit, met by loop 3``."""
    why = [WAITS[held.cause].word] if held.cause in WAITS else []
    if held.reason:
        why.append(held.reason)
    said = _held(held, now)
    return f"{said}: {', '.join(why)}" if why else said


def hold_words(login: str, state: FleetState, now: datetime) -> str:
    """The same of a login that is held now, or who tries first whether its limit has ended."""
    if trial := state.trials.get(login):
        return f"{account_words(login)} may be free again: loop {trial.loop} tries first"
    return held_words(state.held[login], now)


def _held(held: AccountHeld, now: datetime) -> str:
    until = f" until {day_and_clock(held.until, now)}" if held.until else ""
    stands = "at its limit" if held.cause in ("", "usage_limit") else "not served"
    return f"{account_words(held.account)} is {stands}{until}"


def queued_sentence(loop: LoopState, state: FleetState, now: datetime) -> str:
    """Why a loop of the queue does not run yet."""
    waits = "; ".join(_in_the_way(loop, state, now)) or "it waits for a place"
    return f"{waits}; {loop.reason}" if loop.reason else waits


def limited_sentence(loop: LoopState, state: FleetState, now: datetime) -> str:
    """What a loop at a limit waits for; empty where its own run knows it best."""
    login = loop.spec.login
    if held := state.held.get(login):
        trial = state.trials.get(login)
        if trial is None:
            return f"it waits: {_held(held, now)}"
        mine = trial.loop == loop.spec.id
        return "" if mine else f"it waits: {hold_words(login, state, now)}"
    released = state.released.get(login)
    told = loop.retried_at is not None and released is not None and loop.retried_at >= released
    if released is None or told or (loop.progressed_at or released) > released:
        return ""
    return f"it waits for its turn: loops on {account_words(login)} go on one after the other"


def _completed(state: FleetState, name: str) -> bool:
    """Of a loop, or (`name` is what several tries have in common) of one of its tries."""
    if state.tries(name):
        chosen = state.chosen.get(name)
        return chosen is not None and bool(chosen.loop)
    loop = state.loops.get(name)
    return loop is not None and loop.status == "ended" and loop.outcome == "completed"


def _in_the_way(loop: LoopState, state: FleetState, now: datetime) -> Iterator[str]:
    spec = loop.spec
    if state.paused is not None:
        yield "it waits until the fleet is unpaused"
    host = state.hosts.get(loop.host)
    if loop.resuming and host is not None and not host_with_tree(state, loop):
        until = clock(gone_at(state, host), seconds=True)
        yield f"it waits for {host_words(host.name)}, where its tree is, until {until}"
    if before := [name for name in spec.after if not _completed(state, name)]:
        yield f"it waits until {', '.join(before)} {'is' if len(before) == 1 else 'are'} completed"
    if held := state.held.get(spec.login):
        yield f"it waits: {_held(held, now)}"
    most = state.plan.accounts.get(spec.account) if spec.account else None
    if most is not None:
        used = sum(one.placed and one.spec.account == spec.account for one in state.loops.values())
        if used >= most and spec.login not in state.held:
            yield f"it waits for a place on {account_words(spec.account)}, {used} of {most} used"
