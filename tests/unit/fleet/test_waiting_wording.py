"""Wording for loops that wait: on hold, in order, or without a free place."""

import re
from datetime import timedelta

from ralph_tui.fleet import events as ev
from ralph_tui.fleet.plan import HERE
from ralph_tui.fleet.state import FleetState
from ralph_tui.fleet.wording import fleet_sentence, loop_sentence
from ralph_tui.text.format import clock
from tests.fleet_events import a_loop, a_plan, stamped, started, three_tries

LOOPS = [a_loop(str(number), account="work") for number in (1, 2, 3)]
PLAN = a_plan(*LOOPS, a_loop("4", after=("1",)), accounts={"work": 2})
BEGUN = [
    event
    for name in "12"
    for event in (
        ev.LoopPlaced(loop=name, attempt=1, host=HERE, branch="b"),
        ev.LoopBegan(loop=name, run_id=name, run="task-001/001", folder="/t"),
    )
]
AT = stamped([started(PLAN)])[0].at + timedelta(hours=1)
LIMITED = [
    ev.LoopProgressed(loop=name, phase="limited", waits_for="usage_limit", until=AT,
                        verdict="waiting: usage limit")
    for name in "12"
]  # fmt: skip
HELD = ev.AccountHeld(account="work", until=AT, cause="usage_limit", reason="met by loop 1")


def said(*events: ev.FleetEvent) -> dict[str, str]:
    """The sentence of each loop; the fleet's is under ``fleet``."""
    state = FleetState().replay(stamped([started(PLAN), *BEGUN, *events]))
    sentences = {name: loop_sentence(loop, state, state.at) for name, loop in state.loops.items()}
    return sentences | {"fleet": fleet_sentence(state, state.at)}


def test_a_full_account_is_told_to_who_waits_for_it() -> None:
    words = said()
    assert words["3"] == "it is waiting for a slot on account work, 2 of 2 used"


def test_who_comes_after_others_waits_until_those_that_are_left_are_completed() -> None:
    loops = [a_loop("1"), a_loop("2"), *three_tries(), a_loop("4", after=("1", "2", "3"))]

    def fourth(*events: ev.FleetEvent) -> str:
        state = FleetState().replay(stamped([started(a_plan(*loops)), *events]))
        return loop_sentence(state.loops["4"], state, state.at)

    done = [ev.LoopEnded(loop=name, outcome="completed") for name in "12"]
    assert fourth() == "it is waiting until 1, 2, 3 have completed"
    assert fourth(*done) == "it is waiting until 3 has completed"
    won = ev.WinnerChosen(tries_at="3", loop="3b", reason="it completed first")
    assert fourth(*done, won) == "it is waiting for a slot"


def test_what_a_stopped_fleet_has_not_begun_waits_for_nothing() -> None:
    state = FleetState().replay(stamped([started(a_plan(a_loop("1")))]))
    assert loop_sentence(state.loops["1"], state, state.at) == "it is waiting for a slot"
    gone = loop_sentence(state.loops["1"], state, state.at, lost="died")
    assert gone == "it did not begin before the fleet's process ended"
    stop = ev.StopAsked(by="you")
    assert said(stop)["4"] == "it will not begin: the fleet is stopping"
    over = ev.FleetFinished(outcome="interrupted", reason="stopped by you")
    assert said(stop, over)["4"] == "it did not begin before the fleet stopped"


def test_a_held_account_is_told_to_all_that_wait_for_it() -> None:
    words = said(*LIMITED, HELD)
    until = f"account work is at its limit until {clock(AT)}"
    assert words["fleet"].startswith(f"{until}: usage limit, met by loop 1; 2 at a limit; ")
    assert {words[name] for name in "123"} == {f"it is waiting: {until}"}
    outage = HELD.model_copy(update={"cause": "outage"})
    assert said(*LIMITED, outage)["fleet"].startswith(
        f"account work is unavailable until {clock(AT)}: service down, met by loop 1; "
    )


def test_who_tries_first_is_named_and_the_others_wait_for_their_turn() -> None:
    trial = [*LIMITED, HELD, ev.LoopRetried(loop="1")]
    words = said(*trial)
    assert words["fleet"].startswith("account work may be free again; loop 1 is trying first; ")
    assert words["1"] == "waiting: usage limit", "its own run says it best"
    assert words["2"] == "it is waiting: account work may be free again; loop 1 is trying first"
    freed = [*trial, ev.LoopProgressed(loop="1", phase="agent", verdict="at work"),
             ev.AccountReleased(account="work", loop="1")]  # fmt: skip
    words = said(*freed)
    assert words["1"] == "at work"
    assert words["2"] == "it is waiting for its turn: loops on account work continue one by one"
    assert said(*freed, ev.LoopRetried(loop="2"))["2"] == "waiting: usage limit"


def test_one_that_goes_on_in_its_tree_waits_for_the_host_that_has_it() -> None:
    """However many other hosts are free; the message says for how long."""
    lost = ev.HostLost(host="far", left=True)
    words = said(
        ev.HostJoined(host="far", slots=1, home="far"),
        ev.LoopPlaced(loop="3", attempt=1, host="far", branch="b", home="far"),
        ev.LoopEnded(loop="3", outcome="interrupted", reason="its host was stopped"),
        lost,
        ev.LoopRequeued(loop="3", reason="its host was stopped", resume=True),
    )["3"]
    assert re.fullmatch(
        r"it is waiting for far, where its clone is, until \d\d:\d\d:\d\d; .*its host was stopped",
        words,
    )


def test_a_fleet_that_is_paused_is_what_its_queue_waits_for() -> None:
    paused = ev.CommandGiven(name="pause", by="you")
    assert said(paused)["3"].startswith("it is waiting until the fleet is unpaused")
    goes_on = ev.CommandGiven(name="unpause", by="you")
    assert "unpaused" not in said(paused, goes_on)["3"]
