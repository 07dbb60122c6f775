"""When a session stops, decide whether the loop is done, out of context, or may continue.

The checks have a fixed order: the promise of completion, a context checkpoint, a fatal error, the
limit of iterations, the circuit breaker. If none applies, the loop continues.

Inside Claude Code, the loop continues by keeping the session from stopping. Each time counts as an
iteration, so the limit and the circuit breaker still end the loop.

Only a fresh session has an empty window. After a checkpoint this session stops, even if the user
writes to it. An outer loop or the user starts the next one, and the state stays as it is until
then.

An outer loop (``RALPH_LOOP=shell``, or a call without a session) gets exit code 0 to stop and 1 to
continue.
"""

import re
from typing import NamedTuple

from ralph_tui.base.errors import RalphError
from ralph_tui.hooks.program import record
from ralph_tui.hooks.program.call import Call, Session, load_sessions
from ralph_tui.hooks.program.evidence import gather
from ralph_tui.hooks.program.handoff import complete_handoff, hand_off, last_handoff, update_prompt
from ralph_tui.hooks.program.transcript import Activity
from ralph_tui.hooks.program.watch import has_handed_off, new_entries, update_level
from ralph_tui.hooks.program.words import (
    PROMPT,
    clean,
    continue_prompt,
    fresh_session_text,
    has_section,
    redact_text,
)
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
"""Service errors that a retry does not fix."""
WAYS = {
    "circuit_breaker": "solve the problem that it is stuck on",
    "limit_reached": "raise `max_iterations`",
    "fatal_error": "repair that",
}
"""What the user must do to continue an ended loop, by its status."""
ASKED_FIELD = "hook_asked"
"""Field of the state file: the last session that an outer loop asked about, and its progress."""


_TAGGED = re.compile(r"^[ \t]*<promise>([^<]*)</promise>[ \t]*\r?$", re.MULTILINE)


class Ending(NamedTuple):
    """Why the loop ends."""

    status: str
    """Status for the state file."""
    outcome: str
    """Outcome for the run's journal."""
    reason: str
    """One sentence."""


def stop(call: Call) -> None:
    """Decide whether the loop continues, and act on it."""
    outer = not call.hook_input.is_session
    if outer:
        call.session_id = next(reversed(load_sessions(call.state)), "")
    if has_ended(call.state):
        return
    activity = new_entries(call)
    full = None
    promise = call.state["completion_promise"]
    if (
        not outer
        and not _has_promise(_words(call, activity), promise)
        and _has_handed_off(call, activity)
    ):
        return
    if not outer:
        full = update_level(call, activity)
    elif _is_decided(call, activity):
        return
    record.begin_iteration(call)
    words = _words(call, activity)
    if words.strip():
        call.record("agent_spoke", text=redact_text(words[-2000:]))
    promised = _has_promise(words, promise)
    left = call.session is not None and call.session.left
    if not promised and not left and full is not None and full.level != "L1":
        hand_off(call, "L2", full.percent)  # it stops anyway, so it only has to hand off
        call.answer.model = ""
    if promised:
        _finish(call, Ending("completed", "completed", "The session made its promise."))
        return
    circuit = _update_circuit(call)
    call.state = with_circuit(call.state, circuit)
    checkpoint = checkpoint_of(call.state)
    if checkpoint is not None and not _is_beyond_limit(call):
        complete_handoff(call)
        call.answer.code = 1 if call.outer_loop else 0
        if not call.outer_loop:
            percent, handoff = checkpoint.percent_at_checkpoint, checkpoint.handoff_file
            call.answer.user.append(fresh_session_text(percent, handoff))
        return
    ending = _find_ending(call, activity, circuit)
    if ending is not None:
        _finish(call, ending)
        return
    _continue_loop(call)


def _words(call: Call, activity: Activity) -> str:
    """Return the session's last message; empty if an outer loop has already asked about it."""
    new = call.hook_input.is_session or (call.session is not None and not call.session.over)
    return call.hook_input.last_words or (activity.words if new else "")


def _has_handed_off(call: Call, activity: Activity) -> bool:
    """True if the session has handed off, so that a later message does not continue the loop.

    False for an outer loop that continues with the same session, so that its iterations count.
    """
    session = call.session
    if (
        session is None
        or not has_handed_off(call, activity)
        or (call.outer_loop and session.left > 1)
    ):
        return False
    if not session.over:
        update_level(call, activity)
        record.end_session(call, "rolled_over")
        _mark_over(call)
    call.session = (call.session or session)._replace(left=session.left + 1)
    call.answer.code = 1 if call.outer_loop else 0
    if not call.outer_loop:
        call.answer.user.append(fresh_session_text(*last_handoff(call)))
    return True


def _is_decided(call: Call, activity: Activity) -> bool:
    """True if the session's own Stop hook has already decided whether the outer loop continues.

    If the outer loop asks again without a hook call in between, the iteration did nothing and
    counts.
    """
    session = call.session
    if session is not None and not session.over:
        return False
    if _is_beyond_limit(call):
        return False
    asked = f"{call.session_id} {session.seen if session else ''}"
    if activity.api_error in FATAL or call.state.get(ASKED_FIELD) == asked:
        return False
    call.state = call.state | {ASKED_FIELD: asked}
    call.answer.code = 1
    return True


def _is_beyond_limit(call: Call) -> bool:
    """True if a checkpoint began this iteration although the limit had been reached.

    With too small a window, sessions could otherwise hand off forever.
    """
    return bool(call.iteration > call.state["max_iterations"])


def _find_ending(call: Call, activity: Activity, circuit: Circuit) -> Ending | None:
    """Return why the loop ends without being complete; None if it continues."""
    if activity.api_error in FATAL:
        kind = clean(activity.api_error)
        return Ending(
            "fatal_error", "failed", f"The service refuses requests ({kind}); resolve that first."
        )
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
    record.end_session(call, "error" if ending.status == "fatal_error" else "success")
    record.end_iteration(call, "completed" if done else "incomplete")
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
    _mark_over(call)
    way = WAYS.get(ending.status, "")
    way = f" To continue, {way} and set `status` to running in {call.held.path}." if way else ""
    call.answer.user.append(f"ralph-tui: {ending.reason}{way}")


def _continue_loop(call: Call) -> None:
    """Begin another iteration, in this session or in a fresh one of the outer loop."""
    record.end_session(call, "success")
    record.end_iteration(call, "incomplete")
    _mark_over(call)
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
        # Iterations that cannot be counted would continue forever.
        call.answer.warn(f"{refused}, so the session stops")
        return
    call.answer.reason = redact_text(continue_prompt(call.state, clean(call.item())))


def _mark_over(call: Call) -> None:
    session = call.session
    if session is not None:
        call.session = session._replace(over=True)


def _update_circuit(call: Call) -> Circuit:
    """Return the circuit breaker after this iteration; each error counts in one iteration."""
    session = call.session or Session()
    return circuit_of(call.state).after(gather(call.root).state, session.error_hash)


def _has_promise(words: str, promise: str) -> bool:
    """True if the promise is made: in tags on its own line, or as the whole last line."""
    wanted = " ".join(promise.split())
    if not wanted:
        return False
    tagged = _TAGGED.findall(words)
    last = words.strip().rpartition("\n")[2]
    return wanted in [" ".join(text.split()) for text in (*tagged, last)]
