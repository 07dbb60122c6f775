"""Replay time: even, with shortened and labelled silences, half a minute for any run."""

import pytest

from ralph_tui.runtime.sources.replay import LONGEST_GAP_S, TOP_SPEED, WHOLE_S, ReplayTime
from tests.rows import each_row


def test_a_short_silence_is_as_long_as_it_was_and_a_long_one_is_shortened() -> None:
    film = ReplayTime([100.0, 101.5, 1301.5, 1302.0])
    assert [film.of(n) for n in (1, 2, 3, 4)] == [0.0, 1.5, 1.5 + LONGEST_GAP_S, 4.0]


def test_the_clock_runs_through_a_wait_and_never_jumps() -> None:
    film = ReplayTime([100.0, 101.5, 1301.5, 1302.0])
    shown = [film.clock(2, LONGEST_GAP_S * step / 4) for step in range(5)]
    assert shown == [101.5, 401.5, 701.5, 1001.5, 1301.5]
    assert film.clock(2, 99.0) == 1301.5, "no further than the next event"
    assert [film.wait(n) for n in (1, 2, 3, 4)] == [0.0, 1200.0, 0.0, 0.0]


@each_row(("events", "gap"), [(3_000, 11.0), (100_000, 0.32), (100_000, 0.04), (40, 810.0)])
def test_a_run_of_any_length_takes_half_a_minute_at_most(events: int, gap: float) -> None:
    film = ReplayTime([index * gap for index in range(events)])
    assert film.of(events) <= TOP_SPEED * WHOLE_S + 0.001


def test_what_is_dense_is_shortened_last() -> None:
    """Nine hours: an agent that waits 20 s between calls, and a burst of 10 calls a second."""
    at = [index * 20.0 for index in range(1600)]
    at += [at[-1] + 0.1 * step for step in range(1, 101)]
    film = ReplayTime(at)
    assert film.of(1700) == pytest.approx(TOP_SPEED * WHOLE_S)
    assert film.of(1700) - film.of(1600) == pytest.approx(10.0)


def test_positions_and_times_lead_to_one_another() -> None:
    film = ReplayTime([0.0, 1.0, 1.0, 3.0])
    assert [film.position(t, 4) for t in (-1.0, 0.0, 0.9, 1.0, 2.9, 3.0, 99.0)] == [
        1, 1, 1, 3, 3, 4, 4,
    ]  # fmt: skip
    assert film.position(99.0, 2) == 2, "no further than the record is good"


def test_it_grows_with_its_record_and_what_is_set_back_costs_no_time() -> None:
    at = [0.0, 1.0]
    film = ReplayTime(at)
    at += [0.5, 1.5]
    film.follow()
    film.follow()
    assert [film.of(n) for n in (1, 2, 3, 4)] == [0.0, 1.0, 1.0, 2.0]


def test_an_empty_record_harms_nobody() -> None:
    film = ReplayTime([])
    assert (film.of(1), film.position(5.0, 0), film.clock(0, 1.0), film.wait(0)) == (0, 0, 0, 0)
