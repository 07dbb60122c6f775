"""Crashes and cut connections between a fleet and its hosts: real processes, on loopback."""

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import pytest

from ralph_tui.fleet.dispatch import Address, wire
from ralph_tui.fleet.dispatch.dispatcher import DaskDispatcher
from ralph_tui.fleet.dispatch.wire import make_files
from ralph_tui.fleet.ports import Adopt, Disconnected, Joined, Refused, SendCommand
from tests.dispatched import Heard, listening, place
from tests.fleet_programs import LineProcess, TcpForwarder, free_port, host, program
from tests.processes import state_of
from tests.waiting import PATIENCE_S, until


class Fleet:
    """A dispatcher in this process, joined by hosts on loopback."""

    def __init__(self, folder: Path, silent_s: float = 15.0) -> None:
        self.heard = Heard()
        self.folder = folder
        address = Address.parse("tls://127.0.0.1:0")
        self.dispatcher = DaskDispatcher(
            folder / "log.txt",
            "f",
            "fleet-001 of parser",
            listen=address,
            keys=self.keys,
            silent_s=silent_s,
        )
        self.dispatcher.start(self.heard.append)

    @property
    def keys(self) -> Path:
        return self.folder / "keys"

    @property
    def port(self) -> int:
        return Address.parse(self.dispatcher.address).port

    def host(self, name: str = "far", port: int = 0) -> list[str]:
        address = f"tls://127.0.0.1:{port or self.port}"
        return host(address, name, self.folder / name, self.keys)

    def close(self) -> None:
        self.dispatcher.stop()


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    with closing(Fleet(tmp_path)) as fleet:
        yield fleet


def test_a_host_that_is_killed_is_gone(fleet: Fleet) -> None:
    with program(*fleet.host()) as far:
        joined = fleet.heard.wait("joined")
        assert isinstance(joined, Joined)
        assert (joined.host, joined.slots) == ("far", 10)
        assert listening(far.pid) == []
        far.kill()
        fleet.heard.wait("gone")
    assert fleet.heard[-1] == Disconnected(host="far", reason="its connection has ended")


def test_a_host_that_is_asked_to_end_stops_its_loops_in_order_and_says_why(fleet: Fleet) -> None:
    with program(*fleet.host()) as far:
        fleet.heard.wait("joined")
        fleet.dispatcher.send("far", place("1"))
        fleet.heard.wait("began")
        far.send_signal(signal.SIGTERM)
        assert far.wait(PATIENCE_S) == 0
    assert [what.kind for what in fleet.heard] == ["joined", "began", "over", "leaving", "gone"]
    assert fleet.heard[-1] == Disconnected(host="far", reason="it was asked to", left=True)


def test_after_a_cut_a_host_comes_back_by_itself_and_nothing_is_missing(fleet: Fleet) -> None:
    with closing(TcpForwarder(fleet.port)) as way, program(*fleet.host(port=way.port)):
        fleet.heard.wait("joined")
        fleet.dispatcher.send("far", place("1", per_second=100))
        fleet.heard.until_seq("1", 10)
        way.cut()
        fleet.heard.wait("gone")
        seen = max(fleet.heard.seqs("1"))
        way.restore()
        joined = fleet.heard.wait("joined", 2)
        assert isinstance(joined, Joined)
        assert [(held.loop, held.alive) for held in joined.holds] == [("1", True)]
        fleet.dispatcher.send("far", Adopt(loop="1", attempt=1, seen=seen))
        fleet.heard.until_seq("1", joined.holds[0].seq + 20)
        reported = [seq for seq in fleet.heard.seqs("1") if seq > seen]
        adopted = reported[reported.index(seen + 1) :]
        assert adopted == list(range(seen + 1, seen + 1 + len(adopted)))


def test_a_frozen_host_is_let_go_and_comes_back_when_it_thaws(tmp_path: Path) -> None:
    with closing(Fleet(tmp_path, silent_s=1.0)) as fleet, program(*fleet.host()) as far:
        fleet.heard.wait("joined")
        far.freeze()
        until(lambda: state_of(far.pid) == "T")
        fleet.heard.wait("gone")
        far.thaw()
        fleet.heard.wait("joined", 2)


def test_a_fleet_that_is_killed_finds_its_loops_again_and_every_line(tmp_path: Path) -> None:
    address, keys = f"tls://127.0.0.1:{free_port()}", tmp_path / "keys"
    make_files(keys)
    fleet = ["tests.doubles.fleet_process", address, str(tmp_path)]
    with program(*host(address, "far", tmp_path / "far", keys)) as far:
        with program(*fleet) as first:
            first.wait_for('"joined"')
            first.write_line(f"far {wire.encode(place('1', per_second=100))}")
            first.wait_for('"began"')
            until(lambda: _mirrored(tmp_path) > 10)
            first.kill()
        before = _mirrored(tmp_path)
        far.wait_for("the connection to the fleet")
        with program(*fleet) as second:
            assert '"alive":true' in second.wait_for('"joined"')
            until(lambda: _mirrored(tmp_path) > before + 100)
            far.send_signal(signal.SIGTERM)
            assert '"interrupted"' in second.wait_for('"over"')
            second.wait_for('"gone"')
        assert far.wait(PATIENCE_S) == 0
        numbers = [json.loads(line)["seq"] for line in _mirror(tmp_path).splitlines()]
        assert numbers == list(range(1, len(numbers) + 1))


