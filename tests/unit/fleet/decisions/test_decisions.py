"""Decisions of a fleet in the situations of its design."""

from datetime import timedelta

from ralph_tui.events.run import Outcome
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.decisions import decide
from ralph_tui.fleet.decisions.placing import patience_s
from ralph_tui.fleet.plan import HERE, Plan
from ralph_tui.fleet.state import end_reason, margin_s
from ralph_tui.fleet.wording import fleet_sentence, loop_sentence, state_word
from ralph_tui.text.terms import LOOPS
from tests.fleet_events import a_loop, a_plan, three_tries
from tests.fleet_world import PlayedFleet
from tests.rows import each_row


def fleet(plan: Plan, slots: int = 2) -> PlayedFleet:
    """A fleet with one host, where placed loops begin at once."""
    played = PlayedFleet(plan)
    played.join("one", slots)
    begun(played)
    return played


def begun(played: PlayedFleet) -> list[str]:
    """Settle, start the placed loops, and return their names."""
    names = [made.loop for made in played.settle() if isinstance(made, ev.LoopPlaced)]
    played.begin(*names)
    return names


def numbered(count: int, **more: object) -> Plan:
    return a_plan(*(a_loop(str(number)) for number in range(1, count + 1)), **more)


def a_place(loop: str, attempt: int, host: str, *, resumed: bool = False) -> ev.LoopPlaced:
    branch = f"ralph/fleet-001/{loop}"
    return ev.LoopPlaced(loop=loop, attempt=attempt, host=host, branch=branch, resumed=resumed)


def outcome(played: PlayedFleet) -> str:
    played.settle()
    assert played.state.finished is not None
    return played.state.finished.outcome


