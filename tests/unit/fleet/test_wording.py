"""The wording of a fleet: the order of facts, and the loop that each names."""

from datetime import timedelta

from ralph_tui.adapters.records.runs import STATUS_VERSION
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.plan import HERE
from ralph_tui.fleet.runtime.observations import parse_progress
from ralph_tui.fleet.state import FleetState, Lost
from ralph_tui.fleet.tui.table import run_time, state_of
from ralph_tui.fleet.tui.view import LoopRow
from ralph_tui.fleet.wording import (
    fleet_sentence,
    loop_sentence,
    lost_words,
    result_sentence,
    spent_words,
    state_word,
)
from tests.fleet_events import SIX, START, stamped, started

NOW = START + timedelta(minutes=1)


BEGUN = (
    ev.LoopPlaced(loop="1", attempt=1, host=HERE, branch="b"),
    ev.LoopBegan(loop="1", run_id="r", run="task-001/001", folder="/t"),
)


def sentence(*events: ev.FleetEvent) -> str:
    return fleet_sentence(FleetState().replay(stamped([started(SIX), *events])), NOW)


def words(event: ev.FleetEvent) -> str:
    said = event.row()
    assert said is not None
    return said.text


def test_the_host_of_the_fleets_own_process_is_this_machine() -> None:
    assert words(ev.HostJoined(host=HERE, slots=1)) == "this machine joined, 1 slot"
    place = ev.LoopPlaced(loop="3a", attempt=1, host=HERE, branch="b")
    assert words(place) == "loop 3a is placed on this machine"
    again = ev.LoopPlaced(loop="3a", attempt=1, host="node-7", branch="b", resumed=True)
    assert words(again) == "loop 3a is resumed on node-7"


def test_whoever_is_asked_comes_first_then_limits_then_how_many_run() -> None:
    running = (
        ev.HostJoined(host=HERE, slots=2),
        ev.LoopPlaced(loop="1", attempt=1, host=HERE, branch="b"),
        ev.LoopBegan(loop="1", run_id="r", run="task-001/001", folder="/t"),
    )
    assert sentence(*running) == "1 loop running; 5 queued"
    held = ev.AccountHeld(account="work")
    assert sentence(*running, held) == "account work is at its limit; 1 loop running; 5 queued"
    asks = ev.LoopProgressed(loop="1", phase="paused", question="May I?")
    assert sentence(*running, held, asks).startswith(
        "loop 1 is waiting for your answer; account work "
    )


def test_where_an_agents_question_holds_a_stop_it_says_what_ends_it() -> None:
    asks = ev.LoopProgressed(loop="1", phase="agent", question="May I?")
    said = sentence(*BEGUN, asks, ev.StopAsked(by="you"))
    assert "it stops after the running iterations; answer first, or run" in said
    assert "answer first" not in sentence(*BEGUN, ev.StopAsked(by="you"))
    assert "answer first" not in sentence(*BEGUN, asks, ev.StopAsked(by="you", now=True))


def test_of_a_dead_fleets_loops_those_elsewhere_are_not_called_dead() -> None:
    far = ev.LoopPlaced(loop="2", attempt=1, host="host3", branch="b")
    state = FleetState().replay(stamped([started(SIX), *BEGUN, far]))
    assert fleet_sentence(state, NOW, lost="died") == (
        f"{lost_words('died')}; "
        "loop 2 may keep running on host3, for up to 10m after the fleet's end"
    )
    here, there = state.loops["1"], state.loops["2"]
    assert (
        loop_sentence(here, state, NOW, lost="died")
        == "it was running when the fleet's process ended"
    )
    assert loop_sentence(there, state, NOW, lost="died") == (
        "it may keep running on host3, for up to 10m after the fleet's end"
    )
    assert [state_word(one, lost="died") for one in (here, there)] == ["died", "lost"]
    terms = [state_of(LoopRow(one, gone=True))[0].word for one in (here, there)]
    assert terms == ["died", "lost"]


def test_a_fleet_that_is_over_says_how_it_ended() -> None:
    end = ev.FleetFinished(outcome="completed", reason="6 of 6 objectives completed")
    assert sentence(end) == "completed: 6 of 6 objectives completed"


