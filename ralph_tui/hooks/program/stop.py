"""When a session stops: is the task done, is the window full, may the loop go on?

The order is fixed: the promise of completion, a context checkpoint, an error that will not pass,
the limit of iterations, the circuit breaker; else it goes on. Inside Claude Code "go on" keeps the
session from stopping; each time is one more iteration, so limit and circuit breaker end it. Only a
fresh session has an empty window: after a checkpoint this one stops, however often it is spoken to,
and an outer loop or its user starts the next one, for which all stays as it was left. An outer loop
(``RALPH_LOOP=shell``, or a call without a session) gets exit code 0 for "stop" and 1 for "go on".
"""

import re
from typing import NamedTuple

from ralph_tui.base.errors import RalphError
from ralph_tui.hooks.program import record
from ralph_tui.hooks.program.call import Call, sessions_of
from ralph_tui.hooks.program.evidence import gather
from ralph_tui.hooks.program.rollover import left_in, roll_over, settle, update_prompt
from ralph_tui.hooks.program.transcript import Heard
from ralph_tui.hooks.program.watch import has_left, heard_by, take_in
from ralph_tui.hooks.program.words import PROMPT, clean, fresh_session, go_on, has_section, redacted
from ralph_tui.layers.context.hashes import error_hash_of
from ralph_tui.layers.context.state_file import (
    Circuit,
    checkpoint_of,
    circuit_of,
    has_ended,
    with_circuit,
    without_checkpoint,
)

FATAL = frozenset(
    {"authentication_failed", "billing_error", "invalid_request", "oauth_org_not_allowed"}
)
"""Refusals of the service that trying again does not mend."""
FURTHER = 3
"""Iterations beyond the limit that sessions may take which end at a checkpoint: one after the other
could do so for ever, where the window is told too small.
"""
WAYS = {
    "circuit_breaker": "change what it is stuck at",
    "limit_reached": "raise `max_iterations`",
    "fatal_error": "repair that",
}
"""What brings a loop on that is over by a status."""
ASKED = "hook_asked"
"""Of the state file: the session that an outer loop asked about last, and how far it was."""


_TAGGED = re.compile(r"^[ \t]*<promise>([^<]*)</promise>[ \t]*\r?$", re.MULTILINE)


class Ending(NamedTuple):
    """Why the loop is over."""

    status: str
    """Of the state file."""
    outcome: str
    """Of the run, in its journal."""
    reason: str
    """One sentence."""


def stop(call: Call) -> None:
    """Decide, and do what follows from it."""
    outer = not call.given.of_session
    if outer:
        call.session_id = next(reversed(sessions_of(call.state)), "")
    if has_ended(call.state):
        return
    heard = heard_by(call)
    full = None
    promise = call.state["completion_promise"]
    if not outer and not _promises(_words(call, heard), promise) and _stays(call, heard):
        return
    if not outer:
        full = take_in(call, heard)
    elif _was_decided(call, heard):
        return
    record.iteration_begins(call)
    words = _words(call, heard)
    if words.strip():
        call.record("agent_spoke", text=redacted(words[-2000:]))
    promised = _promises(words, promise)
    left = call.session is not None and call.session.left
    if not promised and not left and full is not None and full.level != "L1":
        roll_over(call, "L2", full.percent)  # it stops anyway: what is left is to hand over
        call.answer.model = ""
    if promised:
        _finish(call, Ending("completed", "completed", "The session made its promise."))
        return
    circuit = _circuit(call, heard)
    call.state = with_circuit(call.state, circuit)
    checkpoint = checkpoint_of(call.state)
    if checkpoint is not None and not _used_up(call):
        settle(call)
        call.answer.code = 1 if call.outer_loop else 0
        if not call.outer_loop:
            percent, handoff = checkpoint.percent_at_checkpoint, checkpoint.handoff_file
            call.answer.user.append(fresh_session(percent, handoff))
        return
    ending = _ending(call, heard, circuit)
    if ending is not None:
        _finish(call, ending)
        return
    _go_on(call)


def _words(call: Call, heard: Heard) -> str:
    """The last ones of the session; none of one that an outer loop has asked about already."""
    new = call.given.of_session or (call.session is not None and not call.session.over)
    return call.given.last_words or (heard.words if new else "")


