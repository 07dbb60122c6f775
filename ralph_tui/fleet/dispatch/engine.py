"""Configure Dask for a fleet: no web server, no profiler, no history, and a log file."""

import asyncio
import ipaddress
import logging
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dask
import msgpack  # type: ignore[import-untyped]
from distributed import Scheduler, Worker, protocol
from distributed.comm.addressing import parse_host_port
from distributed.comm.core import Comm
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.protocol.utils import msgpack_opts
from distributed.security import Security

from ralph_tui.adapters.processes.lineage import belongs_to_run, is_intact, lineage
from ralph_tui.adapters.processes.open_files import holders_of_socket
from ralph_tui.base.plain_files import make_folder, open_append
from ralph_tui.fleet.dispatch import Address

TABLES = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
Endpoint = tuple[str, int]


def is_of_run(ours: str, theirs: str) -> bool:
    """True if a process that a run started has the other end of a connection open.

    `ours` and `theirs` are addresses as Dask writes them. Also true if the process is this user's
    and hides its open files; false for other users and other machines.
    """
    wanted = (_end(theirs), _end(ours))
    for ends, user, inode in _read_connections():
        if ends == wanted:
            return user == os.geteuid() and _all_hidden_or_of_run(inode)
    return False


def _all_hidden_or_of_run(inode: int) -> bool:
    lines = [lineage(pid) for pid in holders_of_socket(inode)]
    return not lines or any(belongs_to_run(line) or not is_intact(line) for line in lines)


def _end(address: str) -> Endpoint:
    host, port = parse_host_port(address.partition("://")[2])
    return _format_host(ipaddress.ip_address(host)), port


def _read_connections() -> Iterator[tuple[tuple[Endpoint, Endpoint], int, int]]:
    """Yield both ends of each TCP connection, and the user and inode of its socket."""
    for table in TABLES:
        with suppress(OSError):
            for row in table.read_text().splitlines()[1:]:
                _, near, far, _, _, _, _, user, _, inode, *_ = row.split()
                yield (_decode_end(near), _decode_end(far)), int(user), int(inode)


def _decode_end(written: str) -> Endpoint:
    """Decode an end as the kernel writes it: words of four bytes in this machine's byte order."""
    address, _, port = written.partition(":")
    raw = bytes.fromhex(address)
    words = (int.from_bytes(raw[at : at + 4], "big") for at in range(0, len(raw), 4))
    packed = b"".join(socket.htonl(word).to_bytes(4, "big") for word in words)
    return _format_host(ipaddress.ip_address(packed)), int(port, 16)


