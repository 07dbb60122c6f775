"""Outgoing batches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.fleet.dispatch import wire
from ralph_tui.fleet.ports import Ended, Observation, Recorded, SendCommand
from ralph_tui.ports.clones import Base, Collected

LINES = Recorded(loop="1", attempt=1, seq=1, lines=("{}",))
OVER = Ended(loop="1", attempt=1, outcome="completed")


@given(st.lists(st.sampled_from([LINES, OVER, None])))
def test_everything_leaves_in_order_and_nothing_waits_unannounced(
    steps: list[Observation | None],
) -> None:
    """A step of None takes all waiting items, as the loop does when a wake is due."""
    wakes: list[float] = []
    outbox = wire.Outbox(wakes.append)
    waiting: list[Observation] = []
    for step in steps:
        if step is None:
            assert [wire.parse_observation(line) for line in outbox.take()] == waiting
            waiting.clear()
            wakes.clear()
            continue
        outbox.put(step)
        waiting.append(step)
        assert wakes
        assert (0 in wakes) == any(what.kind == "over" for what in waiting)
        assert len(wakes) <= 2


@given(st.binary())
def test_bundles_survive_the_wire(bundle: bytes) -> None:
    order = Base(commit="c", bundle=bundle)
    assert wire.parse_order(wire.encode(order)) == order
    collected = Collected(loop="1", attempt=1, branch="b", commit="c", bundle=bundle)
    assert wire.parse_observation(wire.encode(collected)) == collected


def test_what_is_wrong_with_a_message_is_said_shortly() -> None:
    order = wire.encode(SendCommand(id="1", loop="1", command={}))
    with pytest.raises(ValueError, match="tell") as raised:
        wire.parse_observation(order)
    assert "\n" not in wire.describe_error(raised.value)
