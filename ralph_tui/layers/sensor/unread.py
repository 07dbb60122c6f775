"""Fallback measurements if the sensor fails: keep the last value, or use the exit code."""

from collections.abc import Sequence
from dataclasses import replace

from ralph_tui.layers.sensor.gate import GateResult
from ralph_tui.layers.sensor.passing import CompletedBy, completes
from ralph_tui.layers.sensor.reading import Reading, SensorState
from ralph_tui.layers.sensor.sensor import UNPROVEN


def unread(
    state: SensorState,
    iteration: int,
    gate: GateResult | None,
    *,
    promise: bool = False,
    changed: Sequence[str] = (),
    by: CompletedBy = "command",
) -> Reading:
    """Return the fallback measurement.

    `state` is the sensor's state before it failed; the other parameters are those of `Sensor.read`.
    """
    promised = promise and (state.changed or bool(changed))
    earned = completes(by, green=state.green, promised=promised)
    held = Reading(
        iteration,
        min(UNPROVEN, max(0.0, state.value)),
        state.source or ("tests" if gate is not None else "estimate"),
        held=True,
        open_items=state.still_open,
        next_item=state.next_item,
        note="could not be read, last value kept",
        expected=state.most or None,
        broken=state.broken,
    )
    if gate is None or not gate.ok or not earned or not iteration:
        return held
    return replace(
        held,
        completion=100.0,
        held=False,
        note="the completion command passed, by its exit code alone",
    )


def sound(reading: Reading) -> Reading:
    """Return `reading`; raise ``TypeError`` or ``ValueError`` if it cannot be recorded."""
    if not isinstance(reading, Reading):
        raise TypeError(f"expected a reading, not a {type(reading).__name__}")
    reading.event()
    if not 0 <= reading.completion <= 100:
        raise ValueError(f"a reading of {reading.completion} points")
    if not all(isinstance(text, str) for text in reading.warnings):
        raise TypeError("a warning must be text")
    return reading
