"""Whoever has the key of a fleet, an agent that can read it above all, runs nothing within it."""

import os
import sys
from pathlib import Path

import pytest

from ralph_tui.adapters.processes.child import launch
from ralph_tui.adapters.processes.sweep import RUN_MARK
from ralph_tui.fleet.ports import Joined
from tests.fleet_programs import program
from tests.paths import ROOT
from tests.processes import Child
from tests.unit.fleet.dispatch.test_deaths import Fleet, fleet
from tests.waiting import until

__all__ = ["fleet"]

ASKS = """
import asyncio, contextlib, struct, sys
from distributed import Client
from distributed.comm import connect
from distributed.protocol.serialize import ToPickle
from ralph_tui.fleet.dispatch import tls
from pathlib import Path
address, keys, made = sys.argv[1:]
security = tls.security(Path(keys))
class Runs:
    def __reduce__(self):
        return (exec, (f"open({made!r}, 'a').write('unpickled')",))
async def ask():
    for op in ("run_function", "register_scheduler_plugin", "broadcast", "identity", "terminate"):
        comm = await connect(address, **security.get_connection_args("client"))
        run = ToPickle(Runs())
        await comm.write({"op": op, "reply": True, "function": run, "plugin": run, "msg": run})
        try:
            await asyncio.wait_for(comm.read(), 1)
        except Exception as error:
            print(op, type(error).__name__)  # the connection was closed, or nobody answered
        comm.abort()
    host, port = address.removeprefix("tls://").split(":")
    garbage = struct.pack("Q", 24) + bytes(range(200, 224))
    comm = await connect(address, **security.get_connection_args("client"))
    comm.stream.write(garbage)
    with contextlib.suppress(OSError):
        await comm.stream.read_until_close()
    context = security.get_connection_args("client")["ssl_context"]
    reader, writer = await asyncio.open_connection(host, int(port), ssl=context)
    writer.write(garbage)
    with contextlib.suppress(OSError):
        await reader.read()
    try:
        async with asyncio.timeout(5):
            async with Client(address, security=security, asynchronous=True) as client:
                await client.run_on_scheduler(lambda: Path(made).touch())
    except BaseException as error:
        print("client", type(error).__name__)
    print("asked", flush=True)
asyncio.run(ask())
"""


def test_it_runs_and_unpickles_nothing_and_says_nothing_of_it(
    fleet: Fleet, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "made"
    with program("-c", ASKS, fleet.dispatcher.address, str(fleet.keys), str(made)) as asks:
        asks.wait_for("asked")
    assert not made.exists()
    with program(*fleet.host()):
        fleet.heard.wait("joined")
    told = capfd.readouterr()
    assert (told.out, told.err) == ("", "")


def test_the_agent_of_a_run_is_not_let_in(fleet: Fleet, tmp_path: Path) -> None:
    """Whether it bears a mark, or is only below a keeper."""
    marked = ["env", f"{RUN_MARK}=any", sys.executable, "-u", *fleet.host("marked")]
    kept = ["env", "-i", sys.executable, "-u", *fleet.host("kept")]
    with (tmp_path / "said").open("wb") as out:
        agent = launch(kept, cwd=ROOT, env=os.environ, run_id="any", stdout=out)
        with Child[str](marked, cwd=ROOT, stdout=out) as other, program(*fleet.host()):
            fleet.heard.wait("joined")
            until(lambda: (tmp_path / "said").read_text().count("did not let it join") >= 2)
            agent.stop()
            agent.wait()
            other.kill()
    assert {what.host for what in fleet.heard.of("joined") if isinstance(what, Joined)} == {"far"}
