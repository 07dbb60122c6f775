"""A run's working time, whatever happens to the wall clock."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.state import RunState
from tests.rows import each_row
from tests.world.world import World

START = datetime(2026, 11, 23, 12, tzinfo=UTC)


@each_row("jump_s", [7200.0, -3600.0])
def test_a_clock_that_is_set_lengthens_no_run(jump_s: float) -> None:
    world = World([2, 4, 6], max_iterations=2)
    for event in world.steps():
        world.host.clock.seconds += 1
        if isinstance(event, ev.IterationStarted):
            world.host.clock.began += timedelta(seconds=jump_s)
    worked = world.host.clock.seconds

    assert world.end.duration_s == pytest.approx(worked, abs=3)
    assert world.state.run.worked_s(world.state.at) == world.end.duration_s
    assert sum(one.duration_s for one in world.all(ev.IterationFinished)) <= worked


def state_of(*moments: tuple[float, object]) -> RunState:
    """Events, each with the seconds after the start at which it was recorded."""
    state = RunState()
    world = World([2])
    timed = [(0.0, world.loop.start), *moments]
    for seq, (seconds, event) in enumerate(timed, 1):
        at = START + timedelta(seconds=seconds)
        state.apply(event.model_copy(update={"seq": seq, "at": at}))  # type: ignore[attr-defined]
    return state


def test_across_a_resume_jumps_of_the_clock_are_left_out() -> None:
    first = ev.IterationStarted(iteration=1, max_iterations=9)
    finished = ev.IterationFinished(iteration=1, status="incomplete", completion=2, worked_s=100)
    second = ev.IterationStarted(iteration=2, max_iterations=9)
    third = ev.IterationStarted(iteration=3, max_iterations=9)
    jumped = (9000.0, third)  # the process died after that
    state = state_of(
        (1, first), (100, finished), (110, second), jumped, (9100, ev.RunResumed(away_s=100))
    )

    assert state.run.worked_s(state.at) == 110
    state.apply(third.model_copy(update={"at": START + timedelta(seconds=9150)}))
    assert state.run.worked_s(state.at) == 160


def test_the_end_of_an_older_journal_counts_as_it_did() -> None:
    end = ev.RunFinished(
        outcome="limit_reached", reason="", iterations=1, completion=2, duration_s=4000
    )
    state = state_of((4000, end), (5000, ev.RunResumed(away_s=1000)))

    assert state.run.worked_s(state.at) == 4000


@given(worked=st.integers(1, 9_000), gap=st.integers(0, 90_000), rest=st.integers(0, 90_000))
def test_a_restore_between_an_end_and_a_resume_adds_no_work(
    worked: int, gap: int, rest: int
) -> None:
    end = ev.RunFinished(
        outcome="interrupted", reason="", iterations=1, completion=2, duration_s=worked
    )
    restored = ev.WorktreeRestored(iteration=1, snapshot=1, present=2, tree="t")
    resumed = ev.RunResumed(away_s=rest)
    state = state_of((worked, end), (worked + gap, restored), (worked + gap + rest, resumed))
    assert state.run.worked_s(state.at) == worked
