"""A host's connection to its fleet: open it, and reopen it as long as the host runs.

Everything here runs on one event loop, except that the host's loops call `observe` from their own
threads.
"""

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from uuid import uuid4

from distributed.comm.addressing import parse_address
from distributed.comm.registry import get_backend
from distributed.security import Security
from tornado.iostream import StreamClosedError

from ralph_tui import __version__
from ralph_tui.base.errors import UsageError
from ralph_tui.fleet.dispatch import wire
from ralph_tui.fleet.dispatch.engine import CONNECT_S, FleetWorker
from ralph_tui.fleet.ports import LoopHost, Observation, Order
from ralph_tui.ports.clones import Place
from ralph_tui.text.sanitize import one_line

RETRY_S = 0.5
"""Seconds between two attempts to reach the fleet."""
GOODBYE_S = 8.0
"""Seconds that a connection may take to close; if both ends close at once, it may never close."""


@dataclass(frozen=True)
class HostOffer:
    """The identity and capacity with which a host joins."""

    name: str
    """Name of the host, unique within the fleet."""
    slots: int
    """Maximum number of loops at once."""
    scratch: Path
    """Folder for Dask's files."""
    lease_s: float | None = None
    """Seconds that this host's loops may run without contact; None for the fleet's own lease."""


class HostLink:
    """Connects a host's loops to the fleet at an address."""

    def __init__(
        self,
        address: str,
        offer: HostOffer,
        security: Security | None = None,
        write: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`write` receives a sentence whenever the state of the connection changes."""
        self._address = address
        self._offer = offer
        self._security = security or Security()
        self._write = write
        self._last_written = ""
        self._instance = uuid4().hex
        self._outbox = wire.Outbox(self._wake)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._stop_asked = threading.Event()
        self._reason = ""
        self._welcome = asyncio.Event()
        self._worker: FleetWorker | None = None
        """None unless the fleet accepts observations."""
        self._was_connected = False
        self._ended = False
        """True if the fleet reported its end; the link then stays silent until the next fleet."""
        self._closing: set[asyncio.Task[None]] = set()

    def observe(self, what: Observation) -> None:
        """Send an observation to the fleet; without a connection it is lost. Thread-safe."""
        self._outbox.put(what)

    def leave(self, reason: str) -> None:
        """Announce that this host is stopping its loops and takes no more. Thread-safe."""
        self._reason = self._reason or reason
        self._call_soon(self._announce_leave)

    def stop(self, reason: str = "it was stopped") -> None:
        """Make `run` return once the observations so far have been sent. Thread-safe."""
        self._reason = self._reason or reason
        self._stop_asked.set()
        self._call_soon(self._stop.set)

    def _call_soon(self, call: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the event loop has ended
            if self._loop is not None:
                self._loop.call_soon_threadsafe(call)

    def _announce_leave(self) -> None:
        if self._worker is not None:
            self._worker.batched_send({"op": wire.LEAVING, "reason": self._reason})

    async def run(self, host: LoopHost) -> str:
        """Keep `host` connected until it is stopped or the fleet dismisses it.

        Return the reason for a dismissal; empty if there was none. Raises ``UsageError`` if the
        first attempt shows that the fleet uses different TLS files, or none.
        """
        self._loop = asyncio.get_running_loop()
        dismissed = ""
        while not self._stop_asked.is_set() and not dismissed:
            if await self._can_connect():
                dismissed = await self._serve_once(host)
            await self._pause(RETRY_S)
        if self._closing:
            await asyncio.wait(self._closing, timeout=GOODBYE_S)
        return dismissed

    async def _can_connect(self) -> bool:
        """True if the fleet accepts a connection; unlike Dask, this finds out why it does not."""
        scheme, location = parse_address(self._address)
        connector = get_backend(scheme).get_connector()
        arguments = self._security.get_connection_args("worker")
        trying = asyncio.create_task(connector.connect(location, deserialize=False, **arguments))
        await self._until_stopped(trying, CONNECT_S)
        if not trying.done():
            trying.cancel()
            await asyncio.wait({trying})
            self._report(f"the fleet at {self._address} does not answer; trying again")
            return False
        try:
            trying.result().abort()
        except (OSError, ValueError) as error:
            # Tornado raises ValueError if the other end closed before the TLS handshake.
            if wire.is_without_tls(error) and not self._was_connected:
                raise UsageError(
                    f"the server at {self._address} does not use TLS, so it is not a fleet that "
                    "hosts can join; correct the address"
                ) from error
            if _is_unknown(error) and not self._was_connected:
                raise UsageError(
                    f"the fleet at {self._address} uses different key files: copy the folder "
                    "that 'fleet run --listen' made, and pass it with --tls"
                ) from error
            self._report(
                f"cannot reach the fleet at {self._address}, trying again: {_describe_cause(error)}"
            )
            return False
        return True

    async def _serve_once(self, host: LoopHost) -> str:
        """Serve one connection until it ends; return the reason not to reconnect, if any."""
        name = f"{self._offer.name}-{uuid4().hex[:12]}"
        worker = FleetWorker(self._address, name, self._offer.scratch, self._security)
        dismissed: list[str] = []

        def on_orders(lines: list[str]) -> None:
            for line in lines:
                try:
                    order = wire.parse_order(line)
                except ValueError as error:
                    self._report(f"cannot read an order: {wire.describe_error(error)}")
                else:
                    host.obey(self._limit_lease(order))

        def welcome(fleet: str, title: str) -> None:
            self._was_connected, self._ended = True, False
            self._report(f"connected to {one_line(title)} at {self._address}")
            host.on_fleet_found(fleet)
            self._outbox.take()  # drop these: the fleet will ask for them again
            worker.batched_send({"op": wire.HOLDS, "holds": wire.encode_held(host.holds())})
            self._worker = worker

        def refuse(reason: str) -> None:
            dismissed.append(one_line(reason) or "the fleet dismissed this host")
            worker.cut.set()

        def end() -> None:
            self._report(f"the fleet has ended; waiting for the next at {self._address}")
            self._ended = True

        worker.stream_handlers |= {
            wire.ORDERED: on_orders,
            wire.WELCOME: welcome,
            wire.ENDED: end,
            wire.DISMISSED: refuse,
        }
        try:
            await worker
            hello = {
                "op": wire.HELLO,
                "host": self._offer.name,
                "instance": self._instance,
                "version": __version__,
                "slots": self._offer.slots,
                "machine": socket.gethostname(),
                "home": host.home,
            }
            worker.batched_send(hello)
            await _wait_first(worker.cut, self._stop)
            self._flush()
            if self._stop.is_set():
                self._announce_leave()
        except (OSError, TimeoutError, RuntimeError, ValueError) as error:
            self._report(
                f"the fleet at {self._address} did not let this host join: {_describe_cause(error)}"
            )
        finally:
            if self._worker is not None:
                self._worker = None
                host.on_fleet_lost()
                if not dismissed and not self._stop.is_set():
                    self._report(f"the connection to the fleet at {self._address} has ended")
            closing = asyncio.create_task(_close(worker))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        return "".join(dismissed[:1])

    def _limit_lease(self, order: Order) -> Order:
        most = self._offer.lease_s
        if not isinstance(order, Place) or most is None or most >= (order.lease_s or inf):
            return order
        return order.model_copy(update={"lease_s": most})

    def _wake(self, delay_s: float) -> None:
        with suppress(RuntimeError):  # the event loop has ended
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._flush_in, delay_s)

    def _flush_in(self, delay_s: float) -> None:
        if delay_s and self._loop is not None:
            self._loop.call_later(delay_s, self._flush)
        else:
            self._flush()

    def _flush(self) -> None:
        lines = self._outbox.take()
        if lines and self._worker is not None:
            self._worker.batched_send({"op": wire.OBSERVED, "lines": lines})

    async def _until_stopped(self, work: "asyncio.Task[object]", seconds: float) -> None:
        """Wait for `work`, for at most this many seconds, or until this link is stopped."""
        stopped = asyncio.create_task(self._stop.wait())
        await asyncio.wait({work, stopped}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)

    def _report(self, sentence: str) -> None:
        if sentence != self._last_written and not self._ended:
            self._last_written = sentence
            self._write(sentence)


async def _wait_first(*events: asyncio.Event) -> None:
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def _close(worker: FleetWorker) -> None:
    with suppress(TimeoutError, OSError, RuntimeError):
        await asyncio.wait_for(worker.close(executor_wait=False), GOODBYE_S)


def _describe_cause(error: BaseException) -> str:
    """Describe the deepest cause of an error in a few words."""
    deepest = error
    while deepest.__cause__ is not None:
        deepest = deepest.__cause__
    if isinstance(deepest, ssl.SSLError):
        return "it does not use TLS, or has different key files"
    if isinstance(deepest, OSError) and deepest.strerror:
        return deepest.strerror
    if isinstance(deepest, ValueError | StreamClosedError | TimeoutError | asyncio.CancelledError):
        return "the connection was closed at once"
    return one_line(str(deepest)) or type(deepest).__name__


def _is_unknown(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError) or "CERTIFICATE" in str(error).upper():
            return True
        error = error.__cause__
    return False
