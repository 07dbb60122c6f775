"""A completion command that passed before anything was done proves nothing. Pure."""

from ralph_tui.state import RunState

PASSES_ALREADY = "the completion command passes already: a promise and a change are needed"


def passes_already(state: RunState) -> bool:
    """Whether it did so before iteration 1, passes still, and has not ended the run."""
    gate, readings = state.gate.last, state.gate.readings
    measured = bool(readings) and readings[0].note == PASSES_ALREADY
    return measured and gate is not None and gate.ok and readings[-1].completion < 100
