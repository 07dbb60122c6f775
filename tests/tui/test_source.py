"""Replay gives the same state as a plain fold, wherever it jumps, and stays quick."""

from collections import deque
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.commands import Pause
from ralph_tui.events import AgentSpoke, Event
from ralph_tui.runtime.sources.keyframes import FRAME, copied
from ralph_tui.runtime.sources.live import Live
from ralph_tui.runtime.sources.replay import LONGEST_GAP_S, SPEEDS, Replay
from ralph_tui.state import RunState
from tests.examples import FEWER
from tests.rows import each_row
from tests.world.recorder import START
from tests.world.stories import STORIES, flood, running, stuck


def folded(events: list[Event]) -> RunState:
    return RunState().apply_all(events)


def visible(state: RunState) -> list[Any]:
    """All state of a fold except its handlers' identity."""
    return [vars(fold) for fold in state.folds()]


@each_row("name", [name for name in STORIES if name != "hostile"])
def test_a_replay_opens_at_its_end_with_the_final_state(name: str) -> None:
    events = STORIES[name]()
    source = Replay(events)
    state = source.poll(RunState(), 0.0)
    assert visible(state) == visible(folded(events))
    assert source.position == source.length == len(events)
    assert not source.playing


@FEWER
@given(jumps=st.lists(st.integers(-5, 400), min_size=1, max_size=6))
def test_a_jump_shows_what_a_fold_up_to_there_shows(jumps: list[int]) -> None:
    events = running()
    source, state = Replay(events), RunState()
    for jump in jumps:
        source.seek(jump)
        state = source.poll(state, 0.0)
        assert 1 <= source.position <= len(events)
        assert visible(state) == visible(folded(events[: source.position]))


def test_a_jump_back_leaves_the_old_state_alone() -> None:
    source = Replay(stuck())
    last = source.poll(RunState(), 0.0)
    source.seek(3)
    assert source.poll(last, 0.0) is not last
    assert last.run.finished is not None


@each_row("name", ["running", "asked"])
def test_a_copy_goes_on_by_itself(name: str) -> None:
    events = STORIES[name]()
    for cut in range(1, len(events), 17):
        state, before = folded(events[:cut]), folded(events[:cut])
        twin = copied(state).apply_all(events[cut:])
        assert visible(twin) == visible(folded(events))
        assert visible(state) == visible(before)
        assert visible(state.apply_all(events[cut:])) == visible(twin)


def play(source: Replay, seconds: float, state: RunState | None = None) -> RunState:
    state, now = state or RunState(), 0.0
    state = source.poll(state, now)
    while now < seconds:
        now += 1 / 15
        state = source.poll(state, now)
    return state


def test_a_silence_is_shortened() -> None:
    spoken = [
        AgentSpoke(seq=1, at=START, iteration=1, text="a"),
        AgentSpoke(seq=2, at=START + timedelta(minutes=20), iteration=1, text="b"),
    ]
    source = Replay(spoken)
    source.toggle()
    source.speed = 1
    state = play(source, LONGEST_GAP_S - 0.3)
    assert state.seq == 1
    assert source.poll(state, LONGEST_GAP_S + 0.1).seq == 2


@each_row("speed", SPEEDS)
def test_every_speed_reaches_the_end_and_stops(speed: int) -> None:
    events = running()
    source = Replay(events)
    source.speed = speed
    source.toggle()
    assert source.position == 1
    state = play(source, 600.0 / max(speed, 60) + 60 if speed else 10.0)
    state = play(source, 2000.0, state) if source.playing else state
    assert state.seq == len(events)
    assert not source.playing


def test_speed_stays_within_its_range() -> None:
    source = Replay(running())
    for _ in range(20):
        source.change_speed(1)
    assert source.speed == 0
    for _ in range(20):
        source.change_speed(-1)
    assert source.speed == 1


def test_steps_stop_at_iterations_and_alarms() -> None:
    events = stuck()
    source = Replay(events)
    source.step_mark(-1)
    assert events[source.position - 1].kind == "alarm_raised"
    source.step_iteration(-1)
    assert events[source.position - 1].kind == "iteration_started"
    here = source.position
    source.step_iteration(1)
    assert source.position > here
    source.seek(1)
    source.step_iteration(-1)
    assert source.position == 1
    source.seek(source.length)
    source.step_iteration(1)
    assert source.position == source.length


def test_an_empty_record_harms_nobody() -> None:
    source = Replay([])
    for act in (source.toggle, lambda: source.seek(5), lambda: source.step_mark(1)):
        act()
        assert source.poll(RunState(), 1.0).seq == 0
    assert not source.playing


def test_seeking_in_a_long_record_folds_only_from_the_nearest_keyframe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events = list(flood(4 * FRAME))
    source, state = Replay(events), RunState()
    source.start()
    while state.seq < len(events):
        state = source.poll(state, 0.0)
    applied: list[int] = []
    apply = RunState.apply

    def count(state: RunState, event: Event) -> None:
        applied.append(event.seq)
        apply(state, event)

    monkeypatch.setattr(RunState, "apply", count)
    for position in (2 * FRAME, 3 * FRAME + 100, 10, 4 * FRAME):
        source.seek(position)
        applied.clear()
        state = source.poll(state, 0.0)
        assert state.seq == position
        assert len(applied) <= FRAME
    monkeypatch.undo()
    assert list(state.agent.rows) == list(folded(events[: 4 * FRAME]).agent.rows)


def test_live_drains_what_has_arrived_and_hands_commands_over() -> None:
    events = running()
    sent: list[Any] = []
    inbox = deque(events[:10])
    source = Live(inbox, sent.append)
    state = source.poll(RunState(), 0.0)
    inbox.extend(events[10:])
    assert source.poll(state, 1.0) is state
    assert visible(state) == visible(folded(events))
    source.send(Pause())
    assert sent == [Pause()]


def test_live_bounds_the_work_of_one_poll() -> None:
    inbox = deque(flood(12_000))
    source, state = Live(inbox, lambda command: None), RunState()
    source.poll(state, 0.0)
    assert 0 < len(inbox) < 12_000


@each_row("name", ["steady", "stuck", "running", "crashed"])
def test_a_replay_begins_at_its_beginning_and_takes_half_a_minute(name: str) -> None:
    source = Replay(STORIES[name]())
    source.begin()
    state = source.poll(RunState(), 0.0)
    assert (state.seq, source.playing) == (1, True)
    now = 0.0
    while source.playing:
        now += 1 / 15
        state = source.poll(state, now)
    assert state.seq == source.length
    assert 14.0 <= now <= 31.0
