"""The guard: what a layer raises costs its advice; the run's end and expected errors pass."""

import pytest

from ralph_tui.errors import RalphError
from ralph_tui.events import Event, Noticed
from ralph_tui.loop.guard import LONGEST, LONGEST_TRACEBACK, Guard, guarded, guarded_steps, guards
from ralph_tui.loop.waiting.controls import Ended, Steps


def broken() -> int:
    raise ZeroDivisionError("of a layer")


def drain(steps: Steps[int]) -> tuple[list[Event], int]:
    events: list[Event] = []
    while True:
        try:
            events.append(next(steps))
        except StopIteration as end:
            return events, end.value


def test_what_a_layer_gives_is_taken_and_nothing_is_told() -> None:
    assert drain(guarded("control", lambda: 1, lambda: 2, instead="-")) == ([], 1)


def test_a_layer_that_raises_is_replaced_and_told_with_its_traceback() -> None:
    events, given = drain(guarded("control", broken, lambda: 2, instead="default gains"))
    assert given == 2
    (told,) = events
    assert isinstance(told, Noticed)
    assert (told.level, told.source) == ("error", "control")
    assert told.text == "control failed (ZeroDivisionError: of a layer); default gains"
    assert "Traceback" in told.detail
    assert "in broken" in told.detail


def test_what_takes_waits_keeps_what_it_had_told() -> None:
    said = Noticed(source="x", text="begun")

    def steps() -> Steps[int]:
        yield said
        return broken()

    events, given = drain(guarded_steps("memory", steps, lambda: 2, instead="-"))
    assert given == 2
    assert events[0] is said
    assert len(events) == 2


@pytest.mark.parametrize("passing", [Ended("aborted", "by you"), RalphError("no git")])
def test_ends_and_expected_errors_pass(passing: Exception) -> None:
    def raises() -> int:
        raise passing

    def steps() -> Steps[int]:
        yield from ()
        raise passing

    with pytest.raises(type(passing)):
        drain(guarded("control", raises, lambda: 2, instead="-"))
    with pytest.raises(type(passing)):
        drain(guarded_steps("control", steps, lambda: 2, instead="-"))


def test_a_step_can_be_done_without() -> None:
    class Layer:
        @guards("memory", instead="nothing is learned")
        def learn(self, k: int) -> Steps[None]:
            yield Noticed(source="memory", text=f"iteration {k}")
            broken()

    first, second = list(Layer().learn(3))
    assert isinstance(first, Noticed)
    assert first.text == "iteration 3"
    assert isinstance(second, Noticed)
    assert second.text.endswith("nothing is learned")


def test_a_long_failure_is_told_shortly_and_without_control_characters() -> None:
    def raises() -> int:
        raise ValueError("\x1b[31mlong\n" * 200_000)

    guard = Guard()
    assert guard.attempt("sensor", raises, lambda: 0, instead="held") == 0
    (told,) = guard.take()
    assert guard.take() == []
    assert len(told.text) < LONGEST + 100
    assert "\n" not in told.text
    assert "\x1b" not in told.text
    assert len(told.detail) <= LONGEST_TRACEBACK
