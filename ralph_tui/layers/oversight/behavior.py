"""The overseer's evidence and detections, including Layer 1's conditions under its own names."""

from dataclasses import dataclass

from ralph_tui.events.control import AlarmName
from ralph_tui.events.oversight import Concern, DetectionName
from ralph_tui.layers.control.alarms import Alarm

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
    """Facts and claims about an iteration besides its measurement; claims are not trusted."""

    objective: str = ""
    changed: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    failed_before: tuple[str, ...] = ()
    """Tests that failed before the iteration."""
    output_words: str = ""
    """The end of the completion command's output, before and after the iteration."""
    items: tuple[str, ...] = ()
    """Open items of the plan."""
    words: str = ""
    """Text of the agent's report."""
    actions: int = 0
    """Tool calls of this iteration, plus derived actions for agents that report none."""
    error: str = ""
    """Why the session failed, as reported; empty if it did not fail or if it changed files."""
    cut: str = ""
    """The session limit that stopped the session, in words; empty if none did."""
    invalid: tuple[tuple[str, str], ...] = ()
    """Errors that validation found, each with its name and a sentence."""
    conflicts: tuple[str, ...] = ()
    """Paths with unresolved git conflicts."""
    unmeasured: int = 0
    """Number of measurements in a row with no value from the tests or plan that had given one."""
    silence: str = ""
    """Why nothing was measured."""
    unchanged: bool = False
    """True only if it is certain that no file changed."""
    output: str = ""
    """A fingerprint of the completion command's result; empty if there is none."""


@dataclass(frozen=True)
class Detection:
    """One behaviour, with a sentence of evidence."""

    name: DetectionName
    reason: str

    @property
    def severity(self) -> Concern:
        """The severity of the behaviour."""
        return _SEVERITIES[self.name]


def name_of(alarm: AlarmName) -> DetectionName:
    """Return the overseer's name for a condition."""
    return _NAMES[alarm]


def detect(
    conditions: tuple[Alarm, ...], deviation: str | None, burn: str | None, circuit: str
) -> tuple[Detection, ...]:
    """Combine all detections: the conditions of one measurement and any other findings."""
    found = [Detection(_NAMES[condition.alarm], condition.reason) for condition in conditions]
    if deviation:
        found.append(Detection("objective_deviation", deviation))
    if burn:
        found.append(Detection("resource_burn", burn))
    if circuit:
        found.append(Detection("circuit", circuit))
    return tuple(found)
