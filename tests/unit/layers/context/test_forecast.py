"""Forecast of the tool calls left in a window: leaps, compactions, and unknown cases."""

from itertools import accumulate

from hypothesis import assume, given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.layers.context.window import (
    FURTHEST,
    STEPS,
    calls_until,
    forecast_words,
    growth_per_call,
)
from ralph_tui.state import RunState

WINDOW = 200_000
GROWTH = st.integers(1, 20_000)
READINGS = st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 2_000_000)), max_size=20)


def climbing(first: int, *steps: int) -> list[tuple[int, int]]:
    """One call for each step."""
    return list(enumerate(accumulate(steps, initial=first)))


def test_growth_as_ever_is_told_exactly() -> None:
    assert calls_until(85, climbing(50_000, *[10_000] * 4), WINDOW) == 8
    assert calls_until(85, climbing(50_000, *[9_999] * 4), WINDOW) == 9


def test_one_large_file_tells_little_of_the_next_call() -> None:
    leap = climbing(20_000, 60_000, *[5_000] * 6)
    assert calls_until(85, leap, WINDOW) == 12


def test_what_was_before_a_compaction_does_not_count() -> None:
    before, after = climbing(100_000, *[30_000] * 3), climbing(40_000, *[5_000] * 4)
    assert calls_until(85, [*before, *after], WINDOW) == calls_until(85, after, WINDOW) == 22


def test_several_calls_of_one_message_share_its_growth() -> None:
    together = [(0, 50_000), (4, 90_000), (8, 130_000), (10, 150_000)]
    assert growth_per_call(together) == 10_000


def test_nothing_is_said_too_early_too_far_ahead_or_too_late() -> None:
    assert calls_until(85, climbing(50_000, *[10_000] * (STEPS - 1)), WINDOW) is None
    assert calls_until(85, climbing(50_000, *[0] * 9), WINDOW) is None
    assert calls_until(85, climbing(50_000, *[1] * 9), WINDOW) is None
    assert calls_until(85, climbing(169_000, *[1_000] * 4), WINDOW) is None
    assert calls_until(85, climbing(50_000, *[10_000] * 4), None) is None
    assert calls_until(85, [], WINDOW) is None


def test_it_is_worded_as_no_more_than_it_is() -> None:
    assert forecast_words(85.0, 12) == "85 % in about 12 tool calls"
    assert forecast_words(85.0, 1) == "85 % in about 1 tool call"
    assert forecast_words(82.5, 137) == "82.5 % in about 140 tool calls"
    assert forecast_words(85.0, None) == ""


@given(READINGS, st.floats(1, 100), st.one_of(st.none(), st.integers(0, 2_000_000)))
def test_any_readings_give_a_number_in_reach_or_none(
    readings: list[tuple[int, int]], percent: float, window: int | None
) -> None:
    calls = calls_until(percent, readings, window)
    assert calls is None or 1 <= calls <= FURTHEST


@given(st.lists(GROWTH, min_size=STEPS, max_size=15), st.integers(0, 14), st.integers(1, 10**6))
def test_no_single_leap_brings_the_end_nearer_than_the_other_calls_do(
    steps: list[int], at: int, leap: int
) -> None:
    calm = growth_per_call(climbing(0, *steps))
    steps.insert(min(at, len(steps)), leap)
    leapt = growth_per_call(climbing(0, *steps))
    assert calm is not None
    assert leapt is not None
    assert min(steps) <= leapt <= max(calm, *sorted(steps)[:-1])


@given(st.lists(GROWTH, min_size=STEPS, max_size=15))
def test_the_higher_the_mark_the_more_calls_it_takes(steps: list[int]) -> None:
    readings = climbing(0, *steps)
    sooner, later = calls_until(85, readings, 10**6), calls_until(95, readings, 10**6)
    assume(sooner is not None and later is not None)
    assert sooner is not None
    assert later is not None
    assert sooner <= later


def test_the_fold_reads_it_off_the_events_of_a_session() -> None:
    state = RunState()
    state.apply(ev.IterationStarted(iteration=1, max_iterations=5))
    state.apply(ev.SessionStarted(iteration=1, session_id="s", agent="fake"))
    state.apply(ev.UsageReported(iteration=1, context_tokens=20_000, context_window=WINDOW))
    for n in range(1, 6):
        state.apply(ev.ToolStarted(iteration=1, tool_id=f"t{n}", tool="Read"))
        # A subagent has its own window.
        state.apply(ev.ToolStarted(iteration=1, tool_id=f"s{n}", tool="Read", parent=f"t{n}"))
        for more in (0, 9_000):  # a message is reported twice
            state.apply(ev.UsageReported(iteration=1, context_tokens=11_000 + 9_000 * n + more))
    assert calls_until(85, state.context.readings, state.context.window) == 12
    state.apply(ev.ContextCompacted(iteration=1, before=65_000, after=30_000))
    assert calls_until(85, state.context.readings, state.context.window) is None
    assert state.context.history[-1].filled == 1
