"""``ADDRESS KEYS MADE``: asks a fleet in every way to run or unpickle what makes the file MADE."""

# ruff: noqa: T201  it prints
import asyncio
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from distributed import Client
from distributed.comm.core import connect
from distributed.protocol.serialize import ToPickle

from ralph_tui.fleet.dispatch import wire

OPS = ("run_function", "register_scheduler_plugin", "broadcast", "identity", "terminate")
GARBAGE = struct.pack("Q", 24) + bytes(range(200, 224))


class Runs:
    """Runs code when it is unpickled."""

    def __init__(self, made: str) -> None:
        self.made = made

    def __reduce__(self) -> tuple[Any, ...]:
        return (exec, (f"open({self.made!r}, 'a').write('unpickled')",))


async def main(address: str, keys: str, made: str) -> None:
    """Report the result."""
    security = wire.load_security(Path(keys))
    arguments = security.get_connection_args("client")
    for op in OPS:
        comm = await connect(address, **arguments)
        run = ToPickle(Runs(made))
        await comm.write({"op": op, "reply": True, "function": run, "plugin": run, "msg": run})
        try:
            await asyncio.wait_for(comm.read(), 1)
        except Exception as error:  # noqa: BLE001  the connection was closed, or nobody answered
            print(op, type(error).__name__)
        comm.abort()
    comm = await connect(address, **arguments)
    comm.stream.write(GARBAGE)
    with suppress(OSError):
        await comm.stream.read_until_close()
    host, port = address.removeprefix("tls://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), ssl=arguments["ssl_context"])
    writer.write(GARBAGE)
    with suppress(OSError):
        await reader.read()
    try:
        async with (
            asyncio.timeout(5),
            Client(address, security=security, asynchronous=True) as client,
        ):
            await client.run_on_scheduler(lambda: Path(made).touch())
    except BaseException as error:  # noqa: BLE001
        print("client", type(error).__name__)
    print("asked", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
