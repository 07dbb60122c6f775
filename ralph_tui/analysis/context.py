"""The fill level of the context window, judged by the run's own settings.

Rule: the thresholds are those the run was started with; the level comes from its events.
"""

from datetime import datetime, timedelta

from ralph_tui.events import HandoffWritten, RunStarted
from ralph_tui.events.context import MAX_ROLLOVERS, Cause
from ralph_tui.layers.context.levels import DEFAULT, Level, Thresholds, level_of
from ralph_tui.layers.context.window import calls_until, forecast_words
from ralph_tui.state import ContextUse, IterationSpan, RunState
from ralph_tui.text.format import clock, duration, filled

CAUSES: dict[Cause, str] = {
    "L2": "the window was nearly full",
    "L3": "the window was full",
    "item": "the next item would not fit",
    "asked": "requested",
    "forecast": "the window would soon have been full",
}
"""Why a session handed off, in a few words."""
LONGEST_WAIT_S = 86_400.0


def thresholds(state: RunState) -> Thresholds:
    """Return this run's thresholds, with defaults for those missing from its record."""
    return thresholds_of(state.run.started)


def thresholds_of(started: RunStarted | None) -> Thresholds:
    """Return the thresholds a run was started with, or the defaults."""
    usual = DEFAULT._asdict()
    return Thresholds(*(_number(started, f"context.{k}_percent", usual[k]) for k in usual))


def _number(started: RunStarted | None, name: str, usual: float) -> float:
    value = started.config.get(name) if started is not None else None
    of_use = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if of_use else usual  # type: ignore[arg-type]


def hands_off(started: RunStarted | None) -> bool:
    """Return True if the run's sessions hand off automatically."""
    return started is None or started.config.get("context.rollover") is not False


def level(state: RunState) -> Level | None:
    """Return the current fill level of the window; None if unknown.

    The session may have reached a higher level before the agent compacted its context.
    """
    percent = state.context.percent
    return None if percent is None else level_of(percent, thresholds(state))


def use_of(state: RunState, span: IterationSpan) -> ContextUse | None:
    """Return the context use of an iteration; None for the baseline."""
    spans, history = state.timeline.spans, state.context.history
    at = next((index for index, other in enumerate(spans) if other is span), -1)
    place = at - (len(spans) - len(history))
    return history[place] if 0 <= place < len(history) and at >= 0 else None


def handoffs_of(state: RunState, span: IterationSpan | None) -> list[HandoffWritten]:
    """Return the handoffs between sessions of an iteration, oldest first."""
    number = span.number if span is not None else 0
    return [handoff for handoff in state.context.handoffs if handoff.iteration == number]


def forecast(state: RunState) -> str:
    """Return when this session will hand off: ``85 % in about 12 tool calls``; empty if unknown."""
    context, (_, checkpoint, _) = state.context, thresholds(state)
    if not state.run.session_running:
        return ""
    calls = calls_until(checkpoint, context.readings, context.window)
    return forecast_words(checkpoint, calls)


def why_handing_off(state: RunState) -> str:
    """Return why the running session is handing off, or has done so; empty if neither."""
    context, run = state.context, state.run
    if context.rollover is not None:
        return context.rollover.reason or CAUSES[context.rollover.cause]
    use = context.use
    if not run.session_running or (use is not None and use.rollovers >= MAX_ROLLOVERS):
        return ""
    if context.requested_by:
        return f"requested by {context.requested_by}"
    level_reached = context.level
    percent = state.context.percent
    if not hands_off(run.started) or level_reached not in ("L2", "L3") or percent is None:
        return ""
    return f"the context is {filled(percent)} full"


def ends_by(state: RunState) -> datetime | None:
    """Return the latest time at which a session that is handing off ends; None if unknown."""
    context = state.context
    if context.rollover is not None or context.due_at is None or context.level == "L3":
        return None
    return context.due_at + timedelta(seconds=_tool_wait_s(state))


def _tool_wait_s(state: RunState) -> float:
    return min(LONGEST_WAIT_S, max(0.0, _number(state.run.started, "context.tool_wait_s", 60.0)))


def handing_off_words(state: RunState) -> str:
    """Describe the handoff: ``the context is 86 % full; the running tool may take until 10:42:17``.

    Empty without a handoff.
    """
    why = why_handing_off(state)
    if not why:
        return ""
    if state.context.rollover is not None:
        return f"{why}; a fresh session continues from its handoff"
    until, context = ends_by(state), state.context
    # At L2 the agent may finish the message it has just begun, even if no tool is running.
    if until is None or not (context.running or context.level == "L2"):
        return f"{why}; the session ends now"
    what = "the running tool" if context.running else "its current message"
    return f"{why}; {what} may take until {clock(until, seconds=True)}"


def handoff_request_words(state: RunState) -> str:
    """Describe the context and the running tool before a handoff that the user requests."""
    share = state.context.percent
    full = "Its context usage is unknown" if share is None else (
        f"Its context is {filled(share)} full"
    )  # fmt: skip
    wait = _tool_wait_s(state) if state.context.running else 0
    return full + (f"; the running tool has {duration(wait)} to finish." if wait else ".")
