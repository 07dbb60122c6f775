"""``BASE PLACE``: a host that is given one loop, says where it has begun, and never ends."""

# ruff: noqa: T201  it prints
import sys
import threading
from pathlib import Path

from ralph_tui.fleet.host.worker_host import WorkerHost
from ralph_tui.fleet.ports import Began, Observation
from ralph_tui.ports.clones import Place


def main(base: str, order: str) -> None:
    """Until it is killed."""

    def observe(what: Observation) -> None:
        if isinstance(what, Began):
            print(what.folder, flush=True)

    place = Place.model_validate_json(order)
    host = WorkerHost("killed", 1, Path(base), observe)
    host.on_fleet_found(place.fleet_id)
    host.obey(place)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
