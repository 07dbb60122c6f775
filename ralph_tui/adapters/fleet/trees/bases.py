"""Where a host gets the commit that loops begin with.

From the user's repository, where that lies on this machine; else from a copy in the host's own
folder, made once per commit: of the repository's remote, or of a bundle that the fleet sends.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ralph_tui.adapters.fleet.trees.making import Origin, has_commit
from ralph_tui.errors import WorkspaceError
from ralph_tui.ports.fleet import Place


class Stoppable(Protocol):
    """What waits for a commit."""

    def check(self) -> None:
        """Raises ``RalphError`` where it waits no more."""
        ...


class Bases:
    """The copies of one host."""

    def __init__(self, base: Path, machine: str, ask: Callable[[str], None]) -> None:
        """`ask` asks the fleet for the bundle of a commit."""
        self._base = base
        self._machine = machine
        self._ask = ask
        self._lock = threading.Lock()

    def origin_of(self, place: Place, waiting: Stoppable) -> Origin:
        """A repository on this machine that has the commit; raises ``RalphError``."""
        source = place.source
        if source.machine == self._machine and has_commit(Path(source.path), source.commit):
            return Origin(Path(source.path), users=True)
        waiting.check()
        raise WorkspaceError("the commit is not on this machine")