class TestQueue:
    def test_loops_are_placed_in_order_as_slots_become_free(self) -> None:
        played = fleet(numbered(4))
        assert list(played.alive) == ["1", "2"]
        played.end("1")
        assert begun(played) == ["3"]

    def test_the_host_with_most_room_takes_the_next(self) -> None:
        played = PlayedFleet(numbered(4))
        played.join("one", 1)
        played.join("two", 3)
        made = [one.host for one in played.settle() if isinstance(one, ev.LoopPlaced)]
        assert sorted(made) == ["one", "two", "two", "two"]
        assert made[0] == "two"

    def test_a_host_on_which_a_loop_could_not_begin_rests_while_there_are_others(self) -> None:
        played = PlayedFleet(numbered(4))
        played.join("full", 1)
        played.join("good", 1)
        played.settle()
        failed = next(name for name, runs in played.alive.items() if runs[0].host == "full")
        played.end(failed, "failed", reason="no space left", never_began=True)
        assert begun(played) == [], "all queued loops would fail there"
        played.wait(59)
        assert begun(played) == []
        played.wait(1)
        assert [played.state.loops[name].host for name in begun(played)] == ["full"]

    def test_a_loop_that_could_not_begin_for_its_hosts_sake_is_tried_once_on_each(self) -> None:
        """Even if many hosts lack the program, one that has it is found once it is free."""
        played = PlayedFleet(numbered(2))
        for name in ("one", "two", "three", "four"):
            played.join(name, 1)
        played.settle()
        busy = played.state.loops["2"].host
        played.begin("2")
        hosts = []
        while played.state.loops["1"].status == "placing":
            hosts.append(played.state.loops["1"].host)
            played.end("1", "failed", reason="no claude", never_began=True, elsewhere=True)
            played.settle()
        assert sorted([*hosts, busy]) == ["four", "one", "three", "two"]
        assert played.state.loops["1"].status == "queued"
        played.end("2")
        played.collect("2")
        assert begun(played) == ["1"]
        assert played.state.loops["1"].host == busy

    def test_where_no_host_can_begin_it_has_failed(self) -> None:
        played = PlayedFleet(numbered(1))
        played.join("one")
        played.join("two")
        for _ in range(2):
            played.settle()
            played.end("1", "failed", reason="no space left", never_began=True, elsewhere=True)
        assert outcome(played) == "failed"

    def test_where_there_is_no_other_host_it_has_failed(self) -> None:
        played = PlayedFleet(numbered(1))
        played.join("full")
        played.settle()
        played.end("1", "failed", reason="no space left", never_began=True, elsewhere=True)
        assert outcome(played) == "failed"

    def test_a_host_that_is_alone_does_not_rest(self) -> None:
        played = PlayedFleet(numbered(2))
        played.join("one", 1)
        played.settle()
        played.end("1", "failed", reason="no space left", never_began=True)
        assert begun(played) == ["2"]

    def test_what_comes_after_waits_until_that_is_completed(self) -> None:
        played = fleet(a_plan(a_loop("1"), a_loop("2", after=("1",)), a_loop("3", after=("2",))))
        assert list(played.alive) == ["1"]
        played.end("1")
        assert begun(played) == ["2"]

    def test_what_comes_after_one_that_is_tried_again_waits_for_it_again(self) -> None:
        played = fleet(a_plan(a_loop("1"), a_loop("2", after=("1",)), a_loop("3", after=("1",))))
        played.record(ev.LoopSkipped(loop="3", reason="aborted by me", aborted=True))
        played.end("1", "failed", reason="uv: not found", never_began=True)
        played.state.loops["1"].run_id = ""
        assert outcome(played) == "failed"
        played.record(ev.FleetResumed(by="me"))
        played.join("one")
        assert begun(played) == ["1"]
        played.end("1")
        played.collect("1")
        assert begun(played) == ["2"]
        assert played.state.loops["3"].status == "skipped"

    def test_what_comes_after_a_failure_is_skipped_with_the_reason(self) -> None:
        played = fleet(a_plan(a_loop("1"), a_loop("2", after=("1",)), a_loop("3", after=("2",))))
        played.end("1", "failed")
        played.settle()
        assert played.state.loops["2"].reason == "it comes after 1, which did not complete"
        assert played.state.loops["3"].status == "skipped"
        played.collect("1")
        assert outcome(played) == "failed"

    def test_a_loop_skipped_after_a_limit_does_not_fail_its_fleet(self) -> None:
        played = fleet(a_plan(a_loop("1"), a_loop("2", after=("1",)), a_loop("3", after=("2",))))
        played.end("1", "limit_reached")
        played.settle()
        played.collect("1")
        assert outcome(played) == "limit_reached"
        assert [played.state.loops[name].status for name in "23"] == ["skipped"] * 2
        assert end_reason(played.state) == "all its loops have ended or were skipped"

    def test_a_queued_loop_is_skipped_when_its_fleet_is_aborted(self) -> None:
        played = fleet(numbered(3))
        played.record(ev.StopAsked(by="you", now=True, abort=True))
        played.settle()
        played.end("1", "aborted")
        played.end("2", "aborted")
        played.collect("1", "2")
        assert outcome(played) == "aborted"
        loop = played.state.loops["3"]
        assert loop.status == "skipped"
        said = loop_sentence(loop, played.state, played.state.at)
        assert said == "it did not run: the fleet was aborted"

    def test_starts_on_one_login_lie_apart(self) -> None:
        plan = a_plan(a_loop("1"), a_loop("2"), a_loop("3", account="work"), start_every_s=15.0)
        played = fleet(plan, slots=3)
        assert list(played.alive) == ["1", "3"]
        played.wait(14)
        assert played.settle() == []
        played.wait(1)
        assert begun(played) == ["2"]

    def test_a_login_has_so_many_loops_at_once(self) -> None:
        loops = [a_loop(str(number), account="work") for number in range(1, 4)]
        played = fleet(a_plan(*loops, accounts={"work": 1}), slots=3)
        assert list(played.alive) == ["1"]
        played.end("1")
        assert begun(played) == ["2"]

    def test_a_plan_of_nothing_is_over(self) -> None:
        assert outcome(PlayedFleet(a_plan())) == "completed"


