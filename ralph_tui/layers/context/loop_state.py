"""Build the state file's fields from the state of a ralph-tui run.

The fields follow the format of other tools' loops. Fields added by other programs are left out.
"""

from collections.abc import Mapping
from typing import Any, Final

from ralph_tui.events.run import Outcome
from ralph_tui.layers.context.hashes import DIGITS, error_hash_of
from ralph_tui.layers.context.levels import LEVELS, whole
from ralph_tui.layers.context.state_file import LONGEST_HISTORY, UNKNOWN, Checkpoint, State, stamp
from ralph_tui.layers.context.state_file import FileInProgress as InProgress
from ralph_tui.layers.oversight import Oversight
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.state import RunState
from ralph_tui.text.sanitize import clip, one_line

PROMISE: Final = "COMPLETE"
DRIVER: Final = "ralph-tui"
ITEMS: Final = 500
"""Maximum number of plan items listed: the first open ones and the most recently completed."""
LONGEST: Final = 500
"""Maximum length of an item, in characters."""
_ENDED: Final[Mapping[Outcome, str]] = {
    "completed": "completed",
    "limit_reached": "limit_reached",
    "failed": "fatal_error",
    "aborted": "stopped",
    "interrupted": "stopped",
}
_KEPT_ERRORS: Final = 10


def fields_of(state: RunState, memory: Oversight, ended: Outcome | None = None) -> dict[str, Any]:
    """Return all fields except the plan's items; `ended` is the outcome of a run that is ending."""
    run, started = state.run, state.run.started
    objective = started.objective if started else ""
    snapshots = state.timeline.snapshots
    tree = snapshots[max(snapshots)].tree if snapshots else ""
    error = error_hash_of(memory.trail.error)
    fields: dict[str, Any] = {
        "driven_by": DRIVER,
        "run_id": started.run_id if started else "",
        "task_name": clip(one_line(objective), 60),
        "objective": objective,
        "iteration": run.iteration,
        "started_at": stamp(run.started_at) if run.started_at else "",
        "status": _status(state, ended),
        "no_change_count": memory.circuit.idle,
        "last_diff_hash": tree[:DIGITS],
        "error_hashes": [error] * min(memory.trail.errors, _KEPT_ERRORS) if error else [],
        "max_iterations": run.max_iterations,
        "completion_promise": PROMISE,
        "context_history": [
            {
                "iteration": use.iteration,
                "peak_percent": whole(use.peak_percent),
                "checkpoint": use.checkpoint,
            }
            for use in state.context.history[-LONGEST_HISTORY:]
            if use.peak_percent is not None
        ],
    }
    if (checkpoint := _checkpoint(state)) is not None:
        entry = checkpoint._asdict()
        entry["files_in_progress"] = [file._asdict() for file in checkpoint.files_in_progress]
        fields["context_checkpoint"] = entry
    if state.context.window:
        fields["context_window"] = state.context.window
    return fields


def items_of(plan: Progress | None) -> dict[str, list[str]]:
    """Return the plan's items as its file lists them; empty without a plan."""
    if plan is None:
        return {}
    items = [(clip(" ".join(text.split()), LONGEST), done) for text, done in plan.items]
    return {
        "todo_items": [text for text, done in items if not done][:ITEMS],
        "completed_items": [text for text, done in items if done][-ITEMS:],
    }


def merge(there: State, before: Mapping[str, Any], now: Mapping[str, Any]) -> State:
    """Return the file's fields with ours from `now`; `before` has the fields we wrote last.

    Additions by other programs are kept: fields, parts of the checkpoint, plan items, and the
    history of iterations that are not ours.
    """
    state = there | dict(now)
    if isinstance(there.get("context_checkpoint"), dict) and "context_checkpoint" in now:
        state["context_checkpoint"] = there["context_checkpoint"] | now["context_checkpoint"]
    if there.get("run_id") != now["run_id"]:
        return state  # another loop's file: its items and history are not this run's
    for name in ("todo_items", "completed_items"):
        if name in now:
            known = [*before.get(name, now[name]), *now["todo_items"], *now["completed_items"]]
            state[name] = [*now[name], *(item for item in there[name] if item not in known)]
    ours = {entry["iteration"] for entry in now["context_history"]}
    others = [entry for entry in there["context_history"] if entry["iteration"] not in ours]
    state["context_history"] = [*others, *now["context_history"]][-LONGEST_HISTORY:]
    return state


def _status(state: RunState, ended: Outcome | None) -> str:
    if ended is None:
        return "running"
    made = [one for one in state.oversight.interventions if one.level in ("PAUSE", "ABORT")]
    stopped = ended in ("aborted", "interrupted")
    if stopped and any(one.about == "circuit" for one in made[-2:]):
        return "circuit_breaker"  # the abort that follows a PAUSE is recorded after it
    return _ENDED[ended]


def _checkpoint(state: RunState) -> Checkpoint | None:
    """Return the last handoff as a checkpoint, active until a session has taken over."""
    context = state.context
    if not context.handoffs:
        return None
    handoff = context.handoffs[-1]
    return Checkpoint(
        level=handoff.level or (handoff.cause if handoff.cause in LEVELS else "L2"),
        percent_at_checkpoint=whole(handoff.percent or 0.0),
        timestamp=stamp(handoff.at),
        handoff_file=handoff.read_at,
        resume_summary=handoff.summary,
        files_in_progress=tuple(InProgress(**dict(file)) for file in handoff.files),
        current_todo_item=handoff.item,
        progress_on_item=handoff.progress or UNKNOWN,
        active=context.handoff is not None,
    )
