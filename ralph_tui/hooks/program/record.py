"""Record the hooks' observations as events of a run's journal, without any decisions."""

import re
from datetime import datetime
from pathlib import Path

from ralph_tui import __version__
from ralph_tui.base.errors import RalphError
from ralph_tui.hooks.program.call import Call, Session, load_sessions
from ralph_tui.hooks.program.store import Fields, append, has_begun, loop_folder
from ralph_tui.hooks.program.transcript import Activity
from ralph_tui.hooks.program.words import clean, describe_input, identifier, redact_text
from ralph_tui.layers.context.hashes import error_hash_of
from ralph_tui.layers.context.state_file import stamp
from ralph_tui.text.json_fields import as_map

FIELD = "hook_journal"
"""Field of the state file: the journal's name and its current iteration."""
RECENT = 64
"""Maximum number of tool-call ids to remember."""

_NAME = re.compile(r"[0-9TZ]{1,20}-[0-9a-z]{0,8}")


def update_session(call: Call, activity: Activity) -> Session:
    """Record everything since the last call, and update the session's memory."""
    session = _begin(call, activity)
    tokens = sum(used for message, used in activity.messages if message != session.message)
    for compaction in activity.compactions:
        call.record(
            "context_compacted",
            before=compaction.before,
            after=compaction.after,
            trigger=clean(compaction.trigger),
        )
    calls, errors, session = _record_tools(call, session, activity)
    session = session._replace(
        seen=max(session.seen, activity.last_at),
        message=activity.messages[-1][0] if activity.messages else session.message,
        tokens=session.tokens + tokens,
        calls=session.calls + calls,
        errors=session.errors + errors,
        over=False,
        transcript=str(call.hook_input.transcript or session.transcript),
    )
    call.session = session
    return session


def begin_iteration(call: Call) -> bool:
    """Begin the iteration if the journal does not have it yet; return True if so."""
    if not call.state["started_at"]:
        call.state = call.state | {"started_at": stamp(call.now)}
    if not call.events and not has_begun(journal_folder(call)):
        call.state = call.state | {FIELD: _journal_fields(call) | {"iteration": 0}}
    if _journal_fields(call).get("iteration") == call.iteration:
        return False
    call.state = call.state | {FIELD: _journal_fields(call) | {"iteration": call.iteration}}
    call.record("iteration_started", max_iterations=call.state["max_iterations"])
    return True


def record_usage(call: Call, activity: Activity, window: int | None) -> None:
    """Record the current token usage."""
    session = call.session
    if session is not None and activity.tokens is not None:
        call.record(
            "usage_reported",
            tokens=session.tokens,
            context_tokens=activity.tokens,
            context_window=window,
        )


def end_session(call: Call, outcome: str, reason: str = "") -> None:
    """Record the end of the session, or of its part in this iteration."""
    session = call.session or Session(over=True)
    if session.over:
        return  # already recorded
    call.record(
        "session_finished",
        outcome=outcome,
        reason=reason,
        duration_s=seconds_since(call, session.began),
        tokens=session.tokens,
        tool_calls=session.calls,
        tool_errors=session.errors,
    )


def end_iteration(call: Call, status: str) -> None:
    """Record the end of this iteration."""
    progress = call.progress()
    completion = 0.0
    if progress is not None:
        completion = 100.0 * progress.done / progress.total
        call.record(
            "reading_taken",
            completion=min(99.9, completion),
            source="plan",
            passed=progress.done,
            total=progress.total,
            next_item=clean(progress.item),
        )
    session = call.session
    if session is None or session.over:
        session = Session()
    call.record(
        "iteration_finished",
        status=status,
        duration_s=seconds_since(call, session.began),
        completion=100.0 if status == "completed" else completion,
        tokens=session.tokens,
        tool_calls=session.calls,
        tool_errors=session.errors,
    )


def seconds_since(call: Call, moment: str) -> float:
    """Return the seconds since a moment, such as a session's first hook; 0 if it is invalid."""
    try:
        return max(0.0, (call.now - datetime.fromisoformat(moment)).total_seconds())
    except (ValueError, TypeError):
        return 0.0


def flush(call: Call) -> None:
    """Write the queued events; report and drop those that cannot be written."""
    if not call.events:
        return
    where = journal_folder(call)
    if not has_begun(where):
        call.events.insert(0, _start_fields(call))
    try:
        append(where, call.events, call.now)
    except RalphError as refused:
        call.answer.problems.append(str(refused))
    call.events.clear()