def test_everything_asked_to_end_at_once_ends(tmp_path: Path) -> None:
    address, keys = f"tls://127.0.0.1:{free_port()}", tmp_path / "keys"
    make_files(keys)
    with ExitStack() as held:
        fleet = held.enter_context(program("tests.doubles.fleet_process", address, str(tmp_path)))
        hosts = [
            held.enter_context(program(*host(address, name, tmp_path / name, keys)))
            for name in ("one", "two")
        ]
        for name in ("one", "two"):
            fleet.wait_for(f'"host":"{name}"')
            fleet.write_line(f"{name} {wire.encode(place(name, per_second=100))}")
        until(lambda: sum('"began"' in line for line in fleet.lines) == 2)
        for each in (fleet, *hosts):
            each.send_signal(signal.SIGTERM)
        assert [each.wait(PATIENCE_S) for each in hosts] == [0, 0]
        fleet.wait(PATIENCE_S)


def test_a_stranger_is_not_let_in(fleet: Fleet, tmp_path: Path) -> None:
    other = Fleet(_made(tmp_path / "other"))
    other.close()
    address = fleet.dispatcher.address
    with (
        program(*host(address, "liar", tmp_path / "liar", other.keys)) as liar,
        program(*fleet.host()),
    ):
        liar.wait_for("uses different key files")
        fleet.heard.wait("joined")
    assert {what.host for what in fleet.heard if isinstance(what, Joined)} == {"far"}


def test_what_is_no_fleet_is_not_said_to_have_other_files(tmp_path: Path) -> None:
    keys = _made(tmp_path / "keys")
    make_files(keys)
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"tls://127.0.0.1:{server.server_port}"
        with program(*host(address, "far", tmp_path / "far", keys)) as far:
            far.wait_for("does not use TLS, so it is not a fleet")
            assert far.wait(PATIENCE_S)
        server.shutdown()


def test_a_name_that_is_there_already_is_refused_and_the_first_stays(
    fleet: Fleet, tmp_path: Path
) -> None:
    with program(*fleet.host()):
        fleet.heard.wait("joined")
        again = host(fleet.dispatcher.address, "far", tmp_path / "again", fleet.keys)
        with program(*again) as second:
            second.wait_for("let go: a host named far already exists")
            assert second.wait(PATIENCE_S) == 1
        refused = fleet.heard.wait("refused")
        assert isinstance(refused, Refused)
        assert refused.host == "far"
        fleet.dispatcher.send("far", SendCommand(id="a", loop="1", command={}))
        fleet.heard.wait("told")
    assert not [what for what in fleet.heard[:3] if isinstance(what, Disconnected)]


def test_a_host_that_may_not_take_part_is_told_why(fleet: Fleet) -> None:
    with program(*fleet.host()) as far:
        fleet.heard.wait("joined")
        fleet.dispatcher.dismiss("far", "it has no git")
        far.wait_for("let go: it has no git")
        assert far.wait(PATIENCE_S) == 1
    assert [what.kind for what in fleet.heard] == ["joined"]


def test_another_version_is_refused(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ralph_tui.fleet.dispatch.dispatcher.__version__", "99.9")
    with program(*fleet.host()) as far:
        far.wait_for("the fleet runs 99.9")
    refused = fleet.heard.wait("refused")
    assert isinstance(refused, Refused)
    assert "ralph-tui" in refused.reason


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _mirror(folder: Path) -> str:
    path = folder / "1.jsonl"
    return path.read_text() if path.exists() else ""


def _mirrored(folder: Path) -> int:
    return _mirror(folder).count("\n")


@pytest.fixture
def greets(fleet: Fleet, tmp_path: Path) -> Iterator[LineProcess]:
    """A host that has not yet reported what it runs."""
    scratch = tmp_path / "far"
    scratch.mkdir()
    address = f"tls://127.0.0.1:{fleet.port}"
    with program("tests.doubles.fleet_greeting", address, str(scratch), str(fleet.keys)) as far:
        far.wait_for("welcome to")
        yield far


def test_no_order_comes_before_a_host_has_said_what_it_holds(
    fleet: Fleet, greets: LineProcess
) -> None:
    """Otherwise it would run loops that the fleet believes lost."""
    fleet.dispatcher.send("far", place("1"))
    greets.write_line("[]")
    fleet.heard.wait("joined")
    fleet.dispatcher.send("far", SendCommand(id="a", loop="1", command={}))
    greets.wait_for("ordered")
    orders = [line.removeprefix("ordered") for line in greets.lines if line.startswith("ordered")]
    assert [json.loads(order)["kind"] for order in orders] == ["tell"]


def test_what_it_holds_is_checked_and_a_refusal_is_told(fleet: Fleet, greets: LineProcess) -> None:
    greets.write_line('[{"loop": 1}]')
    refused = fleet.heard.wait("refused")
    assert isinstance(refused, Refused)
    assert refused.reason.startswith("cannot read its list of loops: ")
    greets.wait_for("dismissed: cannot read its list of loops")
    assert not fleet.heard.of("joined")
