"""Find the process on this machine that opened a TCP connection: no agent may join a fleet."""

import ipaddress
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from distributed.comm.addressing import parse_host_port

from ralph_tui.adapters.processes.lineage import belongs_to_run, is_still, lineage
from ralph_tui.adapters.processes.open_files import holders_of_socket

TABLES = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
End = tuple[str, int]


def is_of_run(ours: str, theirs: str) -> bool:
    """True if a process that a run started has the other end of a connection open.

    `ours` and `theirs` are addresses as Dask writes them. Also true if the process is this user's
    and hides its open files; false for other users and other machines.
    """
    wanted = (_end(theirs), _end(ours))
    for ends, user, inode in _connections():
        if ends == wanted:
            return user == os.geteuid() and _all_hidden_or_of_run(inode)
    return False


def _all_hidden_or_of_run(inode: int) -> bool:
    lines = [lineage(pid) for pid in holders_of_socket(inode)]
    return not lines or any(belongs_to_run(line) or not is_still(line) for line in lines)


def _end(address: str) -> End:
    host, port = parse_host_port(address.partition("://")[2])
    return _plain(ipaddress.ip_address(host)), port


def _connections() -> Iterator[tuple[tuple[End, End], int, int]]:
    """Both ends of each TCP connection, the user and the inode of its socket."""
    for table in TABLES:
        with suppress(OSError):
            for row in table.read_text().splitlines()[1:]:
                _, near, far, _, _, _, _, user, _, inode, *_ = row.split()
                yield (_decoded(near), _decoded(far)), int(user), int(inode)


def _decoded(written: str) -> End:
    """Decode an end as the kernel writes it: words of four bytes in this machine's byte order."""
    address, _, port = written.partition(":")
    raw = bytes.fromhex(address)
    words = (int.from_bytes(raw[at : at + 4], "big") for at in range(0, len(raw), 4))
    packed = b"".join(socket.htonl(word).to_bytes(4, "big") for word in words)
    return _plain(ipaddress.ip_address(packed)), int(port, 16)


def _plain(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    """Format an address; an IPv4 address within IPv6 as IPv4."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
