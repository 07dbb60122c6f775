"""The state of a run in the fields of ``status.json``, which `status` prints."""

from datetime import datetime
from typing import cast

from ralph_tui.adapters.records.run_status import (
    ActedStatus,
    CheckpointStatus,
    ContextStatus,
    DetectedStatus,
    HandoffStatus,
    HealthStatus,
    ItemStatus,
    KnownStatus,
    ModelHelp,
    Question,
    RunStatus,
    StrategyStatus,
    ValidationStatus,
    WaitStatus,
)
from ralph_tui.adapters.records.runs import STATUS_VERSION
from ralph_tui.analysis.context import hands_off, level, thresholds
from ralph_tui.analysis.next_steps import promise_instead
from ralph_tui.analysis.verdict import verdict
from ralph_tui.layers.context.sizes import estimate
from ralph_tui.layers.context.window import calls_until, windows_fill
from ralph_tui.layers.control.advice import band_words
from ralph_tui.state import RunState
from ralph_tui.state.guidance import unsent_words
from ralph_tui.state.oversight import Intervention

ITERATIONS = 100
"""Maximum number of iterations in the history; the latest are kept."""


def context_status(state: RunState) -> ContextStatus:
    """Return the context part of ``status.json``, which `status` and `context` print."""
    context, limits = state.context, thresholds(state)
    checkpoint, uses = limits.checkpoint, context.history
    return {
        "percent": context.percent,
        "level": level(state),
        "level_reached": context.level,
        "tokens": context.tokens,
        "window": context.window,
        "tokens_left": context.tokens_left,
        "warn_percent": limits.warn,
        "checkpoint_percent": checkpoint,
        "stop_percent": limits.stop,
        "rollover": hands_off(state.run.started),
        "session_running": state.run.session_running,
        "calls": context.calls,
        "calls_left": calls_until(checkpoint, context.readings, context.window),
        "item": _item(state),
        "later": [_size_of(item, state) for item in context.item.later] if context.item else [],
        "taken": [
            {"size": size, "basis": basis, "points": points}
            for size, basis, points in state.plan_items.taken[state.plan_items.earlier :]
        ],
        "history": [
            {
                "iteration": use.iteration,
                "peak_percent": use.peak_percent,
                "checkpoint": use.checkpoint,
                "rollovers": use.rollovers,
                "compactions": use.compactions,
                "sessions": use.sessions,
            }
            for use in uses[-ITERATIONS:]
        ],
        "rollovers": sum(use.rollovers for use in uses),
        "compactions": sum(use.compactions for use in uses),
        "requested_by": context.requested_by,
        "rollover_under_way": context.rollover is not None,
        "handoff": _handoff(state),
        "windows_fill": windows_fill(uses, checkpoint),
    }


def _item(state: RunState) -> ItemStatus | None:
    item = state.context.item
    if item is None or not item.item:
        return None
    return {
        "text": item.item,
        "size": item.size,
        "low": item.low,
        "high": item.high,
        "basis": item.basis,
        "done": item.done,
        "total": item.total,
    }


def _size_of(item: str, state: RunState) -> ItemStatus:
    known = estimate(item, state.plan_items.taken)
    return {
        "text": item,
        "size": known.size,
        "low": known.low,
        "high": known.high,
        "basis": known.basis,
    }


def _handoff(state: RunState) -> HandoffStatus | None:
    if not state.context.handoffs:
        return None
    left = state.context.handoffs[-1]
    return {
        "iteration": left.iteration,
        "number": left.number,
        "path": left.read_at or left.path,
        "percent": left.percent,
    }


def summarize(
    state: RunState, now: datetime | None = None, silent_s: float | None = None
) -> RunStatus:
    """Return the state of a run in the form of its status file.

    The verdict is as of `now`, by default the time of the last event. `silent_s` is the number of
    seconds since that event, if the run is working.
    """
    run, control = state.run, state.control
    signal = control.latest
    started = run.started
    end = run.finished
    says = verdict(state, now or state.at, keys=None)
    return {
        "version": STATUS_VERSION,
        "seq": state.seq,
        "updated": _iso(state.at),
        "silent_s": None if silent_s is None else round(silent_s, 3),
        "run_id": started.run_id if started else None,
        "run": started.name if started and started.task else None,
        "objective": started.objective if started else "",
        "watched": started is not None and started.watched,
        "imported": started.imported if started else "",
        "command": started.command if started else None,
        "agent": state.roster.working or None,
        "stands_in": state.roster.explain_fallback(now or state.at) if end is None else "",
        "agent_failure": _agent_failure(state),
        "model": run.model,
        "requested_model": started.model if started else None,
        "permissions": started.permissions if started else None,
        "phase": run.phase,
        "outcome": end.outcome if end else ("failed" if run.crash else None),
        "reason": end.reason if end else (run.crash.error if run.crash else ""),
        "iteration": run.iteration,
        "max_iterations": run.max_iterations,
        "budget_usd": run.budget_usd,
        "budget_tokens": run.budget_tokens,
        "step": run.step,
        "step_name": run.step_name,
        "pause_requested": run.pause_requested,
        "paused": run.paused,
        "baseline": run.baseline,
        "completion": run.completion,
        "completions": run.completions,
        "source": run.source,
        "accepted": state.gate.accepted,
        "origin": state.gate.origin,
        "held": run.held,
        "stale": state.oversight.stale,
        "again": promise_instead(state),
        "passed": run.passed,
        "total": run.total,
        "best": run.best,
        "best_iteration": run.best_iteration,
        "best_snapshot": _best_snapshot(state),
        "output": signal.output if signal else None,
        "band": signal.band if signal else None,
        "push": band_words(signal.band) if signal else None,
        "verdict": says.text,
        "verdict_word": says.word,
        "verdict_glyph": says.glyph,
        "alarms": sorted(control.alarms),
        "health": state.oversight.status,
        "detections": _detections(state),
        "totals": cast("HealthStatus", state.oversight.totals.model_dump()),
        "intervention": _intervention(state),
        "interventions": len(_acted(state)),
        "strategy": _strategy(state),
        "validation": _validation(state),
        "knowledge": _knowledge(state),
        "tokens": run.tokens,
        "tokens_partial": run.tokens_partial,
        "cost_usd": run.cost_usd if run.cost_known else None,
        "cost_estimated": run.cost_estimated,
        "model_help": _model_help(state),
        "context_percent": state.context.percent,
        "context": context_status(state),
        "waiting": _waiting(state),
        "refused": _refused(state, now or state.at),
        "question": _question(state),
        "denied": state.needs.denials,
        "left_open": state.needs.left_open.text if state.needs.left_open else "",
        "guidance_queued": len(state.guidance.queued),
        "guidance_unsent": unsent_words(state.guidance.unsent) if end else "",
        "standing_instruction": state.intelligence.standing_instruction,
        "started": _iso(run.started_at),
        "away_s": run.away_s,
        "ended": _iso(run.ended_at),
        "checkpoint": _checkpoint(state),
        "last_output": _iso(run.last_output_at),
        "last_change": _iso(run.last_change_at),
        "last_gate": _iso(run.last_gate_at),
        "pid": started.pid if started else 0,
        "host": started.host if started else "",
    }


