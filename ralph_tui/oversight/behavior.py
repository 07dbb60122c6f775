"""What the overseer detects in a reading: the conditions of Layer 1 under its own names."""

from dataclasses import dataclass
from typing import Literal

from ralph_tui.control import Alarm
from ralph_tui.events.control import AlarmName

DetectionName = Literal["stuck", "oscillating", "regressing", "budget"]

_NAMES: dict[AlarmName, DetectionName] = {
    "STUCK": "stuck",
    "OSCILLATING": "oscillating",
    "REGRESSING": "regressing",
    "BUDGET_EXCEEDED": "budget",
}


@dataclass(frozen=True)
class Detection:
    """One behaviour, with the sentence that is its evidence."""

    name: DetectionName
    reason: str


def name_of(alarm: AlarmName) -> DetectionName:
    """The overseer's name for a condition."""
    return _NAMES[alarm]


def detect(conditions: tuple[Alarm, ...]) -> tuple[Detection, ...]:
    """What shows in the conditions of one reading."""
    return tuple(Detection(_NAMES[found.alarm], found.reason) for found in conditions)
