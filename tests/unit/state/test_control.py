"""Alarms in the screen's state."""

from ralph_tui import events as ev
from ralph_tui.state import RunState


def test_a_limit_that_has_changed_is_no_alarm_until_the_next_reading() -> None:
    state = RunState()
    for event in (
        ev.AlarmRaised(iteration=8, alarm="BUDGET_EXCEEDED", severity="warning", reason="8 of 8."),
        ev.AlarmRaised(iteration=8, alarm="STUCK", severity="warning", reason="No new best."),
        ev.LimitsChanged(max_iterations=10),
    ):
        state.apply(event)
    assert state.control.outgrown == {"BUDGET_EXCEEDED"}
    state.apply(ev.ReadingTaken(iteration=9, completion=40, source="tests"))
    assert not state.control.outgrown
    assert state.control.alarms.keys() == {"BUDGET_EXCEEDED", "STUCK"}
