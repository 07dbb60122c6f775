"""Wording for a fleet and its loops, shared by screen, status and printed lines. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from ralph_tui.fleet import events as ev
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.events.loops import AS_BEFORE, NO_WORK, best_words
from ralph_tui.fleet.events.whole import at_mark
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.plan import HERE, MAX_NAMED, account_words, host_words, join_names
from ralph_tui.fleet.state import FleetState, Lost, absent_until, host_with_tree
from ralph_tui.text.format import clock, count, duration, ending, money
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import (
    ENDLESS,
    LOOPS,
    PAUSING,
    RECORD_BROKEN,
    STAGES,
    THEN_PAUSES,
    in_words,
    outcome_word,
)


def hold_words(login: str, state: FleetState, now: datetime) -> str:
    """Describe an account on hold, or name the loop that probes it."""
    if trial := state.trials.get(login):
        return f"{account_words(login)} may be free again; loop {trial.loop} is trying first"
    return state.held[login].words(now)


def queued_sentence(loop: LoopState, state: FleetState, now: datetime) -> str:
    """Explain why a queued loop does not run yet."""
    waits = "; ".join(_queue_reasons(loop, state, now)) or "it is waiting for a slot"
    return f"{waits}; {loop.reason}" if loop.reason else waits


def limited_sentence(loop: LoopState, state: FleetState, now: datetime) -> str:
    """Explain what a loop at a limit waits for; empty if its own run's report says it better."""
    login = loop.spec.login
    if held := state.held.get(login):
        trial = state.trials.get(login)
        if trial is None:
            return f"it is waiting: {held.brief(now)}"
        mine = trial.loop == loop.spec.id
        return "" if mine else f"it is waiting: {hold_words(login, state, now)}"
    released = state.released.get(login)
    was_retried = (
        loop.retried_at is not None and released is not None and loop.retried_at >= released
    )
    if released is None or was_retried or (loop.progressed_at or released) > released:
        return ""
    return f"it is waiting for its turn: loops on {account_words(login)} continue one by one"


def _is_completed(state: FleetState, name: str) -> bool:
    """True if the loop, or one of the attempts with this common name, has completed."""
    if state.attempts(name):
        chosen = state.chosen.get(name)
        return chosen is not None and bool(chosen.loop)
    loop = state.loops.get(name)
    return loop is not None and loop.status == "ended" and loop.outcome == "completed"


def _queue_reasons(loop: LoopState, state: FleetState, now: datetime) -> Iterator[str]:
    spec = loop.spec
    if state.paused is not None:
        yield "it is waiting until the fleet is unpaused"
    host = state.hosts.get(loop.host)
    if loop.resuming and host is not None and not host_with_tree(state, loop):
        until = clock(absent_until(state, host), seconds=True)
        yield f"it is waiting for {host_words(host.name)}, where its clone is, until {until}"
    if before := [name for name in spec.after if not _is_completed(state, name)]:
        have = "has" if len(before) == 1 else "have"
        yield f"it is waiting until {', '.join(before)} {have} completed"
    if held := state.held.get(spec.login):
        yield f"it is waiting: {held.brief(now)}"
    most = state.plan.accounts.get(spec.account) if spec.account else None
    if most is not None:
        used = sum(one.placed and one.spec.account == spec.account for one in state.loops.values())
        if used >= most and spec.login not in state.held:
            account = account_words(spec.account)
            yield f"it is waiting for a slot on {account}, {used} of {most} used"


GONE = "the fleet's process is gone; ralph-tui fleet resume continues it"
LOST: Mapping[Lost, str] = {
    "died": GONE,
    "unheard": f"{RECORD_BROKEN}; ralph-tui fleet resume shows what to do",
}
_UNTIL: Mapping[Lost, str] = {
    "died": "the fleet's process ended",
    "unheard": "the fleet's record broke off",
}
"""How a lost fleet ended, worded for sentences about its loops."""
RETRY_HINT = "'ralph-tui fleet resume' tries to collect it again"
STARTS_OVER = "its clone was pruned: 'ralph-tui fleet resume' starts it over"
BEGINS_AGAIN = "'ralph-tui fleet resume' tries it again with the same settings"
COST_UNKNOWN = "cost unknown"
_WAITING = {"paused": "paused", "limited": "waiting"}
"""Words for phases without agent activity."""


