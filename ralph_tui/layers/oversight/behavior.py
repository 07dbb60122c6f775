"""What the overseer looks at, and what it detects: Layer 1's conditions under its own names."""

from dataclasses import dataclass

from ralph_tui.events.control import AlarmName
from ralph_tui.events.oversight import Concern, DetectionName
from ralph_tui.layers.control import Alarm

_NAMES: dict[AlarmName, DetectionName] = {
    "STUCK": "stuck",
    "OSCILLATING": "oscillating",
    "REGRESSING": "regressing",
    "BUDGET_EXCEEDED": "budget",
}
_SEVERITIES: dict[DetectionName, Concern] = {
    "stuck": "high",
    "oscillating": "critical",
    "regressing": "critical",
    "objective_deviation": "medium",
    "resource_burn": "high",
    "budget": "high",
    "circuit": "high",
}


@dataclass(frozen=True)
class Evidence:
    """What an iteration did, beside its reading. Nothing of it is believed, only looked at."""

    objective: str = ""
    changed: tuple[str, ...] = ()
    """Paths the session changed."""
    failing: tuple[str, ...] = ()
    """Names of failing tests."""
    words: str = ""
    """The agent's report and the plan item it works on."""
    actions: int = 0
    """Tool calls of this iteration, and what is derived for an agent that tells of none."""
    error: str = ""
    """Why the session failed, as told; empty when it did not, or when it changed files."""
    cut: str = ""
    """Why the session was stopped, where it reached a limit of its own."""
    conflicts: tuple[str, ...] = ()
    """Paths with unresolved git conflicts."""
    unmeasured: int = 0
    """Readings in a row in which what had measured the work said nothing."""
    silence: str = ""
    """Why it said nothing."""
    unchanged: bool = False
    """It is known that no file was changed."""
    output: str = ""
    """A fingerprint of what the completion command said; empty without one."""


@dataclass(frozen=True)
class Detection:
    """One behaviour, with the sentence that is its evidence."""

    name: DetectionName
    reason: str

    @property
    def severity(self) -> Concern:
        """How serious it is (epic 26, Layer 4)."""
        return _SEVERITIES[self.name]


def name_of(alarm: AlarmName) -> DetectionName:
    """The overseer's name for a condition."""
    return _NAMES[alarm]


def detect(
    conditions: tuple[Alarm, ...], deviation: str | None, burn: str | None, circuit: str
) -> tuple[Detection, ...]:
    """All that shows: the conditions of one reading, and the sentences of what else does."""
    found = [Detection(_NAMES[condition.alarm], condition.reason) for condition in conditions]
    if deviation:
        found.append(Detection("objective_deviation", deviation))
    if burn:
        found.append(Detection("resource_burn", burn))
    if circuit:
        found.append(Detection("circuit", circuit))
    return tuple(found)