class TestBudget:
    def test_each_loop_gets_its_share_of_what_is_left(self) -> None:
        plan = a_plan(
            a_loop("1", settings={"limits.budget_usd": "2"}), a_loop("2"), a_loop("3"), a_loop("4"),
            budget_usd=20.0,
        )  # fmt: skip
        played = fleet(plan, slots=2)
        given = {name: loop.given_usd for name, loop in played.state.loops.items()}
        assert given == {"1": 2.0, "2": 6.0, "3": None, "4": None}
        played.end("2", cost_usd=1.0)
        begun(played)  # 20 - 1 spent - 2 given to loop 1, for two loops
        assert played.state.loops["3"].given_usd == 8.5

    def test_a_loop_without_a_common_budget_has_its_own(self) -> None:
        played = fleet(a_plan(a_loop("1", settings={"limits.budget_usd": "2"}), a_loop("2")))
        assert [loop.given_usd for loop in played.state.loops.values()] == [2.0, None]

    def test_at_90_percent_nothing_new_begins_and_running_loops_go_on(self) -> None:
        played = fleet(numbered(3, budget_usd=10.0))
        played.say("1", cost_usd=9.0)
        made = played.settle()
        assert made == [
            ev.BudgetReached(percent=90, spent_usd=9.0, budget_usd=10.0),
            ev.LoopSkipped(loop="3", reason="the fleet has used 90 % of its budget"),
        ]
        assert played.state.loops["2"].stop_asked == ""

    def test_at_100_percent_running_loops_stop_after_their_iteration(self) -> None:
        played = fleet(numbered(2, budget_usd=10.0))
        played.say("1", cost_usd=10.5)
        made = played.settle()
        assert made[0] == ev.BudgetReached(percent=100, spent_usd=10.5, budget_usd=10.0)
        reason = "the fleet's budget is used up"
        assert made[1:] == [
            ev.LoopStopAsked(loop="1", reason=reason, now=False),
            ev.LoopStopAsked(loop="2", reason=reason, now=False),
        ]
        played.end("1", "interrupted", cost_usd=11.0)
        played.end("2", "completed")
        played.settle()
        played.collect("1", "2")
        assert outcome(played) == "limit_reached"
        assert played.state.finished is not None
        assert played.state.finished.reason == (
            "1 of 2 objectives completed, $11.00 of $10.00 used, $1.00 more than the budget"
        )

    def test_another_attempt_has_what_is_left_of_the_loops_own_budget(self) -> None:
        played = fleet(a_plan(a_loop("1", settings={"limits.budget_usd": "3"})))
        played.say("1", cost_usd=1.0)
        played.lose("one")
        played.wait(700)
        played.settle()
        played.join("two")
        played.settle()
        assert played.state.loops["1"].attempt == 2
        assert played.state.loops["1"].given_usd == 2.0

    def test_a_resumed_run_counts_on(self) -> None:
        played = fleet(a_plan(a_loop("1"), budget_usd=10.0))
        played.say("1", cost_usd=4.0)
        played.process_gone("1")
        played.settle()
        loop = played.state.loops["1"]
        assert (loop.attempt, loop.resumes, loop.given_usd) == (1, 1, 10.0)


