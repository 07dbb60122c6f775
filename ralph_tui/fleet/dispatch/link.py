"""A host's connection to its fleet: made, kept, and made again for as long as the host runs.

All of it happens on one event loop, but for what the host's loops observe, in threads of their own.
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

AGAIN_S = 0.5
"""Between two tries to reach the fleet."""
GOODBYE_S = 8.0
"""How long a connection may take to close: together with a scheduler's it may never end."""


@dataclass(frozen=True)
class Berth:
    """As what a host joins."""

    name: str
    """Of the host, within the fleet."""
    slots: int
    """Loops at once."""
    scratch: Path
    """A folder for what Dask writes."""
    lease_s: float | None = None
    """The longest that loops of this host go on without the fleet; None: as the fleet says."""


class HostLink:
    """Connects a host's loops to the fleet at an address."""

    def __init__(
        self,
        address: str,
        berth: Berth,
        security: Security | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`say` takes sentences about the connection, each when it changes."""
        self._address = address
        self._berth = berth
        self._security = security or Security()
        self._say = say
        self._said = ""
        self._instance = uuid4().hex
        self._outbox = wire.Outbox(self._wake)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._stop_asked = threading.Event()
        self._reason = ""
        self._welcome = asyncio.Event()
        self._worker: FleetWorker | None = None
        """While the fleet takes what is observed."""
        self._been_there = False
        self._ended = False
        """The fleet has said that it ends: until the next one there is nothing to be told."""
        self._closing: set[asyncio.Task[None]] = set()

    def observe(self, what: Observation) -> None:
        """Send it to the fleet; while there is none it is lost. From any thread."""
        self._outbox.put(what)

    def leave(self, reason: str) -> None:
        """Tell the fleet that this host stops its loops: it gets no more. From any thread."""
        self._reason = self._reason or reason
        self._soon(self._say_that_it_leaves)

    def stop(self, reason: str = "it was stopped") -> None:
        """Let `run` return, once what was observed until now is sent. From any thread."""
        self._reason = self._reason or reason
        self._stop_asked.set()
        self._soon(self._stop.set)

    def _soon(self, call: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # its loop has ended
            if self._loop is not None:
                self._loop.call_soon_threadsafe(call)

    def _say_that_it_leaves(self) -> None:
        if self._worker is not None:
            self._worker.batched_send({"op": wire.LEAVING, "reason": self._reason})

    async def run(self, host: LoopHost) -> str:
        """Keep `host` connected until it is stopped; why the fleet has let it go, or nothing.

        Raises ``UsageError`` where the fleet does not know the host's files at its first try.
        """
        self._loop = asyncio.get_running_loop()
        dismissed = ""
        while not self._stop_asked.is_set() and not dismissed:
            if await self._reached():
                dismissed = await self._connected(host)
            await self._pause(AGAIN_S)
        if self._closing:
            await asyncio.wait(self._closing, timeout=GOODBYE_S)
        return dismissed

    async def _reached(self) -> bool:
        """Whether the fleet can be connected to: Dask itself would only say that it cannot."""
        scheme, location = parse_address(self._address)
        connector = get_backend(scheme).get_connector()
        arguments = self._security.get_connection_args("worker")
        trying = asyncio.create_task(connector.connect(location, deserialize=False, **arguments))
        await self._until_stopped(trying, CONNECT_S)
        if not trying.done():
            trying.cancel()
            await asyncio.wait({trying})
            self._tell(f"the fleet at {self._address} does not answer, trying again")
            return False
        try:
            trying.result().abort()
        except (OSError, ValueError) as error:
            # Tornado's ValueError: the other end has closed before a word of TLS was said.
            if wire.no_tls(error) and not self._been_there:
                raise UsageError(
                    f"what listens at {self._address} does not speak TLS, so it is no fleet that "
                    "others can join: correct the address"
                ) from error
            if _is_unknown(error) and not self._been_there:
                raise UsageError(
                    f"the fleet at {self._address} was set up with other files: copy the folder "
                    "that 'fleet run --listen' made, and name it with --tls"
                ) from error
            self._tell(f"cannot reach the fleet at {self._address}, trying again: {_cause(error)}")
            return False
        return True

    async def _connected(self, host: LoopHost) -> str:
        """One connection, from hello to its end; why it was ended for good, or nothing."""
        name = f"{self._berth.name}-{uuid4().hex[:12]}"
        worker = FleetWorker(self._address, name, self._berth.scratch, self._security)
        dismissed: list[str] = []

        def ordered(lines: list[str]) -> None:
            for line in lines:
                try:
                    order = wire.order(line)
                except ValueError as error:
                    self._tell(f"an order was not understood: {wire.problem(error)}")
                else:
                    host.obey(self._within_lease(order))

        def welcome(fleet: str, title: str) -> None:
            self._been_there, self._ended = True, False
            self._tell(f"connected to {one_line(title)} at {self._address}")
            host.fleet_found(fleet)
            self._outbox.take()  # what was observed meanwhile the fleet asks for
            worker.batched_send({"op": wire.HOLDS, "holds": wire.encode_held(host.holds())})
            self._worker = worker

        def refuse(reason: str) -> None:
            dismissed.append(one_line(reason) or "the fleet has let this host go")
            worker.cut.set()

        def end() -> None:
            self._tell(f"the fleet has ended; waiting for the next at {self._address}")
            self._ended = True

        worker.stream_handlers |= {
            wire.ORDERED: ordered,
            wire.WELCOME: welcome,
            wire.ENDED: end,
            wire.DISMISSED: refuse,
        }
        try:
            await worker
            hello = {
                "op": wire.HELLO,
                "host": self._berth.name,
                "instance": self._instance,
                "version": __version__,
                "slots": self._berth.slots,
                "machine": socket.gethostname(),
                "home": host.home,
            }
            worker.batched_send(hello)
            await _first_of(worker.cut, self._stop)
            self._flush()
            if self._stop.is_set():
                self._say_that_it_leaves()
        except (OSError, TimeoutError, RuntimeError, ValueError) as error:
            self._tell(f"the fleet at {self._address} did not let it join: {_cause(error)}")
        finally:
            if self._worker is not None:
                self._worker = None
                host.fleet_lost()
                if not dismissed and not self._stop.is_set():
                    self._tell(f"the connection to the fleet at {self._address} has ended")
            closing = asyncio.create_task(_close(worker))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        return "".join(dismissed[:1])

    def _within_lease(self, order: Order) -> Order:
        most = self._berth.lease_s
        if not isinstance(order, Place) or most is None or most >= (order.lease_s or inf):
            return order
        return order.model_copy(update={"lease_s": most})

    def _wake(self, delay_s: float) -> None:
        with suppress(RuntimeError):  # its loop has ended
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
        """Wait for `work`, no longer than this, and not at all when this link is stopped."""
        stopped = asyncio.create_task(self._stop.wait())
        await asyncio.wait({work, stopped}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)

    def _tell(self, sentence: str) -> None:
        if sentence != self._said and not self._ended:
            self._said = sentence
            self._say(sentence)


async def _first_of(*events: asyncio.Event) -> None:
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def _close(worker: FleetWorker) -> None:
    with suppress(TimeoutError, OSError, RuntimeError):
        await asyncio.wait_for(worker.close(executor_wait=False), GOODBYE_S)


def _cause(error: BaseException) -> str:
    """The first reason of several that the system gave, else what the last one says."""
    deepest = error
    while deepest.__cause__ is not None:
        deepest = deepest.__cause__
    if isinstance(deepest, ssl.SSLError):
        return "it does not speak TLS, or does not know these files"
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
