"""Connect a fleet and its hosts with Dask, which only the fleet's process and the hosts load.

A host is a Dask worker without a port of its own. It connects to the fleet's scheduler, and this
one connection carries all messages in order, both ways. Therefore hosts behind a firewall can join,
and no order outlives the connection on which it was sent (see `Disconnected`).

Loops are not Dask tasks: cancelling, losing or repeating a task would do the same to a run. A
`LoopHost` holds them instead. This module does not import Dask.
"""

import re
import socket
from dataclasses import dataclass
from importlib.util import find_spec

from ralph_tui.base.errors import UsageError, install_hint, why
from ralph_tui.text.sanitize import one_line

NEEDED = ("distributed", "cryptography")
"""Packages that the ``fleet`` extra installs."""


def check_installed() -> None:
    """Raise ``UsageError`` if the extra is not installed; import nothing."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"a fleet needs {' and '.join(missing)}, which are not installed with this ralph-tui: "
            + install_hint("fleet")
        )


KEY_HOLDERS = (
    "anyone who can read the --tls folder, including your agents, can run code in the fleet's "
    "process and programs on its hosts"
)
"""Warning shown in help, by hosts, and at the start of a fleet that others can join."""
_ADDRESS = re.compile(r"(tls|tcp)://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})")


@dataclass(frozen=True)
class Address:
    """Address on which a fleet's scheduler listens, with mutual TLS."""

    host: str
    """Without the brackets of an IPv6 address."""
    port: int
    """0 for any free port."""

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Parse an address; raise ``UsageError`` if it is invalid or unprotected."""
        match = _ADDRESS.fullmatch(text.strip())
        if match is None or int(match[3]) > 65535:
            raise UsageError(
                f"'{one_line(text)}' is not a fleet address; write it as tls://HOST:PORT"
            )
        address = cls(match[2].strip("[]"), int(match[3]))
        if match[1] == "tcp":
            raise UsageError(
                f"tcp://{address.location} would let anyone who can reach it run programs as "
                f"you; use {address} and --tls FOLDER"
            )
        return address

    @property
    def location(self) -> str:
        """Return ``HOST:PORT``."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"tls://{self.location}"


def check_free(listen: Address) -> None:
    """Raise ``UsageError`` if the address cannot be bound; Dask would leak a socket on failure."""
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    try:
        with socket.socket(family) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((listen.host, listen.port))
            trial.listen()
    except OSError as error:
        raise UsageError(
            f"cannot listen at {listen}: {why(error, 'choose another port')}"
        ) from error