class TestLeases:
    def test_a_lost_loop_runs_nowhere_else_before_lease_and_margin_have_passed(self) -> None:
        played = fleet(numbered(1, lease_s=100.0))
        lost_at = played.now
        played.lose("one")
        played.join("two")
        assert played.settle() == [ev.LoopLost(loop="1", until=lost_at + timedelta(seconds=110))]
        played.wait(109)
        assert played.settle() == []
        played.wait(1)
        made = played.settle()
        assert made[0] == ev.LoopRequeued(loop="1", reason="its host is lost", resume=False)
        assert made[1] == a_place("1", 2, "two")

    @each_row(("lease", "margin"), [(5.0, 10.0), (300.0, 30.0), (86_400.0, 60.0)])
    def test_the_margin_is_a_tenth_of_the_lease_within_limits(
        self, lease: float, margin: float
    ) -> None:
        assert margin_s(lease) == margin

    def test_a_host_that_is_back_in_time_keeps_its_loop(self) -> None:
        played = fleet(numbered(1))
        played.lose("one")
        played.settle()
        played.wait(300)
        played.join("one")
        assert played.settle() == []
        assert played.state.loops["1"].status == "running"

    def test_a_process_that_is_gone_goes_on_in_its_tree_twice_at_most(self) -> None:
        played = fleet(numbered(1))
        for resumes in (1, 2):
            played.process_gone("1")
            made = played.settle()
            assert made[-1] == a_place("1", 1, "one", resumed=True)
            assert played.state.loops["1"].resumes == resumes
        played.process_gone("1")
        played.settle()
        played.collect("1")
        assert outcome(played) == "failed"

    def test_it_waits_for_the_machine_that_has_its_tree(self) -> None:
        played = fleet(numbered(1))
        played.join("two")
        played.end("1", "interrupted", reason="its process died")
        played.lose("one")
        played.settle()
        assert played.state.loops["1"].resuming
        played.wait(60)
        assert played.settle() == []
        played.join("three", machine="one")  # another host with its trees
        assert played.settle() == [a_place("1", 1, "three", resumed=True)]

    def test_a_tree_that_does_not_come_back_is_replaced_by_a_new_one(self) -> None:
        played = fleet(numbered(1))
        played.join("two")
        played.end("1", "interrupted")
        played.lose("one")
        played.settle()
        played.wait(700)
        made = played.settle()
        assert made == [
            ev.LoopRequeued(loop="1", reason="its host is lost", resume=False),
            a_place("1", 2, "two"),
        ]  # fmt: skip

    def test_a_host_that_leaves_is_not_given_its_own_loops_again(self) -> None:
        played = PlayedFleet(numbered(2))
        played.join("one", 1)
        begun(played)
        played.record(ev.HostLeaving(host="one", reason="it was stopped by SIGINT"))
        played.end("1", "interrupted", reason="its host was stopped")
        assert played.settle() == [
            ev.LoopRequeued(loop="1", reason="its host was stopped", resume=True)
        ]
        played.record(ev.HostLost(host="one", left=True))
        played.join("one", 1)
        assert begun(played) == ["1"], "it continues in its clone"

    def test_a_host_that_has_left_is_waited_for_no_longer_than_a_margin(self) -> None:
        """It runs nothing: it has stopped its loops."""
        played = PlayedFleet(numbered(1, lease_s=100.0))
        played.join("one", 1)
        played.join("two", 1)
        begun(played)
        host = played.state.loops["1"].host
        played.end("1", "interrupted", reason="its host was stopped")
        played.record(ev.HostLost(host=host, reason="it was stopped", left=True))
        assert played.settle() == [
            ev.LoopRequeued(loop="1", reason="its host was stopped", resume=True)
        ]
        played.wait(margin_s(100.0) - 1)
        assert played.settle() == []
        played.wait(1)
        assert begun(played) == ["1"]
        assert played.state.loops["1"].host != host

    def test_a_resume_that_finds_no_tree_begins_anew(self) -> None:
        played = fleet(numbered(1))
        played.process_gone("1")
        played.settle()
        played.end("1", "failed", reason="there is no tree", never_began=True)
        made = played.settle()
        assert made[-1] == a_place("1", 2, "one")

    def test_a_loop_whose_setup_fails_has_failed(self) -> None:
        played = PlayedFleet(numbered(1))
        played.join("one")
        played.settle()
        played.end("1", "failed", reason="uv: not found", never_began=True)
        assert outcome(played) == "failed"

    def test_a_loop_that_loses_three_hosts_has_failed(self) -> None:
        played = PlayedFleet(numbered(1))
        for name in ("one", "two", "three"):
            played.join(name)
            begun(played)
            played.lose(name, killed=True)
            played.settle()
            played.wait(700)
            played.settle()
        loop = played.state.loops["1"]
        assert (loop.outcome, loop.reason) == (
            "failed",
            "its host is lost, and it was lost 3 times",
        )

    def test_a_fleet_that_is_resumed_goes_on_with_what_was_stopped(self) -> None:
        played = fleet(numbered(3))
        played.record(ev.StopAsked(by="you", now=True))
        made = played.settle()
        assert made == [
            ev.LoopStopAsked(loop="1", reason="the fleet was stopped", now=True),
            ev.LoopStopAsked(loop="2", reason="the fleet was stopped", now=True),
        ]
        played.end("1", "interrupted")
        played.end("2", "interrupted")
        played.settle()
        played.collect("1", "2")
        assert outcome(played) == "interrupted"
        played.record(ev.FleetResumed(by="you"))
        played.join("one")
        played.settle()
        placed = [one for one in played.made[-4:] if isinstance(one, ev.LoopPlaced)]
        assert [(one.loop, one.resumed) for one in placed] == [("1", True), ("2", True)]

    def test_a_resumed_fleet_waits_for_its_own_host_before_it_calls_loops_lost(self) -> None:
        played = PlayedFleet(a_plan(a_loop("1")))
        played.join(HERE)
        assert begun(played) == ["1"]
        played.record(ev.FleetResumed(by="you"))
        assert played.settle() == []
        played.wait(11.0)  # no loops are to run here
        (lost,) = played.settle()
        assert isinstance(lost, ev.LoopLost)


