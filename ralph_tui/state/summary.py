"""A run in a dozen fields: what ``status.json`` holds and `status` prints."""

from datetime import datetime
from typing import Any

from ralph_tui.state import RunState

STATUS_VERSION = 1


def summarize(state: RunState) -> dict[str, Any]:
    """The state as plain JSON values; completion in points, times ISO-8601 UTC."""
    run, control = state.run, state.control
    signal = control.latest
    started = run.started
    end = run.finished
    return {
        "version": STATUS_VERSION,
        "seq": state.seq,
        "updated": _iso(state.at),
        "run_id": started.run_id if started else None,
        "run": f"{started.task}/{started.attempt}" if started else None,
        "objective": started.objective if started else "",
        "command": started.command if started else None,
        "agent": started.agent if started else None,
        "model": run.model,
        "permissions": started.permissions if started else None,
        "phase": run.phase,
        "outcome": end.outcome if end else ("failed" if run.crash else None),
        "reason": end.reason if end else (run.crash.error if run.crash else ""),
        "iteration": run.iteration,
        "max_iterations": run.max_iterations,
        "step": run.step,
        "step_name": run.step_name,
        "pause_requested": run.pause_requested,
        "paused": run.paused,
        "baseline": run.baseline,
        "completion": run.completion,
        "completions": run.completions,
        "source": run.source,
        "held": run.held,
        "passed": run.passed,
        "total": run.total,
        "best": run.best,
        "best_iteration": run.best_iteration,
        "output": signal.output if signal else None,
        "band": signal.band if signal else None,
        "alarms": sorted(control.alarms),
        "tokens": run.tokens,
        "cost_usd": run.cost_usd if run.cost_known else None,
        "cost_estimated": run.cost_estimated,
        "context_percent": run.context_percent,
        "waiting": _waiting(state),
        "question": state.needs.question.text if state.needs.question else None,
        "denied": sum(state.needs.denied.values()),
        "guidance_queued": len(state.guidance.queued),
        "started": _iso(run.started_at),
        "ended": _iso(run.ended_at),
        "last_output": _iso(run.last_output_at),
        "last_change": _iso(run.last_change_at),
        "last_gate": _iso(run.last_gate_at),
        "pid": started.pid if started else 0,
        "host": started.host if started else "",
    }


def _waiting(state: RunState) -> dict[str, Any] | None:
    wait = state.needs.wait
    if wait is None:
        return None
    return {"cause": wait.cause, "until": _iso(wait.until), "reason": wait.reason}


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
