"""A host's leftovers of an overtaken loop: saved, then removed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph_tui.fleet import events as ev
from ralph_tui.fleet import ports as seen
from ralph_tui.ports.clones import Collected, Place
from tests.doubles.played_hosts import PlayedHosts
from tests.fleet_events import a_loop, a_plan
from tests.unit.fleet.runtime.test_engine import RUN, Fleet, begin, lines, running

OLD = {"loop": "1", "attempt": 1}
WORK = Collected(**OLD, branch="ralph/fleet-001/1", commit="c1", bundle=b"b")


def once_elsewhere(hosts: PlayedHosts, _: str, order: seen.Order) -> None:
    """The first attempt cannot begin on its host; the second continues."""
    if isinstance(order, Place):
        begin(hosts, order)
        if order.attempt == 1:
            hosts.observe(
                seen.Ended(
                    **OLD, outcome="failed", reason="no room", never_began=True, elsewhere=True
                )
            )


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """Its loop runs on another host than before."""
    with running(tmp_path, a_plan(a_loop("1")), once_elsewhere) as fleet:
        fleet.hosts.join("far", home="far")
        fleet.hosts.join("h", home="h")
        fleet.wait_for(ev.LoopRequeued)
        second = fleet.hosts.wait_for(Place, 2)[1]
        assert second.attempt == 2
        assert [host for host, order in fleet.hosts.orders if order is second] != [
            host for host, order in fleet.hosts.orders if order is fleet.hosts.of(Place)[0]
        ]
        yield fleet


def rejoin(fleet: Fleet, *, alive: bool) -> str:
    """The first host returns with what it still has."""
    host = fleet.hosts.orders[0][0]
    fleet.hosts.join(host, seen.LoopSummary(**OLD, alive=alive, seq=9), home=host)
    return host


def removed(fleet: Fleet) -> list[tuple[str, int]]:
    return [(order.loop, order.attempt) for order in fleet.hosts.of(seen.Remove)]


def test_its_work_is_a_branch_before_its_tree_goes(fleet: Fleet) -> None:
    fleet.mirror("1", 1).append(1, lines(RUN))
    host = rejoin(fleet, alive=False)
    assert fleet.hosts.wait_for(seen.Collect)[0].attempt == 1
    assert removed(fleet) == []
    fleet.hosts.observe(WORK)
    fleet.wait_for(ev.AttemptKept, host=host, attempt=1, branch="kept")
    assert removed(fleet) == [("1", 1)]
    assert fleet.results.kept_of == RUN.run_id, "its snapshots come with it"
    assert fleet.engine.state.loops["1"].commit == "", "it is not the work of the loop"


def test_one_that_is_alive_is_ended_before(fleet: Fleet) -> None:
    rejoin(fleet, alive=True)
    assert fleet.hosts.wait_for(seen.End)[0].attempt == 1
    assert fleet.hosts.of(seen.Collect) == []
    fleet.hosts.observe(seen.Ended(**OLD, outcome="interrupted"))
    assert fleet.hosts.wait_for(seen.Collect)[0].attempt == 1
    assert fleet.engine.state.loops["1"].status == "running"


def test_where_nothing_was_made_nothing_is_said(fleet: Fleet) -> None:
    rejoin(fleet, alive=False)
    fleet.hosts.wait_for(seen.Collect)
    fleet.hosts.observe(seen.NotCollected(**OLD, reason="no tree", never_began=True))
    fleet.hosts.wait_for(seen.Remove)
    assert removed(fleet) == [("1", 1)]
    assert not [one for one in fleet.events if isinstance(one, ev.FleetNoticed)]


@pytest.mark.parametrize(
    "answer",
    [
        seen.NotCollected(**OLD, reason="its repository is another one"),
        WORK.model_copy(update={"bundle": b"refused"}),
    ],
)
def test_what_cannot_be_kept_stays_where_it_is(fleet: Fleet, answer: seen.Observation) -> None:
    rejoin(fleet, alive=False)
    fleet.hosts.wait_for(seen.Collect)
    fleet.hosts.observe(answer)
    assert fleet.wait_for(ev.FleetNoticed).level == "warn"
    assert removed(fleet) == []
