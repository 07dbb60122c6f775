"""``python -m tests.doubles.fleet_process ADDRESS FOLDER``: a dispatcher in a process of its own.

It prints what it observes as lines of JSON, and for each loop that a host holds it asks for what
follows the last line of it that the folder has. Lines of stdin, ``HOST ORDER``, are orders.
"""

# ruff: noqa: T201  it prints
import sys
import threading
from pathlib import Path

from ralph_tui.base.plain_files import open_append
from ralph_tui.fleet.dispatch import Address, wire
from ralph_tui.fleet.dispatch.dispatcher import DaskDispatcher
from ralph_tui.fleet.ports import Adopt, Joined, Observation, Recorded


def main(address: str, folder: str) -> None:
    """Until stdin ends."""
    mirrors = Path(folder)
    dispatcher = DaskDispatcher(
        mirrors / "log.txt",
        "f",
        "fleet-001 of parser",
        listen=Address.parse(address),
        keys=mirrors / "keys",
    )
    lock = threading.Lock()

    def observe(what: Observation) -> None:
        with lock:
            if isinstance(what, Joined):
                for held in what.holds:
                    seen = len(_mirror(mirrors, held.loop).read_text().splitlines())
                    order = Adopt(loop=held.loop, attempt=held.attempt, seen=seen)
                    dispatcher.send(what.host, order)
            if isinstance(what, Recorded):
                _append(_mirror(mirrors, what.loop), what)
            else:
                print(wire.encode(what), flush=True)

    dispatcher.start(observe)
    print(dispatcher.address, flush=True)
    for line in sys.stdin:
        host, _, order = line.partition(" ")
        dispatcher.send(host, wire.parse_order(order))
    dispatcher.stop()


def _append(mirror: Path, what: Recorded) -> None:
    """Append the next lines; ignore lines behind a gap, which are requested again."""
    seen = len(mirror.read_text().splitlines())
    if what.seq <= seen + 1:
        with open_append(mirror) as file:
            file.write("".join(f"{line}\n" for line in what.lines[seen + 1 - what.seq :]).encode())


def _mirror(folder: Path, loop: str) -> Path:
    path = folder / f"{loop}.jsonl"
    path.touch()
    return path


if __name__ == "__main__":
    main(*sys.argv[1:])
