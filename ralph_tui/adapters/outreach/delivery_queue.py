"""Ordered delivery of one channel's messages, in a thread of its own.

Each problem is reported once, not with every retry, by an `EscalationDelivered` whose ``ok`` is
False. One whose ``ok`` is True follows once a message has arrived.
"""

import threading
from collections import deque
from collections.abc import Callable

from ralph_tui.adapters.outreach.channel import Channel
from ralph_tui.adapters.outreach.http_service import UndeliveredError
from ralph_tui.adapters.outreach.message import Message
from ralph_tui.adapters.outreach.outbox import Outbox, QueuedMessage
from ralph_tui.events import EscalationDelivered
from ralph_tui.ports.host import Clock, Emit

FIRST_PAUSE = 5.0
"""Seconds before the first retry; each further pause is twice as long."""
LONGEST_PAUSE = 300.0


class DeliveryQueue:
    """One channel's queue and its thread."""

    def __init__(
        self,
        channel: Channel,
        outbox: Outbox,
        emit: Emit,
        clock: Clock,
        jitter: Callable[[], float],
    ) -> None:
        """`jitter` returns 0-1, so that runs do not all return to a recovered service at once."""
        self._channel = channel
        self._outbox = outbox
        self._emit = emit
        self._clock = clock
        self._jitter = jitter
        self._entries: deque[QueuedMessage] = deque()
        self._reported: set[str] = set()
        self._failures = 0
        self._due = 0.0
        self._blocked = False
        """True if the set-up is wrong, so that nothing is delivered before the next run."""
        self._wake = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None

    @property
    def undelivered(self) -> int:
        """Number of undelivered messages."""
        return len(self._entries)

    def resume(self) -> None:
        """Continue with messages left by earlier runs; call it once, before any `add`."""
        self._entries = self._outbox.waiting(self._clock.now())
        if self._entries:
            self._start()

    def add(self, message: Message) -> None:
        """Save a message and deliver it. Returns at once."""
        self._entries.append(self._outbox.put(message))
        self._start()

    def close(self) -> None:
        """Deliver the messages that can be sent now, then end. Returns immediately."""
        self._closing = True
        self._wake.set()

    def join(self, timeout: float) -> None:
        """Wait at most `timeout` seconds for the thread to end."""
        if self._thread is not None:
            self._thread.join(timeout)

    def deliver_due(self) -> float | None:
        """Deliver all due messages; return the seconds until the next one, or None."""
        while self._entries and not self._blocked:
            pause = self._due - self._clock.monotonic()
            if pause > 0:
                return pause
            entry = self._entries[0]
            again = entry.attempted
            self._outbox.mark(entry)
            try:
                where = self._channel.deliver(entry.message, again=again)
            except UndeliveredError as problem:
                self._on_failed(entry, problem)
            else:
                self._on_done(entry)
                self._failures, self._due = 0, 0.0
                self._reported.clear()
                if where:
                    self._report(entry, where, ok=True)
        return None

    def _on_failed(self, entry: QueuedMessage, problem: UndeliveredError) -> None:
        kept = problem.then != "drop"
        if not kept:
            self._on_done(entry)
        self._blocked = problem.then == "mend"
        if problem.then == "retry":
            pause = min(FIRST_PAUSE * 2 ** min(self._failures, 20), LONGEST_PAUSE)
            pause *= 1 + self._jitter() / 2
            self._failures += 1
            self._due = self._clock.monotonic() + max(pause, problem.after_s or 0.0)
        if str(problem) not in self._reported:
            self._reported.add(str(problem))
            self._report(entry, str(problem), queued=kept)

    def _on_done(self, entry: QueuedMessage) -> None:
        self._entries.popleft()
        self._outbox.remove(entry)

    def _report(
        self, entry: QueuedMessage, text: str, *, ok: bool = False, queued: bool = False
    ) -> None:
        if entry.left_over:
            text = f"{text} (left over from {entry.message.loop})"
        self._emit(
            EscalationDelivered(
                escalation_id=entry.message.escalation_id,
                channel=self._channel.name,
                ok=ok,
                text=text,
                queued=queued,
                issue=self._channel.issue_of(entry.message.run_id) if ok else None,
            )
        )

    def _start(self) -> None:
        self._wake.set()
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run, name=f"ralph-{self._channel.name}", daemon=True
            )
            self._thread.start()

    def _run(self) -> None:
        while True:
            self._wake.clear()
            last = self._closing
            pause = self.deliver_due()
            if last:
                return
            self._wake.wait(pause)
