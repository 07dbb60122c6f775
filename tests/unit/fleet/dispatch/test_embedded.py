"""A fleet whose only host is in its own process."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph_tui.fleet.dispatch.dispatcher import DaskDispatcher
from ralph_tui.fleet.ports import Collect, CommandAnswered, End, Ended, Joined, SendCommand
from ralph_tui.ports.clones import Base, Collected
from tests.dispatched import Heard, listening, place
from tests.doubles.loop_host import PlayedHost
from tests.waiting import until


class Embedded:
    def __init__(self, log: Path) -> None:
        self.hosts: list[PlayedHost] = []
        self.heard = Heard()
        self.dispatcher = DaskDispatcher(log, "f", "fleet-001 of parser", self._make, slots=3)
        self.dispatcher.start(self.heard.append)
        self.joined = self.heard.wait("joined")

    def _make(self, observe: object) -> PlayedHost:
        self.hosts.append(PlayedHost(observe))  # type: ignore[arg-type]
        return self.hosts[-1]

    @property
    def host(self) -> PlayedHost:
        return self.hosts[0]


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Embedded]:
    fleet = Embedded(tmp_path / "log.txt")
    yield fleet
    fleet.dispatcher.stop()


def test_its_own_host_joins_and_no_port_is_open(fleet: Embedded) -> None:
    joined = fleet.joined
    assert isinstance(joined, Joined)
    assert (joined.host, joined.slots, joined.machine) == ("here", 3, socket.gethostname())
    assert fleet.dispatcher.address == ""
    assert listening() == []


def test_orders_arrive_in_order_and_all_lines_come_back(fleet: Embedded) -> None:
    fleet.dispatcher.send("here", place("1", per_second=500, count=200))
    fleet.dispatcher.send("here", SendCommand(id="a", loop="1", command={"kind": "pause"}))
    fleet.dispatcher.send("nobody", SendCommand(id="b", loop="1", command={}))
    reported = fleet.heard.wait("told")
    assert isinstance(reported, CommandAnswered)
    assert reported.id == "a"
    fleet.heard.until_seq("1", 200)
    assert fleet.heard.seqs("1") == list(range(1, 201))
    assert [order.kind for order in fleet.host.obeyed] == ["place", "tell"]


def test_bundles_of_many_megabytes_go_both_ways_unchanged(fleet: Embedded) -> None:
    bundle = bytes(range(256)) * 40_000
    fleet.dispatcher.send("here", Base(commit="c", bundle=bundle))
    fleet.dispatcher.send("here", Collect(loop="9000000", attempt=1))
    collected = fleet.heard.wait("collected")
    assert isinstance(collected, Collected)
    assert len(collected.bundle) == 9_000_000
    assert fleet.host.obeyed[0] == Base(commit="c", bundle=bundle)


def test_at_its_end_loops_are_stopped_and_the_last_that_they_said_is_heard(fleet: Embedded) -> None:
    fleet.dispatcher.send("here", place("1", per_second=100))
    fleet.dispatcher.send("here", place("2"))
    fleet.dispatcher.send("here", End(loop="2"))
    fleet.heard.until_seq("1", 5)
    fleet.dispatcher.stop()
    overs = [what for what in fleet.heard if isinstance(what, Ended)]
    assert [(over.loop, over.outcome) for over in overs] == [("2", "aborted"), ("1", "interrupted")]
    assert fleet.heard[-1].kind == "gone"
    assert not fleet.host._threads[0].is_alive()
    until(lambda: not [t for t in threading.enumerate() if t.name == "fleet-dispatch"])


def test_what_dask_has_to_say_goes_into_a_file(
    fleet: Embedded, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fleet.dispatcher.stop()
    assert capfd.readouterr() == ("", "")
    assert (tmp_path / "log.txt").is_file()