class TestAccounts:
    def limited(self, slots: int = 3, **more: object) -> PlayedFleet:
        """Two of four loops of an account run, and the first has reached its limit."""
        loops = [a_loop(str(number), account="work") for number in range(1, 5)]
        played = fleet(a_plan(*loops, accounts={"work": 2}, **more), slots)
        self.until = played.now + timedelta(hours=1)
        played.say("1", "limited", waits_for="usage_limit", until=self.until)
        return played

    def test_a_limit_with_an_end_holds_the_login(self) -> None:
        played = self.limited()
        made = played.settle()
        assert made == [
            ev.AccountHeld(
                account="work", until=self.until, cause="usage_limit", reason="reported by loop 1"
            )
        ]
        played.end("2")
        assert begun(played) == []

    @each_row(
        "says", [{"waits_for": "disk_full"}, {"waits_for": "usage_limit", "until": None},
                 {"question": "May I?"}],
    )  # fmt: skip
    def test_a_wait_that_is_not_the_logins_holds_nothing(self, says: dict[str, object]) -> None:
        played = fleet(numbered(1))
        until = played.now + timedelta(hours=1)
        played.say("1", "limited", **{"until": until, **says})
        assert played.settle() == []

    def test_one_tries_first_and_the_others_follow_in_steps(self) -> None:
        played = self.limited(start_every_s=0.0)
        played.say("2", "limited", waits_for="usage_limit", until=self.until)
        played.settle()
        played.state.plan = played.state.plan.model_copy(update={"start_every_s": 15.0})
        played.plan = played.state.plan
        played.wait(3599)
        assert played.settle() == []
        played.wait(1)
        assert played.settle() == [ev.LoopRetried(loop="1")]
        played.wait(5)
        assert played.settle() == []
        played.say("1", "agent")
        played.wait(9)
        assert played.settle() == []
        played.wait(1)
        assert played.settle() == [
            ev.AccountReleased(account="work", loop="1"),
            ev.LoopRetried(loop="2"),
        ]
        played.say("2", "agent")
        played.end("1")
        assert begun(played) == []
        played.wait(15)
        assert begun(played) == ["3"]

    def test_one_whose_session_has_just_begun_is_not_taken_for_served(self) -> None:
        played = self.limited()
        played.say("2", "limited", waits_for="usage_limit", until=self.until)
        played.settle()
        played.wait(3600)
        assert played.settle() == [ev.LoopRetried(loop="1")]
        played.say("1", "agent")
        played.wait(2)
        assert played.settle() == []
        later = self.until + timedelta(hours=1)
        played.say("1", "limited", waits_for="usage_limit", until=later)
        assert [type(one) for one in played.settle()] == [ev.AccountHeld]
        played.wait(3600)
        assert played.settle() == [ev.LoopRetried(loop="1")]
        played.say("1", "agent")
        played.say("1", "verifying")
        assert played.settle()[0] == ev.AccountReleased(account="work", loop="1")

    def test_one_that_completes_at_once_was_served(self) -> None:
        played = self.limited(start_every_s=0.0)
        played.say("2", "limited", waits_for="usage_limit", until=self.until)
        played.settle()
        played.wait(3600)
        played.settle()
        played.say("1", "agent")
        played.end("1")
        about = [one for one in played.settle() if not isinstance(one, ev.CollectionAsked)]
        assert about[:2] == [ev.AccountReleased(account="work", loop="1"), ev.LoopRetried(loop="2")]

    def test_a_limit_that_ended_while_no_fleet_was_there_is_waited_for_no_longer(self) -> None:
        loops = [a_loop(str(number), account="work") for number in (1, 2)]
        played = fleet(a_plan(*loops, start_every_s=0.0))
        until = played.now + timedelta(hours=1)
        played.wait(7200)
        for name in "12":
            played.say(name, "limited", waits_for="usage_limit", until=until)
        assert played.settle() == [ev.LoopRetried(loop="1"), ev.LoopRetried(loop="2")]
        assert played.settle() == []

    def test_who_is_told_when_waits_longer_than_all_before_may_take(self) -> None:
        loops = [a_loop(str(number), account="work") for number in range(1, 6)]
        plan = a_plan(*loops, a_loop("6", account="other"), start_every_s=15.0)
        assert patience_s(plan, "work") == 120 + 4 * 15
        assert patience_s(plan, "other") == 120

    def test_the_limit_that_is_met_again_holds_it_longer(self) -> None:
        played = self.limited()
        played.settle()
        played.wait(3600)
        played.settle()
        played.wait(1)
        later = self.until + timedelta(hours=5)
        played.say("1", "limited", waits_for="usage_limit", until=later)
        again = ev.AccountHeld(
            account="work", until=later, cause="usage_limit", reason="reported again by loop 1"
        )
        assert played.settle() == [again]

    def test_one_that_tries_and_says_nothing_does_not_hold_the_others_for_ever(self) -> None:
        played = self.limited()
        played.settle()
        played.wait(3600)
        assert played.settle() == [ev.LoopRetried(loop="1")]
        played.wait(119)
        assert played.settle() == []
        played.wait(1)
        assert played.settle()[0] == ev.AccountReleased(account="work")

    def test_a_login_without_a_running_loop_is_free_when_its_limit_ends(self) -> None:
        played = self.limited()
        played.settle()
        played.end("1", "failed")
        played.end("2", "failed")
        played.settle()
        played.wait(3600)
        assert played.settle()[0] == ev.AccountReleased(account="work")

    def test_loops_without_an_account_share_their_agents_limit(self) -> None:
        claude = {"agent.name": "claude"}
        plan = a_plan(a_loop("1", settings=claude), a_loop("2", settings=claude), a_loop("3"))
        played = fleet(plan, slots=1)
        played.say("1", "limited", until=played.now + timedelta(hours=1))
        played.settle()
        played.end("1", "failed")
        assert begun(played) == ["3"]


