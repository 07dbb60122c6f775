"""The guard: a layer's exception costs its advice; a run's end and expected errors pass."""

import pytest

from ralph_tui.base.errors import RalphError
from ralph_tui.events import Event, Noticed
from ralph_tui.loop.guard import LONGEST, LONGEST_TRACEBACK, Guard, guarded
from ralph_tui.loop.step import Step, guards
from ralph_tui.loop.waiting.ends import Ended
from tests.world.world import World


def broken() -> int:
    raise ZeroDivisionError("of a layer")


def test_what_a_layer_gives_is_taken_and_nothing_is_recorded() -> None:
    events: list[Event] = []
    assert guarded(events.append, "control", lambda: 1, lambda: 2, instead="-") == 1
    assert not events


def test_a_layer_that_raises_is_replaced_and_recorded_with_its_traceback() -> None:
    events: list[Event] = []
    assert guarded(events.append, "control", broken, lambda: 2, instead="default gains") == 2
    (reported,) = events
    assert isinstance(reported, Noticed)
    assert (reported.level, reported.source) == ("error", "control")
    assert reported.text == "control failed (ZeroDivisionError: of a layer); default gains"
    assert "Traceback" in reported.detail
    assert "in broken" in reported.detail


@pytest.mark.parametrize("passing", [Ended("aborted", "by you"), RalphError("no git")])
def test_ends_and_expected_errors_pass(passing: Exception) -> None:
    def raises() -> int:
        raise passing

    events: list[Event] = []
    with pytest.raises(type(passing)):
        guarded(events.append, "control", raises, lambda: 2, instead="-")
    assert not events


def test_a_step_can_be_done_without_and_what_it_had_recorded_stays() -> None:
    class Layer(Step):
        @guards("memory", instead="nothing is learned")
        def learn(self, k: int) -> None:
            self.record(Noticed(source="memory", text=f"iteration {k}"))
            broken()

    world = World([])
    world.host.record = world.record
    Layer(world.loop.iteration.run).learn(3)
    first, second = world.all(Noticed)
    assert first.text == "iteration 3"
    assert second.text.endswith("nothing is learned")


def test_a_long_failure_is_told_shortly_and_without_control_characters() -> None:
    def raises() -> int:
        raise ValueError("\x1b[31mlong\n" * 200_000)

    guard = Guard()
    assert guard.attempt("sensor", raises, lambda: 0, instead="held") == 0
    (reported,) = guard.take()
    assert isinstance(reported, Noticed)
    assert guard.take() == []
    assert len(reported.text) < LONGEST + 100
    assert "\n" not in reported.text
    assert "\x1b" not in reported.text
    assert len(reported.detail) <= LONGEST_TRACEBACK