def journal_folder(call: Call) -> Path:
    """Return the journal's folder."""
    return loop_folder(call.root, _folder_name(call))


def _begin(call: Call, activity: Activity) -> Session:
    """Return the session; begin run, iteration and session if they are new."""
    new = begin_iteration(call)
    session = call.session
    known = session is not None and session.iteration == call.iteration and not new
    if session is not None and known and not session.over:
        return session
    _leave_others(call)
    began = (session or Session())._replace(
        iteration=call.iteration,
        began=stamp(call.now),
        done=len(call.state["completed_items"]),
        tokens=0,
        calls=0,
        errors=0,
        over=False,
        transcript="",
        failed_tool="",
        error_hash="",
    )
    call.session = began
    call.record("session_started", session_id=identifier(call.session_id), agent="claude")
    call.record(
        "session_described",
        model=identifier(activity.model) or None,
        permission_mode=clean(call.hook_input.permission_mode) or None,
        version=identifier(activity.version) or None,
    )
    return began


def _start_fields(call: Call) -> Fields:
    state = call.state
    promise = redact_text(state["completion_promise"])
    return {
        "kind": "run_started",
        "program_version": __version__,
        "run_id": _folder_name(call),
        "root": clean(str(call.root), 4096),
        "objective": redact_text(state["objective"]),
        "criterion": f"the session says <promise>{promise}</promise>",
        "mode": "headless",
        "watched": True,
        "agent": "claude",
        "permissions": clean(call.hook_input.permission_mode) or "unknown",
        "max_iterations": state["max_iterations"],
        "session_timeout_s": 0.0,
    }


def _leave_others(call: Call) -> None:
    """End other sessions of this iteration, which ended silently or are still running."""
    for name, other in load_sessions(call.state).items():
        if name != call.session_id and other.iteration == call.iteration and not other.over:
            mine, call.session_id = call.session_id, name
            end_session(call, "interrupted", "Another session took over without its Stop hook.")
            call.session = other._replace(over=True)
            call.session_id = mine


def _record_tools(call: Call, session: Session, activity: Activity) -> tuple[int, int, Session]:
    """Record new tool calls; return their number, the number that failed, and the session."""
    hook_input, recent = call.hook_input, session.recent.split()
    calls = errors = 0
    finished = [
        (made.tool_id, made.tool, made.input, made.result, made.ok, 0.0)
        for made in activity.calls
        if made.ok is not None and made.tool_id != hook_input.tool_id
    ]
    if hook_input.tool and not hook_input.agent_id:
        of_call = (hook_input.tool_id, hook_input.tool, hook_input.tool_input, hook_input.error)
        finished.append((*of_call, not hook_input.error, hook_input.duration_s))
    for known_as, tool, tool_input, result, ok, took in finished:
        tool_id = identifier(known_as)
        if tool_id in recent:
            continue
        recent.append(tool_id)
        calls, errors = calls + 1, errors + (not ok)
        if not ok:
            session = session._replace(failed_tool=tool, error_hash=error_hash_of(result))
        elif tool == session.failed_tool:
            session = session._replace(failed_tool="", error_hash="")
        what, failure = (
            describe_input(tool_input, str(call.root)),
            clean(result.strip().partition("\n")[0]),
        )
        call.record("tool_started", tool_id=tool_id, tool=clean(tool), summary=what)
        call.record("tool_finished", tool_id=tool_id, ok=ok, summary=failure, duration_s=took)
    return calls, errors, session._replace(recent=" ".join(recent[-RECENT:]))


def _journal_fields(call: Call) -> dict[str, object]:
    return dict(as_map(call.state.get(FIELD)))


def _folder_name(call: Call) -> str:
    """Return the current loop's folder name; for a new loop, derive it from its first session."""
    began = re.sub(r"[^0-9TZ]", "", call.state["started_at"])[:20] or "0"
    known = _journal_fields(call).get("name")
    if isinstance(known, str) and _NAME.fullmatch(known) and known.partition("-")[0] == began:
        return known
    first = re.sub(r"[^0-9a-z]", "", call.session_id.lower())[:8]
    call.state = call.state | {FIELD: {"name": f"{began}-{first}", "iteration": 0}}
    return f"{began}-{first}"
