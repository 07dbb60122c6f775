"""The effect of each event on a fleet's state."""

from datetime import timedelta

from ralph_tui.fleet import events as ev
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.plan import HERE
from ralph_tui.fleet.state import NOTICES, FleetState, Trial
from ralph_tui.fleet.wording import kept_sentence
from ralph_tui.ports.clones import Earlier
from tests.fleet_events import SIX, START, stamped, started

JOINED = ev.HostJoined(host="one", slots=2, machine="m1", version="1")
UNTIL = START + timedelta(hours=1)


def after(*events: FleetEvent) -> FleetState:
    return FleetState().replay(stamped([started(SIX), *events]))


def placed(name: str = "1", **more: object) -> ev.LoopPlaced:
    fields = {"loop": name, "attempt": 1, "host": "one", "branch": f"ralph/f/{name}"}
    return ev.LoopPlaced.model_validate(fields | more)


def began(name: str = "1") -> ev.LoopBegan:
    return ev.LoopBegan(loop=name, run_id="r", run="task-001/001", folder="/t", machine="m1")


def progressed(name: str = "1", **more: object) -> ev.LoopProgressed:
    return ev.LoopProgressed.model_validate({"loop": name, "phase": "agent"} | more)


def loop_after(*events: FleetEvent) -> LoopState:
    return after(*events).loops["1"]


def test_a_fleet_begins_with_the_loops_of_its_plan_in_the_queue() -> None:
    state = after()
    assert list(state.loops) == ["1", "2", "3a", "3b", "3c", "4"]
    assert {loop.status for loop in state.loops.values()} == {"queued"}
    assert [loop.spec.id for loop in state.attempts("3")] == ["3a", "3b", "3c"]


def test_a_loop_is_placed_begins_says_how_it_stands_and_ends() -> None:
    loop = loop_after(JOINED, placed(budget_usd=5.0))
    assert (loop.status, loop.host, loop.machine, loop.given_usd) == ("placing", "one", "m1", 5.0)
    stage = ev.LoopStage(loop="1", stage="setup")
    assert loop_after(JOINED, placed(), stage).stage == "setup"
    said = progressed(iteration=2, completion=0.4, cost_usd=1.5, question="May I?", until=UNTIL)
    loop = loop_after(JOINED, placed(), stage, began(), said)
    assert (loop.status, loop.stage, loop.iteration, loop.question) == ("running", "", 2, "May I?")
    end = ev.LoopEnded(loop="1", outcome="completed", completion=1.0, cost_usd=2.0, iterations=3)
    loop = loop_after(JOINED, placed(), began(), said, end)
    assert (loop.status, loop.outcome, loop.iteration) == ("ended", "completed", 3)
    assert loop.over
    assert (loop.question, loop.phase, loop.until) == ("", "", None)
    assert (loop.spent_usd, loop.completions) == (2.0, [1.0])


def test_each_iteration_has_one_reading_the_last_said_of_it() -> None:
    said = [(1, None), (1, 0.2), (2, 0.2), (2, 0.2), (2, 0.5), (3, 0.5)]
    loop = loop_after(placed(), began(), *(progressed(iteration=k, completion=c) for k, c in said))
    assert loop.completions == [0.2, 0.5, 0.5]


def test_a_new_attempt_adds_to_what_was_spent_and_a_resumed_one_goes_on_counting() -> None:
    spent = (placed(), began(), progressed(cost_usd=2.0, iteration=4, completion=0.5))
    again = ev.LoopRequeued(loop="1", reason="its host is lost")
    new = loop_after(*spent, again, placed(attempt=2), began(), progressed(cost_usd=1.0))
    assert (new.spent_usd, new.cost_usd, new.iteration, new.resumes) == (3.0, 1.0, 0, 0)
    on = ev.LoopRequeued(loop="1", reason="its process died", resume=True)
    waiting = loop_after(*spent, on)
    assert (waiting.status, waiting.resuming, waiting.reason) == (
        "queued", True, "its process died",
    )  # fmt: skip
    resumed = loop_after(*spent, on, placed(resumed=True), began(), progressed(cost_usd=2.5))
    assert (resumed.spent_usd, resumed.resumes, resumed.resuming) == (2.5, 1, False)


def test_a_lost_loop_keeps_its_slot_until_it_is_adopted_or_given_up() -> None:
    lost = (JOINED, placed(), began(), ev.HostLost(host="one"), ev.LoopLost(
        loop="1", until=UNTIL))  # fmt: skip
    state = after(*lost)
    assert not state.hosts["one"].here
    assert [loop.spec.id for loop in state.running_on("one")] == ["1"]
    assert state.loops["1"].lost_until == UNTIL
    adopted = loop_after(*lost, JOINED, ev.LoopAdopted(loop="1", host="one", known=7))
    assert (adopted.status, adopted.lost_until) == ("running", None)


def test_work_is_asked_for_collected_or_not() -> None:
    ended = (JOINED, placed(), began(), ev.LoopEnded(loop="1", outcome="completed"))
    asked = (*ended, ev.CollectionAsked(loop="1"))
    assert loop_after(*asked).collecting
    assert not loop_after(*asked, ev.HostLost(host="one")).collecting
    done = ev.ResultCollected(loop="1", branch="ralph/f/1-2", commit="abc", files=3)
    loop = loop_after(*asked, done)
    assert (loop.branch, loop.commit, loop.files, loop.collecting) == (
        "ralph/f/1-2", "abc", 3, False,
    )  # fmt: skip
    failed = (*asked, ev.CollectionFailed(loop="1", reason="no room"))
    assert loop_after(*failed).not_collected == "no room"
    assert loop_after(*failed, JOINED).not_collected == ""
    conflicts = ev.ConflictsFound(branch="ralph/f/1-2", others={"ralph/f/2": ("a.py",)})
    assert loop_after(*asked, done, conflicts).conflicts == {"ralph/f/2": ("a.py",)}


