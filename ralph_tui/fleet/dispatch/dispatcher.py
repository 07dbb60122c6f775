"""The fleet's side: a scheduler in a thread of this process, and the hosts that joined it."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed.security import Security

from ralph_tui import __version__
from ralph_tui.base.errors import UsageError, why
from ralph_tui.fleet.dispatch import Address, check_free, wire
from ralph_tui.fleet.dispatch.engine import (
    SILENT_S,
    Departures,
    FleetScheduler,
    configure_dask,
    scratch_folder,
)
from ralph_tui.fleet.dispatch.link import HostLink, HostOffer
from ralph_tui.fleet.plan import HERE
from ralph_tui.fleet.ports import (
    Disconnected,
    HostNoticed,
    Joined,
    Leaving,
    LoopHost,
    Observe,
    Order,
    Refused,
)
from ralph_tui.text.sanitize import one_line

STOP_S = 4.0
"""Seconds that the scheduler may take to close."""

_OWN_EVENTS = (Joined, Leaving, Disconnected, Refused)
"""Observations that only the dispatcher makes; a host must not send them."""
MakeHost = Callable[[Observe], LoopHost]


@dataclass
class _HostEntry:
    """A host that has joined."""

    address: str
    """Address of its connection."""
    instance: str
    """Identifier of its process."""
    hello: Joined | None
    """Its greeting; None once it has reported its loops and its arrival has been announced."""
    leaving: str = ""
    """The reason it gave for leaving."""


class DaskDispatcher:
    """A `Dispatcher` based on Dask."""

    address = ""

    def __init__(
        self,
        log: Path,
        fleet_id: str,
        title: str,
        here: MakeHost | None = None,
        *,
        slots: int = 1,
        listen: Address | None = None,
        keys: Path | None = None,
        silent_s: float = SILENT_S,
    ) -> None:
        """Prepare the dispatcher; `title` is the fleet's name for hosts.

        `here` creates the host within this process. `keys` is the folder of the TLS files. Without
        `listen` no port is opened and no other host can join.
        """
        self._log = log
        self._welcome = {"op": wire.WELCOME, "fleet": fleet_id, "title": title}
        self._make_host = here
        self._slots = slots
        self._listen = listen
        self._keys = keys
        self._silent_s = silent_s
        self._observe: Observe = lambda _: None
        self._loop: asyncio.AbstractEventLoop
        self._stop = asyncio.Event()
        self._scheduler: FleetScheduler | None = None
        self._entries: dict[str, _HostEntry] = {}
        """By host name; used only by the event loop's thread."""
        self._names: dict[str, str] = {}
        """Host names by the address of the connection."""
        self._removals: set[asyncio.Task[Any]] = set()
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._main, name="fleet-dispatch", daemon=True)

    def start(self, observe: Observe) -> None:
        """Start the thread; raise ``RalphError`` if it cannot listen."""
        self._observe = observe
        self._loop = asyncio.new_event_loop()
        self._thread.start()
        self._ready.result()

    def send(self, host: str, order: Order) -> None:
        line = wire.encode(order)
        self._call_soon(lambda: self._order(host, line))

    def dismiss(self, host: str, reason: str) -> None:
        self._call_soon(lambda: self._dismiss(host, reason))

    def stop(self) -> None:
        """Dismiss all hosts; the one in this process stops its loops gracefully."""
        if self._thread.is_alive():
            self._call_soon(self._stop.set)
            self._thread.join()

    def _call_soon(self, action: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(action)

    # -- dispatcher thread -----------------------------------------------------------------

    def _main(self) -> None:
        try:
            with (
                configure_dask(self._log, self._silent_s),
                scratch_folder(self._log.parent) as scratch,
                asyncio.Runner(loop_factory=lambda: self._loop) as runner,
            ):
                runner.run(self._serve(scratch))
        except (OSError, UsageError) as error:
            if self._ready.done():
                raise
            self._ready.set_exception(_start_error(error))
        finally:
            if not self._ready.done():  # a bug: unblock `start`; the traceback is shown
                self._ready.set_exception(RuntimeError("the dispatcher did not start"))

    async def _serve(self, scratch: Path) -> None:
        scheduler = self._scheduler = self._make_scheduler()
        try:
            await scheduler
        except RuntimeError as error:  # Dask raises it for any failure
            if isinstance(error.__cause__, OSError):
                raise error.__cause__ from error
            raise
        self.address = self._join_address(scheduler)
        here = self._make_own_host(scratch) if self._make_host is not None else None
        self._ready.set_result(None)
        try:
            await self._stop.wait()
            for entry in self._entries.values():
                self._send_to(entry.address, {"op": wire.ENDED})
            if here is not None:
                link, host, running = here
                await asyncio.to_thread(host.close)
                link.stop("the fleet has ended")
                await running
        finally:
            with suppress(TimeoutError):
                await asyncio.wait_for(scheduler.close(reason="the fleet has ended"), STOP_S)

    def _make_scheduler(self) -> FleetScheduler:
        security = Security()
        if self._listen is not None:
            check_free(self._listen)
            if self._keys is None:
                raise UsageError(f"{self._listen} needs --tls FOLDER, for the fleet's key")
            wire.make_files(self._keys)
            security = wire.load_security(self._keys)
        scheduler = FleetScheduler(self._listen, security, (Departures(self._on_departed),))
        scheduler.stream_handlers |= {
            wire.HELLO: self._on_hello,
            wire.HOLDS: self._on_holds,
            wire.OBSERVED: self._on_observed,
            wire.LEAVING: self._on_leaving,
        }
        return scheduler

    def _join_address(self, scheduler: FleetScheduler) -> str:
        """Return the address that hosts join at, with the actual port."""
        joined = [listener.contact_address for listener in scheduler.listeners]
        return next((address for address in joined if not address.startswith("inproc")), "")

    def _make_own_host(self, scratch: Path) -> tuple[HostLink, LoopHost, asyncio.Task[str]]:
        assert self._scheduler is not None
        assert self._make_host is not None
        inproc = self._scheduler.listeners[0].contact_address
        link = HostLink(inproc, HostOffer(HERE, self._slots, scratch))
        host = self._make_host(link.observe)
        return link, host, asyncio.create_task(link.run(host))

    # -- messages from hosts ---------------------------------------------------------------

    def _on_hello(
        self,
        worker: str,
        host: str = "",
        instance: str = "",
        version: str = "",
        slots: int = 0,
        machine: str = "",
        home: str = "",
        **_: object,
    ) -> None:
        name = one_line(str(host)) or "?"
        entry = self._entries.get(name)
        if version != __version__:
            self._refuse(worker, name, f"it runs ralph-tui {version}, the fleet runs {__version__}")
            return
        if entry is not None and entry.instance != instance:
            self._refuse(worker, name, f"a host named {name} already exists; pass another --name")
            return
        try:
            hello = Joined(host=name, slots=slots, machine=machine, home=home, version=version)
        except ValueError as error:
            self._refuse(worker, name, f"cannot read its message: {wire.describe_error(error)}")
            return
        if entry is not None:
            self._remove_host(name, "it has reconnected")
            self._remove(entry.address)
        self._entries[name] = _HostEntry(worker, instance, hello)
        self._names[worker] = name
        self._send_to(worker, self._welcome)

    def _on_holds(self, worker: str, holds: str = "[]", **_: object) -> None:
        name = self._names.get(worker)
        if name is None or (hello := self._entries[name].hello) is None:
            return
        try:
            held = wire.parse_held(holds)
        except ValueError as error:
            reason = f"cannot read its list of loops: {wire.describe_error(error)}"
            self._dismiss(name, reason)
            self._observe(Refused(host=name, reason=reason))
            return
        self._entries[name].hello = None
        self._observe(hello.model_copy(update={"holds": held}))

    def _on_observed(self, worker: str, lines: list[str], **_: object) -> None:
        name = self._names.get(worker)
        if name is None or self._entries[name].hello is not None:
            return
        for line in lines:
            try:
                what = wire.parse_observation(line)
            except ValueError as error:
                text = f"cannot read its report: {wire.describe_error(error)}"
                what = HostNoticed(host=name, text=one_line(text))
            if not isinstance(what, _OWN_EVENTS):
                self._observe(what)

    def _on_leaving(self, worker: str, reason: str = "", **_: object) -> None:
        name = self._names.get(worker)
        if name and not self._entries[name].leaving and self._entries[name].hello is None:
            self._entries[name].leaving = one_line(str(reason)) or "it was stopped"
            self._observe(Leaving(host=name, reason=self._entries[name].leaving))

    def _on_departed(self, worker: str, why: str) -> None:
        if name := self._names.get(worker):
            leaving = self._entries[name].leaving
            self._remove_host(name, leaving or why, left=bool(leaving))

    def _remove_host(self, name: str, reason: str, *, left: bool = False) -> None:
        entry = self._entries.pop(name)
        del self._names[entry.address]
        if entry.hello is None:
            self._observe(Disconnected(host=name, reason=reason, left=left))

    def _refuse(self, worker: str, name: str, reason: str) -> None:
        self._send_to(worker, {"op": wire.DISMISSED, "reason": reason})
        self._remove(worker)
        self._observe(Refused(host=name, reason=reason))

    def _dismiss(self, name: str, reason: str) -> None:
        if entry := self._entries.pop(name, None):
            del self._names[entry.address]
            self._send_to(entry.address, {"op": wire.DISMISSED, "reason": reason})
            self._remove(entry.address)

    def _remove(self, worker: str) -> None:
        assert self._scheduler is not None
        removal = self._loop.create_task(
            self._scheduler.remove_worker(worker, stimulus_id="fleet", expected=True)
        )
        self._removals.add(removal)
        removal.add_done_callback(self._removals.discard)

    def _order(self, name: str, line: str) -> None:
        entry = self._entries.get(name)
        # A host that has not reported its loops yet counts as gone.
        if entry is not None and entry.hello is None:
            self._send_to(entry.address, {"op": wire.ORDERED, "lines": [line]})

    def _send_to(self, worker: str, message: dict[str, Any]) -> None:
        assert self._scheduler is not None
        self._scheduler.worker_send(worker, message)


def _start_error(error: OSError | UsageError) -> UsageError:
    if isinstance(error, UsageError):
        return error
    return UsageError(f"the fleet cannot be made ready for hosts: {why(error, 'see its log')}")
