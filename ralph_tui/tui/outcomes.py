"""What has come of a key whose wish was sent, as soon as the run has recorded it.

Each is given the state as it is when the key is pressed, and gives back what is to be asked of the
states that follow.
"""

from collections.abc import Callable

from ralph_tui.state import RunState
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line

Outcome = Callable[[RunState], str | None]
"""What has come of an action that was sent; None while nothing was recorded."""


def captured(state: RunState) -> Outcome:
    """A checkpoint: its number, or why it failed."""
    seen = state.seq

    def outcome(state: RunState) -> str | None:
        span = state.timeline.current
        new = [p for p in span.checkpoints if p.seq > seen and p.trigger == "key"] if span else []
        if not new:
            return None
        point = new[-1]
        if point.error:
            return f"checkpoint {point.number} failed: {one_line(point.error)}"
        return f"checkpoint {point.number} saved"

    return outcome


def granted(state: RunState) -> Outcome:
    """Iterations granted or taken back: how many there are now."""
    before = state.run.max_iterations

    def outcome(state: RunState) -> str | None:
        now = state.run.max_iterations
        return f"now {count(now, 'iteration')}" if now != before else None

    return outcome


def interrupted(state: RunState) -> Outcome:
    """The end of the turn."""
    began = state.agent.began

    def outcome(state: RunState) -> str | None:
        over = not state.run.session_running or state.agent.began != began
        return "the turn has ended; what it did is measured next" if over else None

    return outcome


def paused(state: RunState) -> Outcome:
    """Paused, or going on."""
    before = state.run.paused

    def outcome(state: RunState) -> str | None:
        if state.run.paused == before:
            return None
        return "the run goes on" if before else "the run is paused"

    return outcome
