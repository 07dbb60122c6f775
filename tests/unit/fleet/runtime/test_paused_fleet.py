"""Pausing a whole fleet holds its queue, and pauses loops that begin anyway."""

from pathlib import Path

from ralph_tui.adapters.records.runs import STATUS_VERSION
from ralph_tui.commands import Pause, Unpause
from ralph_tui.fleet import events as ev
from ralph_tui.fleet import ports as seen
from ralph_tui.ports.clones import Place
from ralph_tui.ports.host import Accepted, Refused
from tests.doubles.played_hosts import PlayedHosts
from tests.fleet_events import a_loop, a_plan
from tests.unit.fleet.runtime.test_engine import begin, over, running, work_of

PLAN = a_plan(a_loop("1"), a_loop("2"))


def slow(hosts: PlayedHosts, _: str, order: seen.Order) -> None:
    """A host whose loops begin on the test's signal."""
    match order:
        case seen.SendCommand():
            hosts.observe(seen.CommandAnswered(id=order.id, accepted=3))
        case seen.Collect():
            hosts.observe(work_of(order))


def test_its_queue_is_held_until_it_is_unpaused(tmp_path: Path) -> None:
    with running(tmp_path, PLAN, slow) as fleet:
        fleet.hosts.join("h", slots=1)
        place = fleet.hosts.wait_for(Place)[0]
        begin(fleet.hosts, place)
        fleet.wait_for(ev.LoopBegan, loop="1")
        assert isinstance(fleet.ask(Pause()), Accepted)
        assert fleet.ask(Pause()) == Refused("the fleet is already paused")
        fleet.hosts.observe(over(place, "completed"))
        fleet.wait_for(ev.ResultCollected, loop="1")
        assert fleet.engine.state.loops["2"].status == "queued"
        assert isinstance(fleet.ask(Unpause()), Accepted)
        assert fleet.ask(Unpause()) == Refused("the fleet is not paused")
        fleet.wait_for(ev.LoopPlaced, loop="2")


def test_a_loop_that_was_on_its_way_is_paused_when_it_begins(tmp_path: Path) -> None:
    with running(tmp_path, PLAN, slow) as fleet:
        fleet.hosts.join("h", slots=1)
        place = fleet.hosts.wait_for(Place)[0]
        fleet.ask(Pause(by="you"))
        begin(fleet.hosts, place)
        (order,) = fleet.hosts.wait_for(seen.SendCommand)
        assert (order.loop, order.command["name"], order.command["by"]) == ("1", "pause", "you")


def test_a_pause_is_pending_from_its_answer_until_the_run_reports_otherwise(tmp_path: Path) -> None:
    def status(seq: int, *, pending: bool, **more: object) -> seen.StatusChanged:
        known = {"version": STATUS_VERSION, "run_id": "r1", "phase": "agent", "seq": seq}
        fields = {**known, "pause_requested": pending, **more}
        return seen.StatusChanged(loop="1", attempt=1, status=fields)

    def is_pending() -> bool:
        return fleet.engine.state.loops["1"].pause_requested

    with running(tmp_path, PLAN, slow) as fleet:
        fleet.hosts.join("h", slots=1)
        begin(fleet.hosts, fleet.hosts.wait_for(Place)[0])
        fleet.wait_for(ev.LoopBegan, loop="1")
        assert fleet.ask(Pause(), "1") == Accepted(3)
        assert is_pending()
        fleet.hosts.observe(status(2, pending=False, iteration=1))  # older than the command
        fleet.wait_for(ev.LoopProgressed, iteration=1)
        assert is_pending()
        fleet.hosts.observe(status(4, pending=False, iteration=2))
        fleet.wait_for(ev.LoopProgressed, iteration=2)
        assert not is_pending()
        fleet.hosts.observe(status(5, pending=True, iteration=2))  # requested in the loop's clone
        fleet.wait_for(ev.LoopProgressed, pause_requested=True)
