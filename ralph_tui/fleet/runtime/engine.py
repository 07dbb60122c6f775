"""The engine of a fleet: a thread that turns observations and commands into events and orders.

The next decisions are a pure function of the state, evaluated when it has changed: see `Rounds`.
"""

import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ralph_tui.adapters.records.journal import Journal
from ralph_tui.adapters.remote.requests import Request
from ralph_tui.base.errors import JournalError, RalphError, resource_error
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.decisions import decide
from ralph_tui.fleet.ports import CommandAnswered, Disconnected, Dispatcher, Observation
from ralph_tui.fleet.runtime.core import Core
from ralph_tui.fleet.runtime.executor import Executor, Mirrors, Results
from ralph_tui.fleet.runtime.observations import ObservationHandler
from ralph_tui.fleet.runtime.requests import HOST_GONE, OVER, Requests
from ralph_tui.fleet.state import FleetState
from ralph_tui.ports.clones import Source
from ralph_tui.ports.host import Accepted, Clock, Refused
from ralph_tui.runtime.inbox import Inbox
from ralph_tui.text.sanitize import clip, one_line

MAX_ITEMS = 1000
"""Maximum number of items to handle before the next decisions, even if more keep arriving."""
MAX_ROUNDS = 10_000
"""Maximum number of consecutive rounds that make decisions; only a bug exceeds it."""


@dataclass(frozen=True)
class _Request:
    """A request and the callback for its answer."""

    request: Request
    reply: Callable[[Accepted | Refused], None]


@dataclass
class _FinishedWork:
    """Work that has ended."""

    name: str
    events: Sequence[ev.FleetEvent] = ()
    error: BaseException | None = None


@dataclass(frozen=True)
class EngineParts:
    """Everything outside the engine that it uses."""

    dispatcher: Dispatcher
    source: Source
    mirrors: Mirrors
    results: Results
    keep_lock: Callable[[], None] = field(default=lambda: None)
    """Restores the name in the lock file; called about once a second."""


