"""The table of actions: one key, one meaning, and always a reason."""

import pytest
from rich.cells import cell_len

from ralph_tui.events import AbortRequested, RunFinished, StopRequested
from ralph_tui.state import RunState
from ralph_tui.tui.actions import ACTIONS, BY_NAME, offered
from ralph_tui.tui.modals.help import RIGHT


@pytest.mark.parametrize("live", [True, False])
def test_no_key_means_two_things_on_one_screen(live: bool) -> None:  # noqa: FBT001
    keys = [
        key for action in ACTIONS if offered(action, live=live) for key in action.keys.split(",")
    ]
    assert len(keys) == len(set(keys))


def test_every_action_explains_itself() -> None:
    for action in ACTIONS:
        assert 0 < cell_len(action.help) <= RIGHT, "it fits into half of 80 columns"
        assert action.shown_key
        assert BY_NAME[action.name] is action


def test_a_finished_run_says_why_nothing_can_be_asked_of_it() -> None:
    state = RunState()
    state.apply(
        RunFinished(seq=1, outcome="completed", reason="done", iterations=1, completion=100)
    )
    for name in ("pause", "guide", "abort", "checkpoint"):
        assert BY_NAME[name].refusal(state) == "the run is over"
    assert BY_NAME["help"].refusal(state) is None


def test_a_run_that_is_being_stopped_can_still_be_aborted() -> None:
    state = RunState()
    state.apply(StopRequested(seq=1, mode="now"))
    assert BY_NAME["abort"].refusal(state) is None
    assert BY_NAME["pause"].refusal(state) == "the run is being stopped"
    state.apply(AbortRequested(seq=2))
    assert BY_NAME["abort"].refusal(state) == "the run is being aborted"