class TestTries:
    def test_the_first_that_completes_and_passes_again_wins_and_the_others_stop(self) -> None:
        played = fleet(a_plan(*three_tries()))
        played.end("3b")
        assert played.settle() == [ev.CollectionAsked(loop="3b")]  # no third attempt meanwhile
        played.collect("3b")
        assert played.settle() == [ev.VerificationBegan(loop="3b")]
        played.verify("3b")
        reason = "another attempt, 3b, has won"
        assert played.settle() == [
            ev.WinnerChosen(tries_at="3", loop="3b", reason="it completed first"),
            ev.LoopStopAsked(loop="3a", reason=reason, now=True),
            ev.LoopSkipped(loop="3c", reason="3b was chosen before it started"),
        ]
        skipped = played.state.loops["3c"]
        said = loop_sentence(skipped, played.state, played.now)
        assert state_word(skipped) == LOOPS["skipped"].word, "as in the log and on the screen"
        assert said == "it did not run: 3b was chosen before it started"
        played.end("3a", "interrupted")
        assert played.settle() == [ev.CollectionAsked(loop="3a")]
        played.collect("3a")
        assert outcome(played) == "completed"

    def test_one_that_fails_in_a_fresh_clone_is_passed_over(self) -> None:
        played = fleet(a_plan(*three_tries()))
        played.end("3b")
        played.settle()
        played.collect("3b")
        played.settle()
        played.verify("3b", passed=False)
        assert begun(played) == ["3c"]
        played.end("3a", "limit_reached")
        played.end("3c")
        played.settle()
        played.collect("3a", "3c")
        played.settle()
        played.verify("3c")
        made = played.settle()
        assert made[0] == ev.WinnerChosen(
            tries_at="3", loop="3c", reason="it completed first; 3b could not be confirmed"
        )

    def test_none_that_completes_is_told_with_the_reason(self) -> None:
        played = fleet(a_plan(*three_tries()), slots=3)
        for name in ("3a", "3b", "3c"):
            played.end(name, "failed")
        played.settle()
        assert played.state.chosen["3"].reason == "none of 3 attempts completed"
        played.collect("3a", "3b", "3c")
        assert outcome(played) == "failed"

    def test_one_that_cannot_be_collected_does_not_win(self) -> None:
        played = fleet(a_plan(*three_tries()[:2]))
        played.end("3a")
        played.end("3b", "failed")
        played.settle()
        played.record(ev.CollectionFailed(loop="3a", reason="no room"))
        played.settle()
        assert played.state.chosen["3"].loop == ""
        assert "3a: no room" in played.state.chosen["3"].reason

    @each_row(
        ("tries", "best", "why"),
        [
            (
                {"3a": (1.0, 55, 1), "3b": (1.0, 50, 9), "3c": (1.0, 60, 1)},
                "3b",
                "3 completed, and it changed the fewest lines, 50",
            ),
            (
                {"3a": (0.9, 5, 1), "3b": (1.0, 50, 9), "3c": (1.0, 60, 1)},
                "3b",
                "it is as good as 3c, and it changed fewer lines, 50",
            ),
            (
                {"3a": (1.0, 9, 1), "3b": (1.0, 6, 3), "3c": (1.0, 6, 4)},
                "3b",
                "it is as good as 3c, and it cost less",
            ),
            (
                {"3a": (1.0, 9, 3), "3b": (1.0, 6, 3), "3c": (1.0, 6, 3)},
                "3b",
                "it is as good as 3c, and it comes first",
            ),
            (
                {"3a": (1.0, 5, 3.0), "3b": (1.0, 5, 2.0), "3c": (1.0, 5, 4.0)},
                "3b",
                "cost the least",
            ),
            (
                {"3a": (1.0, 5, 3), "3b": (1.0, 5, 3), "3c": (1.0, 5, 3)},
                "3a",
                "3 completed equally well",
            ),
            ({"3a": (0.8, 5, 3), "3b": (0.9, 5, 3), "3c": (0.7, 5, 3)}, "3b", "is the best of 3"),
        ],
    )
    def test_of_all_the_best_wins(
        self, tries: dict[str, tuple[float, int, float]], best: str, why: str
    ) -> None:
        played = fleet(a_plan(*three_tries("all")), slots=3)
        for name, (completion, lines, cost) in tries.items():
            assert not [made for made in played.settle() if isinstance(made, ev.VerificationBegan)]
            played.end(name, completion=completion, cost_usd=cost)
            played.settle()
            played.collect(name, changed_lines=lines)
        assert played.settle() == [ev.VerificationBegan(loop=best)]
        played.verify(best)
        played.settle()
        assert played.state.chosen["3"].loop == best
        assert why in played.state.chosen["3"].reason

    def test_a_try_without_a_command_is_taken_at_its_word(self) -> None:
        tries = three_tries(command=None, criterion="it is nice")
        played = fleet(a_plan(*tries))
        played.end("3a")
        played.settle()
        played.collect("3a")
        assert played.settle()[0] == ev.WinnerChosen(
            tries_at="3", loop="3a", reason="it completed first"
        )

    def test_what_comes_after_several_tries_waits_for_the_winner(self) -> None:
        played = fleet(a_plan(*three_tries()[:2], a_loop("4", after=("3",))), slots=3)
        played.end("3a")
        played.settle()
        played.collect("3a")
        assert begun(played) == []
        played.verify("3a")
        assert begun(played) == ["4"]

    def test_a_lost_try_that_is_beaten_is_not_waited_for(self) -> None:
        played = PlayedFleet(a_plan(*three_tries()[:2]))
        played.join("one", 1)
        played.join("two", 1)
        begun(played)
        lost = played.state.loops["3b"].host
        played.lose(lost)
        played.end("3a")
        played.settle()
        played.collect("3a")
        played.settle()
        played.verify("3a")
        assert outcome(played) == "completed"
        assert played.state.loops["3b"].reason == "its host is lost"


