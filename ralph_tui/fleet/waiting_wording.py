"""For what loops wait that could work: a place, their login, others before them. Pure."""

from collections.abc import Iterator
from datetime import datetime

from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.lost_hosts import gone_at, host_with_tree
from ralph_tui.fleet.plan import account_words, host_words
from ralph_tui.fleet.state import FleetState
from ralph_tui.text.format import clock


def hold_words(login: str, state: FleetState, now: datetime) -> str:
    """Of a login that is held now, or who tries first whether its limit has ended."""
    if trial := state.trials.get(login):
        return f"{account_words(login)} may be free again: loop {trial.loop} tries first"
    return state.held[login].words(now)


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
            return f"it waits: {held.stands(now)}"
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
        yield f"it waits: {held.stands(now)}"
    most = state.plan.accounts.get(spec.account) if spec.account else None
    if most is not None:
        used = sum(one.placed and one.spec.account == spec.account for one in state.loops.values())
        if used >= most and spec.login not in state.held:
            yield f"it waits for a place on {account_words(spec.account)}, {used} of {most} used"
