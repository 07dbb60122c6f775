"""Pending orders to a loop survive its host's return, with or without its processes."""

from functools import partial
from pathlib import Path

from ralph_tui.commands import Abort, Stop
from ralph_tui.fleet import events as ev
from ralph_tui.fleet import ports as seen
from ralph_tui.fleet.records import read_fleet
from ralph_tui.ports.clones import Place
from tests.doubles.played_hosts import PlayedHosts
from tests.fleet_events import a_loop, a_plan
from tests.rows import each_row
from tests.unit.fleet.runtime.test_engine import Fleet, begin, over, running, work_of

PLAN = a_plan(a_loop("1"), a_loop("2"))


def found_on_disk(hosts: PlayedHosts, _: str, order: seen.Order) -> None:
    """A restarted host has its loops' worktrees, but no running process."""
    match order:
        case Place(resume=False):
            begin(hosts, order)
        case seen.SendCommand():
            hosts.observe(seen.CommandAnswered(id=order.id, accepted=3))
        case seen.Adopt():
            hosts.observe(over(order, "interrupted", reason="its process died", seq=3))
        case seen.Collect():
            hosts.observe(work_of(order))


def held(*, alive: bool) -> list[seen.LoopSummary]:
    return [seen.LoopSummary(loop=name, attempt=1, alive=alive) for name in "12"]


@each_row("alive", [False, True])
def test_a_loop_that_was_stopped_does_not_go_on_by_itself(tmp_path: Path, *, alive: bool) -> None:
    with running(tmp_path, PLAN, found_on_disk) as fleet:
        fleet.hosts.join("h", slots=2, home="home")
        for name in "12":
            fleet.wait_for(ev.LoopBegan, loop=name)
        fleet.ask(Stop(mode="after_iteration"), "1")
        fleet.hosts.observe(seen.Disconnected(host="h", reason="killed"))
        fleet.wait_for(ev.LoopLost, loop="1")
        fleet.hosts.join("h", *held(alive=alive), slots=2, home="home")
        fleet.wait_for(ev.LoopEnded, loop="1")
        fleet.wait_for(ev.ResultCollected, loop="1")
        fleet.wait_for(ev.LoopPlaced, loop="2", resumed=True)
        assert fleet.engine.state.loops["1"].status == "ended"


def test_what_an_aborted_loop_has_made_is_collected_though_it_was_queued(tmp_path: Path) -> None:
    with running(tmp_path, PLAN, found_on_disk) as fleet:
        fleet.hosts.join("h", slots=1, home="home")
        fleet.wait_for(ev.LoopBegan, loop="1")
        fleet.hosts.observe(seen.Leaving(host="h", reason="it was stopped"))
        fleet.hosts.observe(
            seen.Ended(loop="1", attempt=1, outcome="interrupted", reason="its host was stopped")
        )
        fleet.wait_for(ev.LoopRequeued, loop="1", resume=True)
        fleet.hosts.observe(seen.Disconnected(host="h", reason="it was stopped", left=True))
        fleet.wait_for(ev.HostLost)
        fleet.ask(Abort(), "1")
        assert fleet.engine.state.loops["1"].outcome == "aborted"
        fleet.hosts.join("h", *held(alive=False)[:1], slots=1, home="home")
        fleet.wait_for(ev.ResultCollected, loop="1")
        kinds = [order.kind for _, order in fleet.hosts.orders if getattr(order, "loop", "") == "1"]
        assert kinds.index("collect") < kinds.index("remove")


def stopped_in_order(hosts: PlayedHosts, _: str, order: seen.Order) -> None:
    """A host that obeys any process of the fleet."""
    match order:
        case Place(resume=False):
            begin(hosts, order)
        case Place():
            hosts.observe(over(order, "completed"))
        case seen.SendCommand():
            hosts.observe(seen.CommandAnswered(id=order.id, accepted=3))
            reason = "stopped after iteration 1, as requested"
            hosts.observe(
                seen.Ended(loop=order.loop, attempt=1, outcome="interrupted", reason=reason)
            )
        case seen.Adopt():
            hosts.observe(over(order, "interrupted", reason="its process died", seq=3))
        case seen.Collect():
            hosts.observe(work_of(order))


def test_a_loop_that_was_stopped_in_order_ends_once(tmp_path: Path) -> None:
    """A resumed fleet knows how it ended, and looks for no other reason."""
    with running(tmp_path, a_plan(a_loop("1")), stopped_in_order) as fleet:
        fleet.hosts.join("h", home="home")
        fleet.wait_for(ev.LoopBegan)
        fleet.ask(Stop(mode="after_iteration"))
        assert fleet.end().outcome == "interrupted"
    state = read_fleet(tmp_path / "events.jsonl").state()
    again = Fleet(tmp_path, PlayedHosts(stopped_in_order), state)
    again.engine.begin(ev.FleetResumed(by="me"))
    again.wait_for(ev.LoopRequeued)
    again.hosts.join("h", held(alive=False)[0], home="home")
    assert again.end().outcome == "completed"
    assert again.hosts.of(seen.Adopt) == []
    ends = [event.outcome for event in again.events if isinstance(event, ev.LoopEnded)]
    assert ends == ["completed"]
    assert sum(isinstance(event, ev.LoopRequeued) for event in again.events) == 1


BEFORE = "its run was stopped before its first event"


def dead_before(number: int, hosts: PlayedHosts, _: str, order: seen.Order) -> None:
    """A host whose first attempts at a loop are killed before they record anything."""
    match order:
        case Place() if order.attempt > number:
            begin(hosts, order)
            hosts.observe(over(order, "completed"))
        case seen.Adopt():
            hosts.observe(over(order, "interrupted", reason=BEFORE, never_began=True))
        case seen.Collect():
            hosts.observe(work_of(order))


@each_row("ended", [False, True])
def test_a_loop_that_was_killed_before_it_began_begins_at_every_resume(
    tmp_path: Path, *, ended: bool
) -> None:
    """Its host finds the dead attempt's worktree, which says nothing about the next attempt."""
    playing = partial(dead_before, 3)
    with running(tmp_path, a_plan(a_loop("1")), playing) as fleet:
        fleet.hosts.join("h")
        for attempt in (1, 2, 3):
            place = fleet.hosts.wait_for(Place, attempt)[-1]
            assert place.attempt == attempt
            if attempt < 3 or ended:
                fleet.hosts.observe(over(place, "interrupted", reason=BEFORE, never_began=True))
        if ended:
            assert fleet.end().outcome == "failed"
        # Otherwise it is killed: nothing more is recorded.
        again = Fleet(tmp_path, PlayedHosts(playing), read_fleet(tmp_path / "events.jsonl").state())
        again.engine.begin(ev.FleetResumed(by="me"))
        if ended:
            again.wait_for(ev.LoopRequeued, loop="1")
        again.hosts.join("h", seen.LoopSummary(loop="1", attempt=3, alive=False))
        assert again.hosts.wait_for(Place)[0].attempt == 4
        assert again.end().outcome == "completed"