def _stays(call: Call, heard: Heard) -> bool:
    """The session has handed over, and was spoken to again: what it left is for the next one.

    False for an outer loop that goes on with the same session: so its iterations are counted.
    """
    session = call.session
    if session is None or not has_left(call, heard) or (call.outer_loop and session.left > 1):
        return False
    if not session.over:
        take_in(call, heard)
        record.session_ends(call, "rolled_over")
        _over(call)
    call.session = (call.session or session)._replace(left=session.left + 1)
    call.answer.code = 1 if call.outer_loop else 0
    if not call.outer_loop:
        call.answer.user.append(fresh_session(*left_in(call)))
    return True


def _was_decided(call: Call, heard: Heard) -> bool:
    """Whether an outer loop only asks what its session has decided when it stopped.

    Asked again although no hook was called meanwhile, an iteration has come to nothing: it counts.
    """
    session = call.session
    if session is not None and not session.over:
        return False
    if _used_up(call):
        return False
    asked = f"{call.session_id} {session.seen if session else ''}"
    if heard.api_error in FATAL or call.state.get(ASKED) == asked:
        return False
    call.state = call.state | {ASKED: asked}
    call.answer.code = 1
    return True


def _used_up(call: Call) -> bool:
    """Whether even what checkpoints may take beyond the limit is used."""
    return bool(call.iteration > call.state["max_iterations"] + FURTHER)


def _ending(call: Call, heard: Heard, circuit: Circuit) -> Ending | None:
    """Why the loop is over without being done; None: it goes on."""
    if heard.api_error in FATAL:
        kind = clean(heard.api_error)
        return Ending("fatal_error", "failed", f"The service refuses ({kind}): see to it first.")
    limit = call.state["max_iterations"]
    if call.iteration >= limit:
        return Ending("limit_reached", "limit_reached", f"All {limit} iterations are used.")
    if circuit.tripped:
        return Ending("circuit_breaker", "failed", f"The loop is stuck: {circuit.tripped}.")
    return None


def _finish(call: Call, ending: Ending) -> None:
    done = ending.status == "completed"
    progress = call.progress()
    reached = 100.0 * progress.done / progress.total if progress else 0.0
    reached = 100.0 if done else reached
    if done:
        call.record("promise_made")
    record.session_ends(call, "error" if ending.status == "fatal_error" else "success")
    record.iteration_ends(call, "completed" if done else "incomplete")
    call.events.append(
        {
            "kind": "run_finished",
            "outcome": ending.outcome,
            "reason": ending.reason,
            "iterations": call.iteration,
            "completion": reached,
            "best": reached,
            "best_iteration": call.iteration,
            "duration_s": record.seconds_since(call, call.state["started_at"]),
        }
    )
    call.state = without_checkpoint(call.state) | {"status": ending.status}
    _over(call)
    way = WAYS.get(ending.status, "")
    way = f" To go on, {way} and set `status` to running in {call.held.path}." if way else ""
    call.answer.user.append(f"ralph-tui: {ending.reason}{way}")


def _go_on(call: Call) -> None:
    """One more iteration: in this session, or in a fresh one of the outer loop."""
    record.session_ends(call, "success")
    record.iteration_ends(call, "incomplete")
    _over(call)
    call.state = call.state | {"iteration": call.iteration + 1, "status": "running"}
    left = call.session is not None and call.session.left
    if not left and has_section(call.root / PROMPT):
        update_prompt(call, None)
    if call.outer_loop:
        call.answer.code = 1
        return
    try:
        call.held.save()
    except RalphError as refused:
        # What cannot be counted would go on for ever.
        call.answer.warn(f"{refused}; so the session stops")
        return
    call.answer.reason = redacted(go_on(call.state, clean(call.item())))


def _over(call: Call) -> None:
    session = call.session
    if session is not None:
        call.session = session._replace(over=True)


def _circuit(call: Call, heard: Heard) -> Circuit:
    """The breaker after this iteration."""
    evidence = gather(call.root)
    return circuit_of(call.state).after(evidence.state, error_hash_of(_error(heard)))


def _error(heard: Heard) -> str:
    """What failed last and was not done right afterwards with the same tool."""
    standing: dict[str, str] = {}
    for made in heard.calls:
        standing.pop(made.tool, None)
        if made.ok is False:
            standing[made.tool] = made.result
    return next(reversed(standing.values()), "")


def _promises(words: str, promise: str) -> bool:
    """Whether it is said: in tags alone on a line, or alone on the last; else it is spoken of."""
    wanted = " ".join(promise.split())
    if not wanted:
        return False
    tagged = _TAGGED.findall(words)
    last = words.strip().rpartition("\n")[2]
    return wanted in [" ".join(said.split()) for said in (*tagged, last)]