def test_work_that_is_gone_stays_so_until_another_attempt_begins() -> None:
    gone = (JOINED, placed(), began(), ev.LoopEnded(loop="1", outcome="interrupted"),
            ev.CollectionFailed(loop="1", reason="removed", final=True))  # fmt: skip
    goes_on = ev.LoopRequeued(loop="1", reason="its process died", resume=True)
    for more in ((), (JOINED,), (ev.FleetResumed(by="you"), JOINED), (goes_on,)):
        loop = loop_after(*gone, *more)
        assert (loop.not_collected, loop.work_gone, loop.may_be_collected) == (
            "removed",
            True,
            False,
        )
    anew = ev.LoopRequeued(loop="1", reason="its tree is gone", resume=False)
    loop = loop_after(*gone, goes_on, anew)
    assert (loop.not_collected, loop.work_gone, loop.left) == ("", False, {})
    left = (JOINED, placed(), began(), anew)
    assert loop_after(*left).left == {1: "one"}
    assert loop_after(*left, gone[-1]).left == {}, "no loop waits for its return"
    assert not loop_after(*left, gone[-1], placed(), began()).work_gone


def test_where_the_work_of_an_earlier_attempt_is() -> None:
    """On the lost host until it returns: then it is a branch."""
    anew = ev.LoopRequeued(loop="1", reason="its host was stopped", resume=False)
    lost = (JOINED, placed(), began(), ev.HostLost(host="one", left=True), anew)
    loop = loop_after(*lost)
    assert (loop.left, loop.kept) == ({1: "one"}, {})
    assert kept_sentence(loop) == "the work of attempt 1 is only on one, until that host is back"
    kept = ev.AttemptKept(loop="1", attempt=1, host="one", branch="ralph/f/1-attempt-1")
    loop = loop_after(*lost, kept)
    assert kept_sentence(loop) == "attempt 1 is kept as ralph/f/1-attempt-1"
    nothing = ev.AttemptKept(loop="1", attempt=1, host="one")
    assert kept_sentence(loop_after(*lost, nothing)) == ""
    done = ev.ResultCollected(loop="1", branch="ralph/f/1", commit="abc", files=3)
    pruned = (JOINED, placed(), began(), done, anew, placed(attempt=2), began())
    assert kept_sentence(loop_after(*pruned)) == "attempt 1 is kept as ralph/f/1"
    assert kept_sentence(loop_after(*pruned, done)) == ""
    assert loop_after(*pruned).earlier == Earlier("ralph/f/1", "abc", 1, "one", 3)
    here = kept.model_copy(update={"host": HERE, "files": 3})
    assert here.row().text == (
        "the work of attempt 1 of loop 1 on this machine is kept as ralph/f/1-attempt-1, 3 files"
    )
    in_its_tree = ev.LoopRequeued(loop="1", reason="its process died", resume=True)
    never_began = ev.LoopRequeued(loop="1", reason="its host is lost", resume=False)
    for events in ((placed(), began(), in_its_tree), (placed(), never_began)):
        assert kept_sentence(loop_after(JOINED, *events)) == ""


def test_one_of_several_tries_is_chosen_and_the_others_are_beaten() -> None:
    won = ev.WinnerChosen(tries_at="3", loop="3b", reason="it passed first")
    places = [loop.place for loop in after(won).loops.values()]
    assert places == ["", "", "beaten", "chosen", "beaten", ""]
    none = ev.WinnerChosen(tries_at="3", loop="", reason="none passed")
    assert {loop.place for loop in after(none).loops.values()} == {""}
    began, passed = ev.VerificationBegan(loop="3b"), ev.WinnerVerified(loop="3b", passed=True)
    assert after(began).loops["3b"].verifying
    assert after(began, passed).loops["3b"].verified is True


def test_a_login_is_held_until_one_of_its_loops_works_again() -> None:
    held = ev.AccountHeld(account="work", until=UNTIL)
    retried = ev.LoopRetried(loop="2")
    state = after(held, retried)
    assert state.held["work"].until == UNTIL
    assert state.trials["work"] == Trial("2", START + timedelta(seconds=3))
    state = after(held, retried, ev.AccountReleased(account="work", loop="2"))
    assert (state.held, state.trials) == ({}, {})
    assert state.released["work"] == START + timedelta(seconds=4)


def test_a_fleet_that_is_resumed_forgets_what_its_process_was_asked() -> None:
    state = after(
        JOINED, placed(), began(), ev.StopAsked(by="you", now=True),
        ev.LoopStopAsked(loop="1", reason="stopped", now=True),
        ev.FleetFinished(outcome="interrupted"), ev.FleetResumed(by="you"),
    )  # fmt: skip
    assert (state.finished, state.stopping) == (None, None)
    assert state.loops["1"].stop_asked == ""
    assert not state.hosts["one"].here


def test_a_stop_at_once_is_not_taken_back_by_a_milder_one() -> None:
    state = after(ev.StopAsked(by="you", now=True), ev.StopAsked(by="you"))
    assert state.stopping is not None
    assert state.stopping.now


def test_the_log_is_bounded_and_events_of_strange_loops_change_nothing() -> None:
    notes = [ev.FleetNoticed(text=str(number)) for number in range(NOTICES + 9)]
    state = after(*notes, ev.LoopEnded(loop="99", outcome="failed"), placed("99"))
    assert len(state.notices) == NOTICES
    assert "99" not in state.loops
    assert list(state.running_on("one")) == []