def _agent_failure(state: RunState) -> str:
    ended = state.agent.ended
    return ended.reason if ended is not None and ended.outcome in ("error", "crashed") else ""


def _model_help(state: RunState) -> ModelHelp | None:
    known = state.intelligence
    if not known.help_calls:
        return None
    return {
        "calls": known.help_calls,
        "failed": known.help_failed,
        "seconds": known.help_seconds,
        "cost_usd": known.help_cost_usd,
        "tokens": known.help_tokens,
    }


def _acted(state: RunState) -> list[Intervention]:
    """Return interventions beyond a warning."""
    return [made for made in state.oversight.interventions if made.level not in ("LOG", "WARN")]


def _intervention(state: RunState) -> ActedStatus | None:
    """Return the last intervention beyond a warning, and its effect."""
    acted = _acted(state)
    if not acted:
        return None
    made = acted[-1]
    effect = made.effect.points if made.effect else None
    return {
        "iteration": made.iteration,
        "level": made.level,
        "about": made.about,
        "reason": made.reason,
        "decision": made.decision,
        "points": effect,
    }


def _strategy(state: RunState) -> StrategyStatus | None:
    """Return the strategy of the latest iteration, or None."""
    planned = state.intelligence.strategies.get(state.run.iteration)
    if planned is None:
        return None
    fields = planned.model_dump(mode="json", exclude={"seq", "kind"})
    return cast("StrategyStatus", fields | {"adjustments": planned.adjustments})


def _detections(state: RunState) -> list[DetectedStatus]:
    """Return what the overseer's latest check detected."""
    found = state.oversight.checks[-1].detections if state.oversight.checks else []
    return [cast("DetectedStatus", one.model_dump()) for one in found]


def _validation(state: RunState) -> ValidationStatus | None:
    """Return the validation of the latest iteration; without findings, it is valid."""
    k, known = state.run.iteration, state.intelligence
    if k not in known.strategies:
        return None
    issues = known.issues(k)
    errors = [one.text for one in issues if one.is_error]
    warnings = [one.text for one in issues if not one.is_error]
    return {"valid": not errors, "errors": errors, "warnings": warnings}


def _knowledge(state: RunState) -> list[KnownStatus]:
    return [
        {
            "id": one.shown.learning_id,
            "type": one.shown.type,
            "text": one.shown.saying,
            "in_prompt": one.in_prompt,
        }
        for one in state.memory.current
    ]


def _refused(state: RunState, now: datetime) -> str:
    """Describe the trouble with a service while the agent is retrying; otherwise return ""."""
    trouble = state.service.trouble
    return trouble.words(now) if trouble else ""


def _waiting(state: RunState) -> WaitStatus | None:
    wait = state.needs.wait
    if wait is None:
        return None
    return {
        "cause": wait.cause,
        "until": _iso(wait.until),
        "since": _iso(wait.since),
        "reason": wait.reason,
    }


def _checkpoint(state: RunState) -> CheckpointStatus | None:
    last = state.timeline.last_checkpoint
    if last is None:
        return None
    return {
        "iteration": last.iteration,
        "trigger": last.trigger,
        "at": _iso(last.at),
        "session_s": last.duration_s,
        "snapshot": last.snapshot,
        "files": last.files,
        "modified": [*last.modified],
    }


def _question(state: RunState) -> Question | None:
    question = state.needs.question
    if question is None:
        return None
    return question.model_dump(mode="json", exclude={"seq", "at", "kind"})


def _best_snapshot(state: RunState) -> int | None:
    """Return the snapshot to roll back to, or None if no measurement has been accepted."""
    best = state.best_span
    return best.boundary.number if best and best.boundary else None


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