def lost_words(lost: Lost) -> str:
    """Describe how the fleet was lost and what to do."""
    return f"{ENDLESS[lost].word}: {LOST[lost]}"


def fleet_sentence(state: FleetState, now: datetime, *, lost: Lost = "") -> str:
    """Summarize the fleet's status for the user."""
    if state.started is None:
        return "it is starting"
    if lost:
        return "; ".join((lost_words(lost), *_running_hosts(state)))
    if state.finished is not None:
        sentence_text = ending(state.finished.outcome, state.finished.reason)
        return f"{sentence_text}; {RETRY_HINT}" if _collects_again(state) else sentence_text
    return (
        "; ".join(_status_parts(state, now))
        or "all loops have ended; their work is being collected"
    )


def _collects_again(state: FleetState) -> bool:
    """True if a resume would collect work that could not be collected before."""
    was_aborted = state.stopping is not None and state.stopping.abort
    return not was_aborted and any(loop.may_be_collected for loop in state.loops.values())


def _running_hosts(state: FleetState) -> Iterator[str]:
    """Describe loops that may outlive the fleet's process until their lease ends."""
    away = [loop for loop in state.loops.values() if elsewhere(loop)]
    if away:
        hosts = join_names(list(dict.fromkeys(host_words(loop.host) for loop in away)))
        yield f"{name_loops(away)} may keep running on {hosts}, {_lease_text(state)}"


def elsewhere(loop: LoopState) -> bool:
    """True if, as far as is known, it runs on a host outside the fleet's process."""
    return loop.placed and loop.host != HERE


def _lease_text(state: FleetState) -> str:
    return f"for up to {duration(state.plan.lease_s)} after the fleet's end"


def _status_parts(state: FleetState, now: datetime) -> Iterator[str]:
    loops = state.loops.values()
    asking = [loop for loop in loops if _is_asking(loop)]
    if asking:
        waiting = "is waiting" if len(asking) == 1 else "are waiting"
        yield f"{name_loops(asking)} {waiting} for your answer"
    if state.stopping is not None:
        yield _stopping_text(state.stopping, held=bool(asking))
    elif state.paused is not None:
        yield "paused: no other loop starts until ralph-tui fleet unpause all"
    yield from (hold_words(login, state, now) for login in state.held)
    away = [loop for loop in loops if loop.status == "lost"]
    if away:
        lost_ones = {loop.host: loop.lost_until for loop in away}
        yield from (_away_text(host, until, now) for host, until in lost_ones.items())
    if state.reach.listen and not any(host.here for host in state.hosts.values()):
        worker = f"ralph-tui fleet worker {state.reach.listen} --tls FOLDER"
        yield f"no host has joined; start one with {worker}"
    yield from count_loops(state)
    if state.budget_percent and not state.stopping:
        used = f"the fleet has used {state.budget_percent} % of its budget"
        yield f"{used}: {at_mark(state.budget_percent)}"


def _stopping_text(asked: ev.StopAsked, *, held: bool) -> str:
    """Describe the stop; `held` means that an open question keeps an iteration from ending."""
    if asked.abort:
        return "it is being aborted"
    if asked.now:
        return "it is being stopped"
    how = "; answer first, or run ralph-tui fleet stop --now" if held else ""
    return f"it stops after the running iterations{how}"


def _away_text(host: str, until: datetime | None, now: datetime) -> str:
    left = f" for {duration((until - now).total_seconds())} more" if until and until > now else ""
    return f"no contact with {host_words(host)}: its loops may keep running{left}"