class TestEnd:
    def test_what_was_done_is_collected_before_the_end(self) -> None:
        played = fleet(numbered(1))
        played.end("1")
        assert played.settle() == [ev.CollectionAsked(loop="1")]
        assert decide(played.state, played.now) == []
        played.collect("1")
        assert played.settle() == [
            ev.FleetFinished(outcome="completed", reason="1 of 1 objective completed")
        ]

    def test_work_on_a_host_that_is_lost_is_waited_for_and_then_left_there(self) -> None:
        played = fleet(numbered(1))
        played.end("1")
        played.settle()
        played.lose("one")
        played.wait(600)
        assert played.settle() == []
        played.wait(100)
        made = played.settle()
        assert made[0] == ev.CollectionFailed(
            loop="1", reason="its host is lost, one: its work stays there, in /t"
        )
        assert played.state.finished is not None

    def test_a_host_that_comes_back_is_asked_again(self) -> None:
        played = fleet(numbered(2))
        played.end("1")
        played.settle()
        played.lose("one")
        played.join("one")
        assert played.settle() == [ev.CollectionAsked(loop="1")]

    def test_a_stop_lets_iterations_end_and_leaves_the_queue(self) -> None:
        played = fleet(numbered(3))
        played.record(ev.StopAsked(by="you"))
        reason = "the fleet was stopped"
        assert played.settle() == [
            ev.LoopStopAsked(loop="1", reason=reason, now=False),
            ev.LoopStopAsked(loop="2", reason=reason, now=False),
        ]  # fmt: skip
        played.record(ev.StopAsked(by="the terminal pts/3", now=True))
        assert played.settle() == [
            ev.LoopStopAsked(loop="1", reason=reason, now=True),
            ev.LoopStopAsked(loop="2", reason=reason, now=True),
        ]  # fmt: skip
        played.end("1")
        played.end("2", "interrupted")
        played.settle()
        played.collect("1", "2")
        assert outcome(played) == "interrupted"
        assert played.state.loops["3"].status == "queued"
        assert played.state.finished is not None
        by = "you (terminal pts/3)"
        assert played.state.finished.reason == f"stopped by {by}: 1 of 3 objectives completed"

    def test_a_fleet_that_its_user_stops_is_stopped_whatever_was_aborted_before(self) -> None:
        played = fleet(numbered(3), slots=3)
        played.end("1")
        played.end("2", "aborted")
        played.record(ev.StopAsked(by="you", now=True))
        played.settle()
        played.end("3", "interrupted")
        played.settle()
        played.collect("1", "2", "3")
        assert outcome(played) == "interrupted"

    @each_row("first", ["limit_reached", "failed"])
    def test_a_stop_outweighs_attempts_that_ended_before(self, first: Outcome) -> None:
        played = fleet(a_plan(*three_tries("all")), slots=2)
        played.end("3a", first)
        played.record(ev.StopAsked(by="the terminal pts/3", now=True))
        played.settle()
        played.end("3b", "interrupted")
        played.settle()
        played.collect("3a", "3b")
        assert outcome(played) == "interrupted"
        assert fleet_sentence(played.state, played.now) == (
            "stopped by you (terminal pts/3): 0 of 1 objective completed"
        )

    @each_row(
        ("first", "sentence"),
        [
            ("failed", "failed: 1 of 2 objectives completed"),
            ("limit_reached", "limit reached: 1 of 2 objectives completed"),
            ("completed", "completed: 2 of 2 objectives completed"),
        ],
    )
    def test_a_stop_that_found_nothing_to_stop_hides_no_outcome(
        self, first: Outcome, sentence: str
    ) -> None:
        played = fleet(numbered(2))
        played.end("1", first)
        played.record(ev.StopAsked(by="you"))
        played.settle()
        played.end("2")
        played.settle()
        played.collect("1", "2")
        assert outcome(played) == first
        assert fleet_sentence(played.state, played.now) == sentence

    def test_an_aborted_fleet_does_not_wait_for_what_is_lost(self) -> None:
        played = fleet(numbered(3))
        played.lose("one")
        played.settle()
        played.record(ev.StopAsked(by="you", now=True, abort=True))
        assert outcome(played) == "aborted"

    def test_a_loop_that_its_owner_stops_stays_stopped(self) -> None:
        played = fleet(numbered(1))
        played.record(ev.CommandGiven(loop="1", name="stop", by="you"))
        played.end("1", "interrupted")
        assert played.settle() == [ev.CollectionAsked(loop="1")]
        played.collect("1")
        assert outcome(played) == "interrupted"

    @each_row(
        ("outcomes", "fleets"),
        [
            (("completed", "completed"), "completed"),
            (("completed", "limit_reached"), "limit_reached"),
            (("limit_reached", "failed"), "failed"),
            (("completed", "aborted"), "aborted"),
            (("aborted", "limit_reached"), "limit_reached"),
        ],
    )
    def test_the_worst_of_the_objectives_is_the_outcome(
        self, outcomes: tuple[str, str], fleets: str
    ) -> None:
        played = fleet(numbered(2))
        for name, one in zip("12", outcomes, strict=True):
            played.end(name, one)  # type: ignore[arg-type]
        played.settle()
        played.collect("1", "2")
        assert outcome(played) == fleets


