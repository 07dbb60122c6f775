"""Whatever a fleet's journal holds: there is one sentence for it, and a row for what is logged."""

from datetime import timedelta
from typing import get_args

from hypothesis import given

from ralph_tui.fleet.events import FLEET_EVENT_TYPES, FleetEvent
from ralph_tui.fleet.state import FleetState, Lost
from ralph_tui.fleet.wording import (
    conflict_sentences,
    fleet_sentence,
    kept_sentence,
    loop_sentence,
    result_sentence,
)
from tests.fleet_events import a_journal

UNTOLD = {
    "loop_progressed", "loop_stage", "collection_asked", "verification_began", "conflicts_found",
    "fleet_noticed", "command_given",
}  # fmt: skip
"""Kinds with events that have no row in the log."""


@given(a_journal())
def test_every_state_has_its_sentences(events: list[FleetEvent]) -> None:
    state = FleetState()
    for event in events:
        state.apply(event)
        for now in (state.at, state.at + timedelta(days=1)):
            for lost in get_args(Lost):
                assert fleet_sentence(state, now, lost=lost)
            for loop in state.loops.values():
                reported = [loop_sentence(loop, state, now, lost=lost) for lost in get_args(Lost)]
                reported.append(result_sentence(loop))
                reported.append(kept_sentence(loop))
                reported += conflict_sentences(loop)
                assert reported[0]
                assert not any("None" in sentence or "\n" in sentence for sentence in reported)


@given(a_journal())
def test_every_event_is_told_or_known_to_be_none(events: list[FleetEvent]) -> None:
    for event in events:
        words = event.row()
        if event.kind not in UNTOLD:
            assert words is not None
        if words is not None:
            assert words.text.strip()
            assert "None" not in words.text


def test_the_kinds_that_are_not_told_are_kinds() -> None:
    assert FLEET_EVENT_TYPES.keys() >= UNTOLD
