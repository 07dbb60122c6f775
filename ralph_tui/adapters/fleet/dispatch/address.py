"""The address at which hosts join a fleet, as it is typed."""

import ipaddress
import re
import socket
from dataclasses import dataclass

from ralph_tui.errors import UsageError, why
from ralph_tui.text.sanitize import one_line

_ADDRESS = re.compile(r"(tls|tcp)://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})")


@dataclass(frozen=True)
class Address:
    """Where a fleet's scheduler listens."""

    encrypted: bool
    """TLS both ways; else nothing is asked of who connects."""
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
        address = cls(match[1] == "tls", match[2].strip("[]"), int(match[3]))
        if not address.encrypted and not address.loopback:
            raise UsageError(
                f"{address} would let everybody who reaches it run programs as you: "
                f"use tls://{address.location} and --tls FOLDER"
            )
        return address

    @property
    def loopback(self) -> bool:
        """Only this machine reaches it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def location(self) -> str:
        """``HOST:PORT``."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{'tls' if self.encrypted else 'tcp'}://{self.location}"


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
