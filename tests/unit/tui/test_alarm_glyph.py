"""An alarm on the screen."""

from typing import Literal

from ralph_tui.events import AlarmRaised, IterationStarted
from ralph_tui.state import RunState
from tests.rows import each_row


@each_row(("severity", "glyph"), [("warning", "▲"), ("critical", "◆")])
def test_an_alarm_has_the_glyph_of_its_severity_everywhere(
    severity: Literal["warning", "critical"], glyph: str
) -> None:
    """The same alarm is only a warning where completion is an estimate."""
    state = RunState()
    events = [
        IterationStarted(iteration=1, max_iterations=10),
        AlarmRaised(iteration=1, alarm="OSCILLATING", severity=severity, reason="up and down"),
    ]
    for seq, event in enumerate(events, 1):
        state.apply(event.model_copy(update={"seq": seq}))
    shown = (state.control.marks[-1].glyph, state.log.rows[-1].glyph)
    assert shown == (glyph, glyph)