class FleetEngine(Core):
    """Runs a fleet to its end in its own thread."""

    def __init__(
        self, journal: Journal, clock: Clock, outside: EngineParts, state: FleetState | None = None
    ) -> None:
        """`state` is folded from the existing journal."""
        super().__init__(journal, clock, outside.dispatcher, state)
        self.error: RalphError | None = None
        """Why the fleet could not be recorded to its end; a sentence for the user."""
        self._outside = outside
        self._inbox = Inbox()
        self._closing = threading.Lock()
        self._closed = self._stopped = False
        self._observations = ObservationHandler(self, outside.mirrors, outside.results)
        self._requests = Requests(self, self._observations.aborted)
        executor = Executor(
            self, outside.source, outside.mirrors, outside.results, self._requests.send_to_run
        )
        self.followers = (executor.follow, self._requests.follow)
        self._thread = threading.Thread(target=self._run_safely, name="ralph-fleet", daemon=True)
        self._worker = threading.Thread(target=self._do_work, name="ralph-fleet-git", daemon=True)
        self._opening: Sequence[ev.FleetEvent] = ()

    # -- thread-safe interface -----------------------------------------------------------------

    def begin(self, *opening: ev.FleetEvent) -> None:
        """Record the opening events, and run the fleet to its end.

        Raises ``RalphError`` if hosts cannot join; then nothing is recorded.
        """
        self._outside.dispatcher.start(self.observe)
        self._opening = opening
        self._worker.start()
        self._thread.start()

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end; return True if the fleet has ended."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def observe(self, one: Observation) -> None:
        """Queue an observation from a host."""
        self._inbox.put(one)

    def warn(self, text: str) -> None:
        """Record a warning about the fleet's process."""
        self._inbox.put(ev.FleetNoticed(text=text, level="warn"))

    def request(self, request: Request, reply: Callable[[Accepted | Refused], None]) -> None:
        """Queue a request; `reply` is called once, from another thread, even after the end."""
        with self._closing:
            if not self._closed:
                self._inbox.put(_Request(request, reply))
                return
        reply(Refused(OVER))

    # -- threads -------------------------------------------------------------------------------

    def _do_work(self) -> None:
        while (begun := self.works.get()) is not None:
            name, work = begun
            done = _FinishedWork(name)
            try:
                done.events = list(work())
            except BaseException as error:  # noqa: BLE001  raised in the engine's thread
                done.error = error
            self._inbox.put(done)

    def _run_safely(self) -> None:
        try:
            self._run()
        except JournalError as error:
            self.error = error
        except Exception as bug:  # noqa: BLE001  a bug must not leave loops alone
            self._record_bug(bug)
        finally:
            self._close()

    def _run(self) -> None:
        for event in self._opening:
            self.record(event)
        while self.state.finished is None:
            if self.journal.tick():
                self._outside.keep_lock()
            # Handle hosts first: their loops determine what is lost.
            item, taken = self._inbox.get(self.rounds.due_in()), 0
            while item is not None:
                self._handle(item)
                taken += 1
                item = self._inbox.get(0) if taken < MAX_ITEMS else None
            if not self.rounds.due_in():
                self.rounds.end(self._decide())

    def _decide(self) -> float:
        """Record decisions until none is left; return the CPU seconds that the last check took."""
        for _ in range(MAX_ROUNDS):
            began = time.thread_time()
            decisions = decide(self.state, self.clock.now())
            took = time.thread_time() - began
            if not decisions:
                return took
            for decision in decisions:
                if not isinstance(decision, ev.FleetFinished):
                    self.record(decision)
                elif self.working:  # its events must precede the end
                    return took
                else:
                    self._outside.dispatcher.stop()
                    self._stopped = True
                    self.record(decision)
                    return took
        raise RuntimeError("the fleet's decisions repeat endlessly")

    def _handle(self, item: object) -> None:
        match item:
            case _Request():
                self._requests.take(item.request, item.reply)
            case _FinishedWork():
                self._on_done(item)
            case ev.FleetNoticed():
                self.record(item)
            case CommandAnswered():
                self._requests.on_answered(item)
            case _:
                self._observations.take(item)  # type: ignore[arg-type]
                if isinstance(item, Disconnected):
                    self._requests.refuse_open(HOST_GONE, host=item.host)

    def _on_done(self, done: _FinishedWork) -> None:
        self.working.remove(done.name)
        self.rounds.change()  # the end may have waited for it
        if isinstance(done.error, RalphError | OSError):
            text = f"{done.name}: {clip(one_line(str(done.error)), 500)}"
            self.record(ev.FleetNoticed(text=text, level="warn"))
        elif done.error is not None:
            raise done.error
        for event in done.events:
            self.record(event)

    # -- the end -------------------------------------------------------------------------------

    def _record_bug(self, bug: Exception) -> None:
        sentence = resource_error(bug)
        reason = sentence or f"a bug ended the fleet: {type(bug).__name__}: {bug}"
        reason = f"{clip(one_line(reason), 500)}; 'ralph-tui fleet resume' continues the fleet"
        with suppress(JournalError):
            if not sentence:
                trace = "".join(traceback.format_exception(bug))
                self.put(ev.FleetNoticed(text=trace, level="warn"))
            spent = self.state.spent_usd
            self.put(ev.FleetFinished(outcome="failed", reason=reason, spent_usd=spent or None))

    def _close(self) -> None:
        self._inbox.close()
        with self._closing:
            self._closed = True
        self._answer_all()
        self.works.put(None)
        self._outside.results.cancel()
        if not self._stopped:
            self._outside.dispatcher.stop()
        if self._worker.ident is not None:
            self._worker.join()
        try:
            self.journal.close()
        except (JournalError, OSError) as error:
            self.error = self.error or JournalError(f"the journal cannot be closed: {error}")

    def _answer_all(self) -> None:
        """Answer all callers that are still waiting."""
        while (item := self._inbox.get(0)) is not None:
            if isinstance(item, _Request):
                item.reply(Refused(OVER))
        for reply in self._requests.take_waiting():
            reply(Refused(OVER))
