"""The table of actions: one key, one meaning, and always a reason."""

from collections.abc import Sequence
from typing import Any

import pytest
from rich.cells import cell_len

from ralph_tui.events import AbortRequested, RunFinished, StopRequested
from ralph_tui.fleet.tui import keys as fleet_keys
from ralph_tui.fleet.tui.screen import FleetScreen
from ralph_tui.state import RunState
from ralph_tui.text.keys import DEFAULTS
from ralph_tui.tui.actions import ACTIONS, BY_NAME, Action, is_offered
from ralph_tui.tui.cockpit.help import blocks
from ralph_tui.tui.home import keys as home_keys
from ralph_tui.tui.home.screen import HomeScreen
from ralph_tui.tui.lists.keys import Key
from ralph_tui.tui.modals.help import RIGHT, columns
from tests.world.stories import STORIES


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("story", ["running", "stuck", "asked", "paused", "limited", "crashed"])
def test_no_key_means_two_things_at_once(story: str, live: bool) -> None:  # noqa: FBT001
    by_key: dict[str, list[Action]] = {}
    for action in ACTIONS:
        for key in DEFAULTS.of(action.name) if is_offered(action, live=live) else ():
            by_key.setdefault(key, []).append(action)
    shared = [actions for actions in by_key.values() if len(actions) > 1]
    assert [[action.name for action in actions] for actions in shared] in ([["decide", "diff"]], [])
    state = RunState()
    for event in STORIES[story]():
        state.apply(event)
        for actions in shared:
            able = [action.name for action in actions if action.refusal(state) is None]
            assert len(able) <= 1, (event.kind, able)


@pytest.mark.parametrize(
    ("screen", "keys"), [(HomeScreen, home_keys.KEYS), (FleetScreen, fleet_keys.KEYS)]
)
def test_every_key_of_a_list_is_an_action_of_its_screen(
    screen: type[object], keys: Sequence[Key[Any]]
) -> None:
    for key in keys:
        name = key.action.partition("(")[0]
        assert not name or callable(getattr(screen, f"action_{name}")), key


def test_every_action_explains_itself() -> None:
    for action in ACTIONS:
        assert 0 < cell_len(action.help) <= RIGHT, "it fits into half of 80 columns"
        assert action.shown_key(DEFAULTS)
        assert BY_NAME[action.name] is action


def test_a_finished_run_says_why_nothing_can_be_asked_of_it() -> None:
    state = RunState()
    state.apply(
        RunFinished(seq=1, outcome="completed", reason="done", iterations=1, completion=100)
    )
    for name in ("pause", "guide", "abort", "checkpoint"):
        assert BY_NAME[name].refusal(state) == "the run has ended"
    assert BY_NAME["help"].refusal(state) is None


def test_a_run_that_is_being_stopped_can_still_be_aborted() -> None:
    state = RunState()
    state.apply(StopRequested(seq=1, mode="now"))
    assert BY_NAME["abort"].refusal(state) is None
    assert BY_NAME["pause"].refusal(state) == "the run is being stopped"
    state.apply(AbortRequested(seq=2))
    assert BY_NAME["abort"].refusal(state) == "the run is being aborted"


def test_a_run_that_is_about_to_begin_offers_nothing_of_its_end() -> None:
    for name in ("diff", "report", "resume", "again"):
        assert BY_NAME[name].refusal(RunState()) is not None, name


def test_where_help_is_narrow_no_word_is_lost() -> None:
    sections = blocks(live=True)
    rows = ["".join(text for text, _ in line) for line in columns(sections, 16)]
    assert max(map(cell_len, rows)) <= 16
    shown = " ".join(" ".join(rows).split())
    assert all(words in shown for _, pairs in sections for _, words in pairs)
