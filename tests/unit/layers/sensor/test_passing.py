"""Criteria that complete a run: how a record says that the command passed before any work."""

import pytest

from ralph_tui.events.sensor import ReadingTaken
from ralph_tui.layers.sensor.passing import passed_before
from ralph_tui.state import RunState


@pytest.mark.parametrize(
    ("note", "passed"),
    [
        ("the completion command already passes", True),
        ("the completion command passes already", True),
        ("the completion command passes already: a promise and a change are needed", True),
        ("nothing to read yet", False),
    ],
)
def test_the_first_measurement_says_that_the_command_passed(note: str, *, passed: bool) -> None:
    state = RunState()
    state.gate.readings.append(
        ReadingTaken(iteration=0, completion=0, source="estimate", note=note)
    )

    assert passed_before(state) is passed
