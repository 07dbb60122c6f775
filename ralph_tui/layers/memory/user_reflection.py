"""A reflection written by the user; only its observation comes from measurements."""

from ralph_tui.events import Event, ReflectionWritten
from ralph_tui.state import RunState
from ralph_tui.text.format import percent
from ralph_tui.text.terms import OUTCOMES


def user_reflection(state: RunState, text: str) -> ReflectionWritten:
    """Build the user's reflection on the current attempt, without an analysis."""
    started = state.run.started
    number = started.attempt if started else ""
    return ReflectionWritten(
        attempt=int(number) if number.isdecimal() else 0,
        observation=_observed(state),
        analysis="",
        learning=text,
        triggered_by="manual",
        reflection_type="process-improvement",
    )


def is_afterthought(event: Event) -> bool:
    """True if the event may follow the end of a run even though nothing ran in between."""
    return isinstance(event, ReflectionWritten) and event.triggered_by == "manual"


def _observed(state: RunState) -> str:
    run = state.run
    reached = "" if run.completion is None else f" at {percent(run.completion, run.best)}"
    if run.finished is not None:
        ended = OUTCOMES[run.finished.outcome].word
        return (
            f"It ended{reached} ({ended}) after {run.iteration} of {run.max_iterations} iterations."
        )
    if run.crash is not None:
        return f"A bug ended it{reached} in iteration {run.iteration}."
    return f"It was{reached} in iteration {run.iteration} of {run.max_iterations}."