def count_loops(state: FleetState) -> Iterator[str]:
    """Count loops by state: ``3 loops running``, ``2 queued``, ``4 of 9 ended``.

    Loops that ask or whose host is lost are described elsewhere.
    """
    loops = list(state.loops.values())
    at_work = [loop for loop in loops if loop.status in ("running", "placing")]
    limited = sum(loop.limited for loop in at_work)
    asking = sum(_is_asking(loop) for loop in at_work)
    paused = sum(loop.phase == "paused" and not loop.question for loop in at_work)
    running = len(at_work) - limited - asking - paused
    queued = sum(loop.status == "queued" for loop in loops)
    over = sum(loop.over for loop in loops)
    if len(loops) == 1 and running + limited + queued > 0:
        waiting = "waiting at a limit" if limited else "waiting for a slot"
        yield f"the loop is {'running' if running else waiting}"
        return
    if running:
        yield f"{count(running, 'loop')} running"
    if limited:
        yield f"{limited} at a limit"
    if paused:
        yield f"{paused} paused"
    if queued:
        yield f"{queued} queued"
    if over and over < len(loops):
        yield f"{over} of {len(loops)} ended"


def decide_command(loop: str) -> str:
    """Return the command that shows a loop's question and answers it."""
    return f"ralph-tui fleet decide {loop}"


def answer_hint(loop: LoopState, *, lost: Lost = "") -> str:
    """Return how to answer a loop's question; empty if it waits for no answer."""
    return f"answer it: {decide_command(loop.spec.id)}" if _is_asking(loop) and not lost else ""


def _is_asking(loop: LoopState) -> bool:
    """True if an answer would reach it now; once its host is lost, the question may be over."""
    return loop.status == "running" and bool(loop.question)


def name_loops(loops: Iterable[LoopState]) -> str:
    """List loops, such as ``loop 3``, ``loops 3, 4`` or ``loops 3, 4, 5, 6 and 2 more``."""
    ids = [loop.spec.id for loop in loops]
    return f"loop{'s' * (len(ids) > 1)} {join_names(ids)}"


def loop_sentence(loop: LoopState, state: FleetState, now: datetime, *, lost: Lost = "") -> str:
    """Describe the status of a loop."""
    sentence_text = _loop_text(loop, state, now, lost=lost)
    was_aborted = state.stopping is not None and state.stopping.abort
    if was_aborted or not (lost == "died" or (state.finished is not None and not lost)):
        return sentence_text  # a resume is not the next step
    hint = STARTS_OVER if loop.starts_over else BEGINS_AGAIN if loop.may_begin_again else ""
    return f"{sentence_text}; {hint}" if hint else sentence_text


def _loop_text(loop: LoopState, state: FleetState, now: datetime, *, lost: Lost) -> str:
    if lost and loop.placed:
        if elsewhere(loop):
            return f"it may keep running on {host_words(loop.host)}, {_lease_text(state)}"
        return f"it was running when {_UNTIL[lost]}"
    match loop.status:
        case "queued":
            return _not_begun_text(loop, state, lost=lost) or queued_sentence(loop, state, now)
        case "placing":
            stage = f": {STAGES.get(loop.stage, in_words(loop.stage))}" if loop.stage else ""
            return f"it is starting on {host_words(loop.host)}{stage}"
        case "lost":
            return _away_text(loop.host, loop.lost_until, now)
        case "skipped":
            aborted = state.stopping is not None and state.stopping.abort
            over = aborted or loop.not_needed or state.finished is not None
            return f"it {'did' if over else 'will'} not run: {loop.reason}"
        case "ended":
            outcome = loop.outcome or "interrupted"
            stopped = loop.stop_reason if outcome == "interrupted" else ""
            return ending(outcome, stopped or loop.reason)
        case "running":
            waits = limited_sentence(loop, state, now) if loop.limited else ""
            if loop.pause_requested and not loop.question:
                return _pausing_text(loop, waits)
            return loop.question or waits or loop.verdict or in_words(loop.phase) or "it is running"


def _pausing_text(loop: LoopState, waits: str) -> str:
    """Describe a requested pause; a wait comes first, and its own verdict names the pause."""
    if loop.phase != "limited":
        return PAUSING
    return f"{waits}; {THEN_PAUSES}" if waits else loop.verdict or PAUSING


def _not_begun_text(loop: LoopState, state: FleetState, *, lost: Lost) -> str:
    """Describe a queued loop that will not get its turn; empty if it still may."""
    stopping = state.stopping is not None
    if not (lost or stopping or state.finished is not None):
        return ""
    begun = "continue" if loop.resuming else "begin"
    if stopping and state.finished is None and not lost:
        return f"it will not {begun}: the fleet is stopping"
    ended = _UNTIL[lost] if lost else "the fleet stopped"
    return f"it did not {begun} before {ended}"