class TestEnding:
    """How a fleet ended."""

    @staticmethod
    def without_a_branch() -> PlayedFleet:
        """Two have completed, and the second's work could not be collected."""
        played = fleet(numbered(2))
        played.end("1")
        played.end("2")
        played.collect("1")
        played.record(ev.CollectionFailed(loop="2", reason="its git is gone"))
        played.settle()
        return played

    def test_what_completed_and_is_no_branch_is_not_called_completed(self) -> None:
        played = self.without_a_branch()
        finished = played.state.finished
        assert finished is not None
        assert finished.outcome == "failed"
        assert finished.reason == (
            "2 of 2 objectives completed, but the work of loop 2 could not be collected"
        )
        again = "; 'ralph-tui fleet resume' tries to collect it again"
        assert fleet_sentence(played.state, played.state.at).endswith(again)
        assert not end_reason(played.state), "a resumed fleet asks for it once more"
        played.record(ev.FleetResumed(by="you"))
        played.join("one")
        assert ev.CollectionAsked(loop="2") in played.settle()

    def test_what_was_removed_is_asked_for_no_more(self) -> None:
        played = self.without_a_branch()
        why = "its tree was removed"
        played.record(ev.CollectionFailed(loop="2", reason=why, final=True))
        assert fleet_sentence(played.state, played.state.at).endswith("could not be collected")
        assert end_reason(played.state) == "all its loops have ended"
        played.record(ev.FleetResumed(by="you"))
        played.join("one")
        assert ev.CollectionAsked(loop="2") not in played.settle()
        assert played.state.loops["2"].not_collected == why
        finished = played.state.finished
        assert finished is not None
        assert finished.outcome == "failed", "it completed, and is no branch"
