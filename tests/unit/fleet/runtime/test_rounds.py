"""When a fleet's engine asks for the next decision."""

import pytest

from ralph_tui.fleet.runtime.core import LOOK_S, REST_FACTOR, Rounds


class Clock:
    """A clock that the test advances."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_it_is_asked_at_once_then_every_second_and_when_something_has_changed() -> None:
    clock = Clock()
    rounds = Rounds(clock)
    assert rounds.due_in() == 0
    rounds.end(0.0)
    assert rounds.due_in() == LOOK_S
    clock.now += LOOK_S
    assert rounds.due_in() == 0
    rounds.end(0.0)
    rounds.change()
    assert rounds.due_in() == 0


def test_what_takes_long_rests_long_but_never_longer_than_until_the_next_look() -> None:
    clock = Clock()
    rounds = Rounds(clock)
    rounds.end(0.002)
    rounds.change()
    assert rounds.due_in() == pytest.approx(0.002 * REST_FACTOR)
    clock.now += 0.002 * REST_FACTOR
    assert rounds.due_in() == pytest.approx(0)
    rounds.end(3.0)
    rounds.change()
    assert rounds.due_in() == LOOK_S