def result_sentence(loop: LoopState, *, lost: Lost = "") -> str:
    """Describe the state of a loop's work; empty while there is no work.

    A `lost` fleet collects nothing.
    """
    if loop.not_collected:
        return f"its work could not be collected: {loop.not_collected}"
    if lost and loop.status == "ended" and loop.run_id and not loop.collected:
        return "its work has not been collected yet"
    if loop.collecting:
        return "its work is being collected"
    if not loop.commit:
        return ""
    best = f"; {best_words(loop.better, loop.record)}" if loop.better is not None else ""
    if not loop.branch:
        return f"{AS_BEFORE}{best}" if best else NO_WORK
    lines = loop.changed_lines
    changed = f", {count(lines, 'line')} changed" if lines is not None else ""
    work = f"branch {loop.branch} at {loop.commit[:9]}, {count(loop.files, 'file')}{changed}"
    return f"{work}{best}"


def kept_sentence(loop: LoopState) -> str:
    """Describe where the work of earlier attempts is; empty without any."""
    kept = [f"attempt {number} is kept as {branch}" for number, branch in loop.kept.items()]
    earlier = loop.earlier
    if earlier is not None and earlier.attempt < loop.attempt and not loop.collected:
        kept.append(f"attempt {earlier.attempt} is kept as {earlier.branch}")
    left = [
        f"the work of attempt {number} is only on {host_words(host)}, until that host is back"
        for number, host in loop.left.items()
    ]
    return "; ".join([*kept, *left])


def conflict_sentences(loop: LoopState) -> Iterator[str]:
    """Yield a sentence for each conflict of the loop's branch."""
    if loop.conflicts_unknown:
        yield f"cannot check for conflicts: {loop.conflicts_unknown}"
    shown = len(loop.conflicts) if len(loop.conflicts) <= MAX_NAMED else MAX_NAMED - 1
    for branch, files in list(loop.conflicts.items())[:shown]:
        yield (
            f"conflicts with {branch}: {', '.join(files)}" if files else f"conflicts with {branch}"
        )
    if more := len(loop.conflicts) - shown:
        yield f"conflicts with {more} more branches"


def state_word(loop: LoopState, *, lost: Lost = "") -> str:
    """Return a word for the loop's state."""
    if loop.status == "ended":
        return outcome_word(loop.outcome or "interrupted")
    if loop.placed and lost:
        return "lost" if elsewhere(loop) else ENDLESS[lost].word
    if loop.status == "running":
        running = "pausing" if loop.pause_requested else "running"
        return "asking" if loop.question else _WAITING.get(loop.phase, running)
    return LOOPS[loop.status].word


def cost_words(state: FleetState) -> str:
    """Return the reported cost of all loops, such as ``$1.20`` or ``cost unknown``."""
    loops = list(state.loops.values())
    if not any(loop.cost_reported for loop in loops):
        # Agents report a session's cost at its end, or never.
        begun = any(loop.began_at or loop.cost_missing for loop in loops)
        return COST_UNKNOWN if begun else money(0.0)
    least = "at least " if any(loop.cost_missing for loop in loops) else ""
    return f"{least}{money(state.spent_usd)}"


def spent_words(state: FleetState) -> str:
    """Return the cost with the budget, such as ``$1.20 of $5.00``."""
    spent, budget = cost_words(state), state.plan.budget_usd
    if budget is None:
        return spent
    return f"{spent}{', budget' if spent == COST_UNKNOWN else ' of'} {money(budget)}"


WIDTH = 600
"""Maximum length of a line, in characters; the journal has the full text."""


def fleet_line(event: FleetEvent, *, as_json: bool = False) -> str | None:
    """Return the line of an event with its local time; None for events that only a screen shows."""
    if as_json:
        return event.model_dump_json()
    line = event.line()
    return line and f"{clock(event.at, seconds=True)} {clip(one_line(line), WIDTH)}"
