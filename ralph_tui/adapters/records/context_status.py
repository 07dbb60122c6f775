"""The context window in ``status.json``: what `status` and `context` tell of it."""

from ralph_tui.adapters.records.run_status import ContextStatus, HandoffStatus, ItemStatus
from ralph_tui.analysis.context import level, rolls_over, thresholds
from ralph_tui.layers.context.sizes import estimate
from ralph_tui.layers.context.window import calls_until, windows_fill
from ralph_tui.state import RunState

ITERATIONS = 100
"""Of the history, the last ones."""


def context_status(state: RunState) -> ContextStatus:
    """As the status file has it."""
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
        "rollover": rolls_over(state.run.started),
        "session_running": state.run.session_running,
        "calls": context.calls,
        "calls_left": calls_until(checkpoint, context.readings, context.window),
        "item": _item(state),
        "later": [_size_of(item, state) for item in context.item.later] if context.item else [],
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
    """The plan's first open item; None without one."""
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
    """The last one."""
    if not state.context.handoffs:
        return None
    left = state.context.handoffs[-1]
    return {
        "iteration": left.iteration,
        "number": left.number,
        "path": left.read_at or left.path,
        "percent": left.percent,
    }
