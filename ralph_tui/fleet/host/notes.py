"""A command to a fleet of another process, through the socket that its lock names."""

import socket
from collections.abc import Mapping
from pathlib import Path

from ralph_tui.adapters.remote.client import PATIENCE_S, request
from ralph_tui.errors import RalphError
from ralph_tui.fleet.records.folders import FleetFolder
from ralph_tui.fleet.wording import GONE


def tell(folder: FleetFolder, loop: str, command: Mapping[str, object]) -> int:
    """Tell a loop, or (loop empty) the fleet itself; the number of the first event of it.

    Blocks until it is answered. Raises ``RefusedError`` with the fleet's own sentence, and
    ``RalphError`` where it is gone, on another machine or does not answer.
    """
    owner = folder.owner()
    if owner is None:
        raise RalphError(GONE)
    if owner.host != socket.gethostname():
        raise RalphError(f"{folder.name} lives on {owner.host}; command it from there")
    if not owner.socket:
        raise RalphError(f"{folder.name} has no command socket (its log {folder.log} says why)")
    return request(
        Path(owner.socket), command, PATIENCE_S, lambda: folder.owner() is not None, loop=loop
    )
