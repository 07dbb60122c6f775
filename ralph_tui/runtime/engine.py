"""The host of one run: its thread, its inbox, and `record`, the only way into the journal.

An event is on disk before anyone sees it. Agents, watchers, timers and people put observations and
commands into the inbox. Only the engine's thread turns them into events, so `seq` is a total order.
"""

import threading
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from ralph_tui import events as ev
from ralph_tui.adapters.records.files import without_unknown, write_json
from ralph_tui.adapters.records.journal import Journal
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.base.errors import JournalError, JournalFullError, RalphError, resource_error
from ralph_tui.commands import Abort, Command, Stop
from ralph_tui.loop.waiting.disk_full import wait_began, wait_ended
from ralph_tui.ports.host import Accepted, Clock, CommandRequest, Job, Refused
from ralph_tui.runtime.inbox import Inbox
from ralph_tui.state import RunState
from ralph_tui.state.ending import ended

STATUS_SECONDS = 1.0
"""Minimum seconds between two writes of the status file, except after an urgent event."""
SAME_STATUS_SECONDS = 5.0
"""The same minimum while only ages and the time of writing change."""
OVER = "the run has ended"
LONGEST_WAIT = 1.0
"""Seconds; the journal is checked at least this often."""


class Engine:
    """Runs a loop in its own thread and records its events."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        *,
        status: Path,
        state: RunState | None = None,
        keep_lock: Callable[[], None] = lambda: None,
        keep_files: Callable[[RunState], None] = lambda _: None,
    ) -> None:
        """`state` is the fold of the events already in the journal.

        `keep_lock` restores the lock file's name; it is called as often as the journal is checked,
        and so is `keep_files`, which must be quick.
        """
        self.clock = clock
        self.journal = journal
        self.state = state or RunState()
        self.error: RalphError | None = None
        """Why the run could not be recorded to its end, in one sentence for the user."""
        self._inbox = Inbox()
        self._kept: deque[object] = deque()
        """Items taken from the inbox while the disk was full, not yet handled."""
        self._subscribers: list[Callable[[ev.Event], None]] = []
        self._status = status
        self._status_due = clock.monotonic()
        self._status_seq, self._refresh_due = -1, clock.monotonic()
        self._recorded_at = clock.monotonic()
        self._keep_lock = keep_lock
        self._keep_files = keep_files
        self._orders: list[Callable[[Accepted | Refused], None]] = []
        """Callbacks of senders that are waiting for an answer."""
        self._closing = threading.Lock()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._stop_work: Callable[[], None] = lambda: None

    # -- for the screens ---------------------------------------------------------------------

    def subscribe(self, receive: Callable[[ev.Event], None]) -> None:
        """Register `receive`, which the engine's thread calls for each event; it must be quick."""
        self._subscribers.append(receive)

    def send(self, command: Command) -> None:
        """Put a command into the inbox; callable from any thread."""
        self._inbox.put(command)

    def stop(self, by: str) -> None:
        """Stop the run gracefully; callable from any thread."""
        self.send(Stop(by=by))

    def request(self, command: Command, reply: Callable[[Accepted | Refused], None]) -> None:
        """Send a command; `reply` is called once, often from another thread, even after the run."""
        with self._closing:
            if not self._closed:
                self._orders.append(reply)
                self._inbox.put(CommandRequest(command, partial(self._reply, reply)))
                return
        reply(Refused(OVER))

    def _reply(
        self, reply: Callable[[Accepted | Refused], None], answer: Accepted | Refused
    ) -> None:
        with self._closing:
            self._orders.remove(reply)
        reply(answer)

    def start_thread(self, run: Callable[[], None], stop_work: Callable[[], None]) -> None:
        """Run the loop in a thread; `stop_work` stops agent and command if the loop breaks down."""
        self._thread = threading.Thread(
            target=self.drive, args=(run, stop_work), name="ralph-engine", daemon=True
        )
        self._thread.start()

    def join(self, timeout: float | None = None) -> bool:
        """Wait up to `timeout` seconds for the run to end; return True if it has."""
        if self._thread is not None:
            self._thread.join(timeout)
            return not self._thread.is_alive()
        return True

    # -- for the loop (`ports.Host`) ---------------------------------------------------------

    def start(self, name: str, work: Callable[[], object]) -> Job:
        """Run `work` in a thread; the finished job arrives in the inbox."""
        job = Job(name)

        def run() -> None:
            try:
                job.result = work()
            except BaseException as error:  # noqa: BLE001  handed to the step that waits for the job
                job.error = error
            self._inbox.put(job)

        threading.Thread(target=run, name=f"ralph-{name}", daemon=True).start()
        return job

    def receive(self, timeout: float) -> object | None:
        """Check journal and status file, then return the next item, or None on timeout."""
        if self.journal.tick():
            self._keep_lock()
            return ev.JournalRestored(path=str(self.journal.path))
        if self._write_status():
            self._keep_lock()
        self._keep_files(self.state)
        if self._kept:
            return self._kept.popleft()
        return self._inbox.get(min(timeout, LONGEST_WAIT))

    def emit(self, event: ev.Event) -> None:
        """Put an event from an agent or a watcher into the inbox; callable from any thread."""
        self._inbox.put_event(event)

    # -- the thread --------------------------------------------------------------------------

    def drive(self, run: Callable[[], None], stop_work: Callable[[], None]) -> None:
        """Run the loop to its end; a bug in it is recorded as ``run_crashed``."""
        self._stop_work = stop_work
        try:
            run()
        except JournalError as error:
            self.error = error
            stop_work()
            self._failed(str(error))
        except Exception as bug:  # noqa: BLE001  the one boundary: a bug must not leave an agent alone
            stop_work()
            if sentence := resource_error(bug):
                reason = f"{sentence}; then continue with 'ralph-tui resume'"
                self._failed(reason)
                return
            trace = "".join(traceback.format_exception(bug))
            self._record_last(ev.RunCrashed(error=f"{type(bug).__name__}: {bug}", traceback=trace))
        finally:
            self._inbox.close()
            self._refuse_pending()
            self._write_status(now=True)
            try:
                self.journal.close()
            except (JournalError, OSError) as error:
                self.error = self.error or JournalError(f"the journal cannot be closed: {error}")

    def _refuse_pending(self) -> None:
        """Refuse the commands that are still waiting for an answer, because the run has ended."""
        with self._closing:
            self._closed = True
            waiting, self._orders = self._orders, []
        for reply in waiting:
            reply(Refused(OVER))

    def _record(self, event: ev.Event) -> ev.Event:
        """Stamp, append, fold and publish an event, in this order."""
        stamped = self.journal.append(event)
        self._recorded_at = self.clock.monotonic()
        self.state.apply(stamped)
        if stamped.urgent:
            self._status_due = self.clock.monotonic()
        for receive in self._subscribers:
            receive(stamped)
        return stamped

    def record(self, event: ev.Event) -> None:
        """Record an event of the loop, on disk and in `state` before this returns.

        A full disk stops the agent and blocks the run but loses nothing: items that arrive are
        kept. Only the user's stop or abort ends that wait. Screens show the wait although it cannot
        be recorded.
        """
        began = self.clock.now()
        waiting = False
        while True:
            try:
                self._record(event)
            except JournalFullError as error:
                if not waiting:
                    waiting = True
                    self._stop_work()
                    self._show_unrecorded(wait_began(self.state.run.iteration, str(error)))
                if self._is_end_requested():
                    raise
                continue
            break
        if waiting:
            waited = (self.clock.now() - began).total_seconds()
            ended = wait_ended(self.state.run.iteration, waited, by="free disk space")
            # The disk may be full again by now.
            self.record(ended)

    def _is_end_requested(self) -> bool:
        """Keep the inbox's next item, if any, for the loop; return True if it asks for the end."""
        item = self._inbox.get(LONGEST_WAIT)
        if item is not None:
            self._kept.append(item)
        wish = item.command if isinstance(item, CommandRequest) else item
        return isinstance(wish, Stop | Abort)

    def _show_unrecorded(self, event: ev.Event) -> None:
        for receive in self._subscribers:
            receive(event.model_copy(update={"seq": self.journal.seq, "at": self.clock.now()}))

    def _record_last(self, event: ev.Event) -> None:
        if self.journal.seq:  # a journal needs a beginning before it can have an end
            try:
                self._record(event)
            except JournalError as error:
                self.error = self.error or error
            else:
                return
        # Screens must still see that the run has ended.
        self.state.apply(event)
        self._show_unrecorded(event)

    def _failed(self, reason: str) -> None:
        self._record_last(ended(self.state.run, "failed", reason, self.clock.now()))

    def _write_status(self, *, now: bool = False) -> bool:
        """Write the status file if it is due; return True if it was."""
        moment = self.clock.monotonic()
        if not now and moment < self._status_due:
            return False
        self._status_due = moment + STATUS_SECONDS
        if not now and self.state.seq == self._status_seq and moment < self._refresh_due:
            return True  # nothing new to write
        self._status_seq, self._refresh_due = self.state.seq, moment + SAME_STATUS_SECONDS
        # The file can be rebuilt, by the next write or from the journal.
        silent_s = moment - self._recorded_at if self.state.run.live else None
        with suppress(OSError, MemoryError):
            status = summarize(self.state, self.clock.now(), silent_s)
            write_json(self._status, without_unknown(status), durable=False)
        return True