def test_a_cost_that_no_agent_tells_is_not_zero() -> None:
    plan = SIX.model_copy(update={"budget_usd": 5.0})

    def spent(*events: ev.FleetEvent) -> str:
        return spent_words(FleetState().replay(stamped([started(plan), *events])))

    def works(loop: str, iteration: int, cost: float | None) -> ev.FleetEvent:
        return ev.LoopProgressed(loop=loop, phase="agent", iteration=iteration, cost_usd=cost)

    assert spent() == "$0.00 of $5.00"
    assert spent(works("1", 2, None)) == "cost unknown, budget $5.00"
    assert spent(*BEGUN) == "cost unknown, budget $5.00", "before its first session has ended"
    again = ev.LoopRequeued(loop="1", reason="its process died", resume=True)
    assert spent(works("1", 1, None), again) == "cost unknown, budget $5.00"
    assert spent(works("1", 2, 1.2)) == "$1.20 of $5.00"
    assert spent(works("1", 2, 1.2), works("2", 2, None)) == "at least $1.20 of $5.00"


def test_a_loop_in_a_word_is_what_its_sentence_says() -> None:
    begun = (
        ev.LoopPlaced(loop="1", attempt=1, host=HERE, branch="b"),
        ev.LoopBegan(loop="1", run_id="r", run="task-001/001", folder="/t"),
    )

    def word(*more: ev.FleetEvent, lost: Lost = "") -> str:
        state = FleetState().replay(stamped([started(SIX), *begun, *more]))
        return state_word(state.loops["1"], lost=lost)

    def phase(name: str, question: str = "") -> ev.FleetEvent:
        return ev.LoopProgressed(loop="1", phase=name, question=question)

    assert word(phase("agent")) == "running"
    assert word(phase("paused")) == "paused"
    assert word(phase("limited")) == "waiting"
    asked = ev.CommandGiven(loop="1", name="pause")
    assert word(phase("agent"), asked) == "pausing"
    assert word(phase("agent"), asked, ev.CommandGiven(loop="1", name="unpause")) == "running"
    assert word(phase("agent"), asked, phase("paused")) == "paused"
    assert word(phase("agent"), asked.model_copy(update={"refused": "no"})) == "running"
    assert word(phase("paused", "May I?")) == "asking"
    assert word(phase("agent"), lost="died") == "died"
    assert word(ev.LoopEnded(loop="1", outcome="limit_reached"), lost="died") == "limit reached"


def test_a_requested_pause_is_named_after_a_wait_for_a_limit() -> None:
    def said(*more: ev.FleetEvent) -> str:
        state = FleetState().replay(stamped([started(SIX), *BEGUN, *more]))
        return loop_sentence(state.loops["1"], state, NOW)

    asked = ev.CommandGiven(loop="1", name="pause")
    working = ev.LoopProgressed(loop="1", phase="agent", verdict="on track")
    assert said(working, asked) == "pausing: this iteration ends first"
    waits = ev.LoopProgressed(loop="1", phase="limited", pause_requested=True, verdict="waiting: x")
    assert said(waits) == "waiting: x"
    held = ev.AccountHeld(account=SIX.loops[0].login, cause="usage_limit", until=NOW, reason="")
    assert said(waits, held).endswith("; then it pauses")


def test_who_asks_or_is_paused_is_told_as_that_and_counted_once() -> None:
    asks = ev.LoopProgressed(loop="1", phase="agent", question="May I?")
    assert sentence(*BEGUN, asks) == "loop 1 is waiting for your answer; 5 queued"
    paused = ev.LoopProgressed(loop="1", phase="paused")
    assert sentence(*BEGUN, paused) == "1 paused; 5 queued"
    lost = ev.LoopLost(loop="1", until=NOW + timedelta(minutes=5))
    for before in (asks, paused):  # this may no longer be true
        said = sentence(*BEGUN, before, lost)
        assert (
            said == "no contact with this machine: its loops may keep running for 5m more; 5 queued"
        )


