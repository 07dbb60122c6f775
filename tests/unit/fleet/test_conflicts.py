"""Pairs of branches compared for conflicts; each pair is reported once."""

from ralph_tui.fleet import events as ev
from ralph_tui.fleet.runtime.executor import mark_new, may_be_merged
from ralph_tui.fleet.state import FleetState
from ralph_tui.fleet.wording import conflict_sentences
from tests.fleet_events import SIX, stamped, started


def a_state(*events: ev.FleetEvent) -> FleetState:
    return FleetState().replay(stamped([started(SIX), *events]))


def collected(*names: str) -> list[ev.FleetEvent]:
    return [ev.ResultCollected(loop=name, branch=f"b{name}", commit=f"c{name}") for name in names]


def merged(state: FleetState) -> list[str]:
    return [name for name, loop in state.loops.items() if may_be_merged(state, loop)]


def found(state: FleetState, pairs: dict[str, list[str]]) -> list[ev.ConflictsFound]:
    files = {name: dict.fromkeys(others, ("a.py",)) for name, others in pairs.items()}
    plain = [ev.ConflictsFound(branch=name, others=others) for name, others in files.items()]
    return list(mark_new(plain, list(state.loops.values())))


def test_of_several_tries_only_the_chosen_one_counts() -> None:
    events = collected("1", "3a", "3b")
    assert merged(a_state(*events)) == ["1"], "the attempt to merge is not yet chosen"
    chosen = ev.WinnerChosen(tries_at="3", loop="3b", reason="it completed first")
    assert merged(a_state(*events, chosen)) == ["1", "3b"]
    none = ev.WinnerChosen(tries_at="3", loop="", reason="none of 3 tries completed")
    assert merged(a_state(*events, none)) == ["1", "3a", "3b"]


def test_what_was_known_of_a_beaten_try_is_forgotten() -> None:
    state = a_state(
        *collected("1", "3a", "3b"),
        ev.ConflictsFound(branch="b3a", others={"b1": ("a.py",)}),
        ev.WinnerChosen(tries_at="3", loop="3b", reason="it completed first"),
    )
    assert state.loops["3a"].conflicts == {}


def test_each_pair_is_told_once_of_the_branch_that_came_last() -> None:
    state = a_state(*collected("1", "2"))
    for one in found(state, {"b1": ["b2"], "b2": ["b1"]}):
        state.apply(one)
    again = found(state, {"b1": ["b2", "b4"], "b2": ["b1", "b4"], "b4": ["b1", "b2"]})
    said = [words.text for one in again if (words := one.row())]
    assert said == ["b4 conflicts with b1, b2"]


def test_what_is_cut_is_counted() -> None:
    names = [f"b{number}" for number in range(7)]
    event = ev.ConflictsFound(branch="b1", others=dict.fromkeys(names, ("a.py",)))
    words = event.row()
    assert words is not None
    assert words.text == "b1 conflicts with b0, b1, b2, b3 and 3 more"
    state = a_state(*collected("1"), event)
    rows = list(conflict_sentences(state.loops["1"]))
    assert rows[-1] == "conflicts with 4 more branches"
    assert len(rows) == 4
