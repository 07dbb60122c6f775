"""The fold of a fleet's journal: rules for every journal."""

from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.fleet.events import FLEET_EVENT_TYPES, FleetEvent, parse_fleet_event
from ralph_tui.fleet.state import FleetState
from tests.fleet_events import IDS, a_journal, an_event


@given(a_journal(), st.data())
def test_a_part_and_the_rest_are_the_whole(journal: list[FleetEvent], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(journal)))
    part = FleetState().replay(journal[:cut])
    assert part.replay(journal[cut:]) == FleetState().replay(journal)


@given(a_journal(), a_journal())
def test_a_copy_goes_its_own_way(journal: list[FleetEvent], more: list[FleetEvent]) -> None:
    state = FleetState().replay(journal)
    copy, before = deepcopy(state), deepcopy(state)
    assert copy == state
    copy.replay(more[1:])
    assert state == before


@given(a_journal())
def test_what_was_written_is_read_as_it_was(journal: list[FleetEvent]) -> None:
    lines = [event.model_dump_json() for event in journal]
    assert [parse_fleet_event(line) for line in lines] == journal


@given(a_journal())
def test_a_loop_that_is_not_placed_takes_no_slot_and_says_nothing(
    journal: list[FleetEvent],
) -> None:
    state = FleetState().replay(journal)
    assert list(state.loops) == list(IDS)
    taken = [loop.spec.id for host in state.hosts for loop in state.running_on(host)]
    assert len(taken) == len(set(taken))
    for loop in state.loops.values():
        assert loop.over == (loop.status in ("ended", "skipped"))
        assert loop.spent_usd >= 0
        if loop.status == "lost":
            assert loop.lost_until is not None


def test_random_events_are_of_every_kind_but_the_first() -> None:
    drawn = {kind for kind in FLEET_EVENT_TYPES if kind != "fleet_started"}
    seen: set[str] = set()

    @given(st.lists(an_event, min_size=30, max_size=30))
    def look(events: list[FleetEvent]) -> None:
        seen.update(event.kind for event in events)

    look()
    assert seen == drawn
