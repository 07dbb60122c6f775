"""Dask between a fleet and its hosts. Only the fleet's process and the hosts load Dask.

A host is a Dask worker without a port of its own: it dials the fleet's scheduler, and the one
connection that it keeps there carries everything, in order, both ways. So a host that cannot be
reached from outside takes part, the end of the connection is the end of what was sent on it
(`Gone`), and no order stays behind in a history. Loops are no tasks of Dask: a task that is
cancelled, lost or repeated would end, lose or repeat a run. What holds them is a `LoopHost`.

This module and `address` load nothing of Dask.
"""

from importlib.util import find_spec

from ralph_tui.errors import UsageError, install_hint

NEEDED = ("distributed", "cryptography")
"""What the extra installs."""


def check_installed() -> None:
    """Raises ``UsageError`` where the extra is not installed. Loads nothing."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"a fleet needs {' and '.join(missing)}, which this ralph-tui was installed without: "
            + install_hint("fleet")
        )
