"""Dask between a fleet and its hosts. Only the fleet's process and the hosts load Dask.

A host is a Dask worker without a port of its own: it dials the fleet's scheduler, and the one
connection that it keeps there carries everything, in order, both ways. So a host that cannot be
reached from outside takes part, the end of the connection is the end of what was sent on it
(`Gone`), and no order stays behind in a history. Loops are no tasks of Dask: a task that is
cancelled, lost or repeated would end, lose or repeat a run. What holds them is a `LoopHost`.

This module loads nothing of Dask.
"""

import re
import socket
from dataclasses import dataclass
from importlib.util import find_spec

from ralph_tui.base.errors import UsageError, install_hint, why
from ralph_tui.text.sanitize import one_line

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


KEY_HOLDERS = (
    "anyone who can read the --tls folder, an agent of yours included, can run code in the fleet's "
    "process and programs on its hosts"
)
"""Said in help, at the start of a fleet that others can join, and by their hosts."""
_ADDRESS = re.compile(r"(tls|tcp)://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})")


@dataclass(frozen=True)
class Address:
    """Where a fleet's scheduler listens, with TLS both ways."""

    host: str
    """Without the brackets of an IPv6 address."""
    port: int
    """0: any that is free."""

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Raises ``UsageError`` for what is no address, or one that everybody could use."""
        match = _ADDRESS.fullmatch(text.strip())
        if match is None or int(match[3]) > 65535:
            raise UsageError(
                f"'{one_line(text)}' is no address of a fleet: give it as tls://HOST:PORT"
            )
        address = cls(match[2].strip("[]"), int(match[3]))
        if match[1] == "tcp":
            raise UsageError(
                f"tcp://{address.location} would let everybody who reaches it run programs as "
                f"you: use {address} and --tls FOLDER"
            )
        return address

    @property
    def location(self) -> str:
        """``HOST:PORT``."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"tls://{self.location}"


def check_free(listen: Address) -> None:
    """Raises ``UsageError`` where nobody could listen; Dask would lose a socket over it."""
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    try:
        with socket.socket(family) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((listen.host, listen.port))
            trial.listen()
    except OSError as error:
        raise UsageError(f"cannot listen at {listen}: {why(error, 'name another port')}") from error