def _format_host(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    """Format an address; an IPv4 address within IPv6 as IPv4."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


SILENT_S = 15.0
"""Seconds of silence after which a host is dismissed; detected within twice this time."""
CONNECT_S = 5.0
"""Seconds that one attempt to reach a scheduler may take."""

_SETTINGS: dict[str, object] = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.low-level-log-length": 10,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.preload": [],
    "distributed.scheduler.http.routes": [],
    "distributed.scheduler.idle-timeout": None,
    "distributed.scheduler.no-workers-timeout": None,
    "distributed.scheduler.contact-address": None,
    "distributed.worker.preload": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.lifetime.duration": None,
    "distributed.comm.timeouts.connect": "5s",
    "distributed.comm.retry.count": 0,
}
"""These override the user's Dask configuration, whose profiler samples every 10 ms by default."""
_QUERIES = ("register-worker", "heartbeat_worker")
_MESSAGES = ("keep-alive", "log-event", "worker-status-change")
_ORDERS = ("close", "remove-worker", "worker-status-change")
"""The Dask handlers that a fleet needs.

They are requests to the scheduler, messages to it, and orders to a worker. Other handlers can run
code that a connection sent.
"""
_LOGGERS = ("distributed", "tornado", "asyncio")


@contextmanager
def configure_dask(log: Path, silent_s: float = SILENT_S) -> Iterator[None]:
    """Configure Dask within the block, and append its log to `log`."""
    handler = logging.StreamHandler[Any](_LogStream(open_append(log)))
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.setLevel(logging.WARNING)
    to_terminal = _take_from_terminal()
    # Without any handler, a logger that does not propagate would still write to the terminal.
    loggers = {*map(logging.getLogger, _LOGGERS), *(logger for logger, _ in to_terminal)}
    for logger in loggers:
        logger.addHandler(handler)
    of_dask: Any = protocol
    unpickle, of_dask.loads = of_dask.loads, _plain_values
    settings = _SETTINGS | {"distributed.scheduler.worker-ttl": f"{silent_s} s"}
    try:
        with dask.config.set(settings):
            yield
    finally:
        of_dask.loads = unpickle
        for logger in loggers:
            logger.removeHandler(handler)
        for logger, theirs in to_terminal:
            logger.addHandler(theirs)
        handler.stream.close()


def _plain_values(frames: Sequence[Any], **_: object) -> Any:
    """Decode a message. Dask's own `loads` unpickles it, which runs code of the sender's choice."""
    return msgpack.unpackb(frames[0], use_list=False, **msgpack_opts)


def _select(names: Iterable[str], handlers: dict[str, Any]) -> dict[str, Any]:
    return {name: handlers[name] for name in names}


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Yield a folder for Dask's files; remove it at the end, with leftovers of killed processes."""
    folder = parent / "scratch"
    try:
        make_folder(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _take_from_terminal() -> list[tuple[logging.Logger, logging.Handler]]:
    """Remove Dask's terminal log handlers, which print tracebacks when connections end normally."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in _LOGGERS]
    found: list[tuple[logging.Logger, logging.Handler]] = [
        (logger, handler)
        for logger in map(logging.getLogger, names)
        for handler in logger.handlers
        if isinstance(handler, logging.StreamHandler) and handler.stream in (sys.stderr, sys.stdout)
    ]
    for logger, handler in found:
        logger.removeHandler(handler)
    return found


class _LogStream:
    """Adapts a binary file to a logging handler's text stream."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, text: str) -> None:
        with suppress(OSError):  # the journal's writer reports a full disk
            self._file.write(text.encode(errors="replace"))

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class FleetScheduler(Scheduler):
    """A scheduler that listens only where it is configured to."""

    def __init__(
        self, listen: Address | None, security: Security, plugins: Sequence[SchedulerPlugin]
    ) -> None:
        """Listen in this process, and on `listen` for other machines."""
        theirs = [] if listen is None else [listen]
        several: dict[str, Any] = {
            "protocol": ["inproc", *("tls" for _ in theirs)],
            "host": [None, *(at.host for at in theirs)],
            "port": [None, *(at.port for at in theirs)],
        }
        super().__init__(**several, security=security, plugins=plugins, extensions={})
        self.handlers = _select(_QUERIES, self.handlers)
        self.stream_handlers = _select(_MESSAGES, self.stream_handlers)

    def handle_comm(self, comm: Comm) -> Any:
        """Serve a connection, unless an agent on this machine opened it: it could read the key."""
        if not comm.peer_address.startswith("inproc") and is_of_run(
            comm.local_address, comm.peer_address
        ):
            comm.abort()
            return asyncio.sleep(0)
        return super().handle_comm(comm)

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Do nothing: a fleet has no web server."""


class FleetWorker(Worker):
    """A worker that listens on no port, and whose process outlives its connection."""

    cut: asyncio.Event
    """Set once its connection has ended or is being closed."""

    def __init__(self, scheduler: str, name: str, scratch: Path, security: Security) -> None:
        """`name` must be unique among workers on all machines."""
        self.cut = asyncio.Event()
        super().__init__(
            scheduler,
            name=name,
            security=security,
            protocol="inproc",
            contact_address=_unused_address(),
            local_directory=str(scratch),
            nthreads=1,
            memory_limit=0,
            death_timeout=CONNECT_S,
            extensions={},
        )
        self.handlers = {}
        self.stream_handlers = _select(_ORDERS, self.stream_handlers)

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Do nothing: a fleet has no web server."""

    async def handle_scheduler(self, comm: Comm) -> None:
        """Serve the connection until it ends; Dask's own method would then end the process."""
        try:
            await self.handle_stream(comm)
        finally:
            await self.close(reason="the connection has ended")

    async def close(self, *args: Any, **kwargs: Any) -> str | None:  # type: ignore[override]
        """Close the connection, and immediately wake everything that is waiting for it to end."""
        self.cut.set()
        return await super().close(*args, **kwargs)


def _unused_address() -> str:
    """Return a unique address that belongs to no machine.

    Nothing connects to a host, but Dask identifies hosts by their addresses. Packets sent to
    100::/64 are discarded (RFC 6666).
    """
    discarded = ipaddress.IPv6Address(bytes([1, *bytes(7), *os.urandom(8)]))
    return f"tcp://[{discarded}]:1"


class Departures(SchedulerPlugin):
    """Reports every connection that has ended."""

    def __init__(self, on_departed: Callable[[str, str], None]) -> None:
        """`on_departed` receives the worker's address and the reason."""
        self._on_departed = on_departed

    def remove_worker(
        self, scheduler: object, worker: str, *, stimulus_id: str = "", **_: object
    ) -> None:
        silent = stimulus_id.startswith("check-worker-ttl")
        self._on_departed(worker, "it stopped responding" if silent else "its connection has ended")
