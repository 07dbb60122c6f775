"""Where a fleet listens, and the key files that identify its hosts."""

import ssl
from functools import partial
from pathlib import Path

import pytest

from ralph_tui.base.errors import UsageError
from ralph_tui.fleet import dispatch
from ralph_tui.fleet.dispatch import Address, wire
from ralph_tui.fleet.dispatch.dispatcher import DaskDispatcher
from tests.dispatched import Heard, listening
from tests.fleet_programs import free_port
from tests.rows import each_row


@each_row("typed", ["tls://far.example:8786", "tls://[::1]:1"])
def test_an_address_is_written_as_it_was_typed(typed: str) -> None:
    assert str(Address.parse(typed)) == typed


@each_row(
    "typed",
    ["", "far:8786", "tls://far", "tls://:1", "tls://far:65536", "http://far:1", "tls://a b:1"],
)
def test_what_is_no_address_gets_a_sentence(typed: str) -> None:
    with pytest.raises(UsageError, match="write it as tls://HOST:PORT"):
        Address.parse(typed)


@each_row("host", ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "far.example"])
def test_nothing_goes_without_tls(host: str) -> None:
    with pytest.raises(UsageError, match=r"use tls://.* and --tls FOLDER"):
        Address.parse(f"tcp://{host}:8786")


def test_the_key_is_for_its_owner_alone_and_stays(tmp_path: Path) -> None:
    wire.make_files(tmp_path / "keys")
    key = tmp_path / "keys" / wire.KEY
    before = key.read_bytes()
    wire.make_files(tmp_path / "keys")
    assert key.read_bytes() == before
    assert key.stat().st_mode & 0o777 == 0o600
    context = wire.load_security(tmp_path / "keys").get_connection_args("worker")["ssl_context"]
    assert context.verify_mode == ssl.CERT_REQUIRED


def test_missing_or_open_files_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="copy the folder"):
        wire.load_security(tmp_path)
    wire.make_files(tmp_path)
    (tmp_path / wire.KEY).chmod(0o640)
    with pytest.raises(UsageError, match="can be read by others"):
        wire.load_security(tmp_path)


def test_a_key_that_is_none_gets_a_sentence(tmp_path: Path) -> None:
    wire.make_files(tmp_path)
    (tmp_path / wire.KEY).write_text("nonsense")
    with pytest.raises(UsageError, match="not a matching key and certificate"):
        wire.load_security(tmp_path)


def test_keys_that_cannot_be_made_get_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot write the fleet's key"):
        wire.make_files(tmp_path / "file" / "keys")


def test_a_port_that_is_taken_gets_a_sentence(tmp_path: Path) -> None:
    address = Address.parse(f"tls://127.0.0.1:{free_port()}")
    make = partial(
        DaskDispatcher, tmp_path / "log.txt", "f", "fleet", listen=address, keys=tmp_path / "keys"
    )
    first = make()
    first.start(Heard().append)
    try:
        assert len(listening()) == 1
        with pytest.raises(
            UsageError, match=f"cannot listen at {address}: .*; choose another port"
        ):
            make().start(Heard().append)
    finally:
        first.stop()
    assert listening() == []


def test_without_the_extra_a_fleet_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    dispatch.check_installed()
    monkeypatch.setattr(dispatch, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"uv tool install '\.\[fleet\]'"):
        dispatch.check_installed()