def test_of_a_dead_fleets_loop_nobody_collects_the_work() -> None:
    def result(*more: ev.FleetEvent, lost: Lost) -> str:
        state = FleetState().replay(stamped([started(SIX), *BEGUN, *more]))
        return result_sentence(state.loops["1"], lost=lost)

    ended = ev.LoopEnded(loop="1", outcome="completed")
    asked = ev.CollectionAsked(loop="1")
    assert result(ended, asked, lost="") == "its work is being collected"
    assert result(ended, asked, lost="died") == "its work has not been collected yet"
    assert result(ended, lost="died") == "its work has not been collected yet"
    assert result(lost="died") == "", "it has not ended"
    done = ev.ResultCollected(loop="1", branch="b", commit="c" * 40)
    assert result(ended, asked, done, lost="died").startswith("branch b at ")


def test_of_a_loop_that_was_better_than_it_ended_the_way_back_is_told() -> None:
    record = ".aiwg/ralph/fleets/fleet-001/loops/1/attempts/001"
    base = ev.ResultCollected(loop="1", branch="", commit="c" * 40)
    none_here = base.model_copy(update={"best": 2 / 3})
    nothing = none_here.model_copy(update={"record": record})
    work = nothing.model_copy(update={"branch": "b", "files": 2})

    def result(done: ev.ResultCollected) -> str:
        ended = ev.LoopEnded(loop="1", outcome="limit_reached")
        state = FleetState().replay(stamped([started(SIX), *BEGUN, ended, done]))
        return result_sentence(state.loops["1"])

    back = f"its best result was 67 %: 'ralph-tui restore best --run {record}' restores it here"
    assert result(base) == "has changed nothing"
    assert result(nothing) == f"ends with the files it started with; {back}"
    assert result(none_here) == "ends with the files it started with; its best result was 67 %"
    assert result(work) == f"branch b at ccccccccc, 2 files; {back}"
    assert words(base) == "loop 1 has changed nothing"
    assert words(nothing) == f"loop 1 ends with the files it started with; {back}"
    assert words(work) == f"loop 1 is collected as b, 2 files; {back}"


def test_a_loop_that_could_not_begin_can_be_tried_again_once_the_fleet_has_ended() -> None:
    missing = ev.LoopEnded(loop="1", outcome="failed", reason="no codex here", never_began=True)
    over = ev.FleetFinished(outcome="failed")

    def said(*more: ev.FleetEvent) -> str:
        state = FleetState().replay(stamped([started(SIX), BEGUN[0], *more]))
        return loop_sentence(state.loops["1"], state, NOW)

    again = "'ralph-tui fleet resume' tries it again with the same settings"
    assert said(missing) == "failed: no codex here"
    assert said(missing, over) == f"failed: no codex here; {again}"
    assert again not in said(BEGUN[1], ev.LoopEnded(loop="1", outcome="failed"), over)
    assert again not in said(missing, ev.StopAsked(by="you", abort=True), over)


def test_a_loop_lasts_as_long_as_it_worked() -> None:
    """Its own screen also leaves out the minute in which its fleet was dead."""
    status = {"version": STATUS_VERSION, "phase": "agent", "away_s": 65.0}
    progress = parse_progress("1", status)
    assert progress is not None
    state = FleetState().replay(stamped([started(SIX), *BEGUN, progress]))
    row, began = LoopRow(state.loops["1"]), state.loops["1"].began_at
    assert began is not None
    assert run_time(row, began + timedelta(seconds=551)) == "8m 6s"
    again = ev.LoopRequeued(loop="1", reason="its process died", resume=True)
    placed = ev.LoopPlaced(loop="1", attempt=1, host="one", branch="b", resumed=True)
    state.replay(stamped([again, placed]))
    assert run_time(row, state.at) == "", "nothing works on it"


def test_what_somebody_did_to_a_loop_is_told_in_words() -> None:
    def given(name: str, refused: str = "") -> str:
        by = "the terminal pts/5"
        return words(ev.CommandGiven(loop="1", name=name, by=by, refused=refused))

    assert given("answer") == "you (terminal pts/5) answered the question of loop 1"
    assert given("guide") == "you (terminal pts/5) gave loop 1 guidance"
    assert given("pause") == "you (terminal pts/5) asked loop 1 to pause"
    assert given("unpause") == "you (terminal pts/5) unpaused loop 1"
    refused = "you (terminal pts/5) sent loop 1 'guide', but it was refused: no session is running"
    assert given("guide", "no session is running") == refused
