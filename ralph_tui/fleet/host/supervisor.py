"""A loop's live run: follow it, pass commands to it, and end it gracefully."""

import json
import select
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from ralph_tui.adapters.clones.places import TreeFolder
from ralph_tui.adapters.processes.child import Child, Exit
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.lock import Owner
from ralph_tui.adapters.remote.protocol import (
    ANSWER_LIMIT,
    LIMIT,
    VERSION,
    RefusedError,
    read_answer,
)
from ralph_tui.fleet.host.run_follower import RunReporter
from ralph_tui.fleet.ports import Adopt, CommandAnswered, SendCommand
from ralph_tui.text.foreign_json import parse_json

SEND_S = 2.0
"""Seconds that a run may take to receive a command."""
ANSWER_S = 60.0
"""Seconds that a run may take to answer a command."""
GONE = "the run ended before it answered"
SILENT = "the run did not answer within a minute; it may still carry out the command"
BUSY = "the run is not answering commands now"


class Channel:
    """The host's end of the socket that a run inherits; it passes the run's answers to `on_answer`.

    `adapters.remote.starter` is the run's end. Only the thread of one loop uses it.
    """

    def __init__(self, on_answer: Callable[[CommandAnswered], None]) -> None:
        """Create both ends; the run inherits `theirs`, which is then closed here."""
        self._on_answer = on_answer
        self._ours, self.theirs = socket.socketpair()
        self._ours.settimeout(SEND_S)
        self._pending = bytearray()
        self._waiting: dict[str, float] = {}
        """Deadlines of unanswered commands, by id."""

    def fileno(self) -> int:
        """Return the descriptor to poll; -1 if it is closed."""
        return self._ours.fileno()

    def send(self, order: SendCommand) -> None:
        """Send a command to the run, without changing its `by`."""
        fields = {"version": VERSION, "id": order.id, "command": order.command}
        line = json.dumps(fields, ensure_ascii=False).encode() + b"\n"
        if len(line) > LIMIT:
            self._refuse(order.id, f"the command is longer than {LIMIT:,} bytes; shorten it")
            return
        try:
            self._ours.sendall(line)
        except OSError as error:
            self._refuse(order.id, BUSY if isinstance(error, TimeoutError) else GONE)
            self.close()  # half a line may have been sent
            return
        self._waiting[order.id] = time.monotonic() + ANSWER_S

    def receive(self) -> None:
        """Handle received answers; call it when the socket is readable."""
        try:
            chunk = self._ours.recv(ANSWER_LIMIT, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self.close()
            return
        *lines, rest = (self._pending + chunk).split(b"\n")
        self._pending = bytearray(rest)
        for line in lines:
            self._handle_line(bytes(line))
        if len(self._pending) > ANSWER_LIMIT:
            self.close()

    def refuse_overdue(self) -> None:
        """Refuse commands that have waited too long."""
        now = time.monotonic()
        for request in [request for request, due in self._waiting.items() if due < now]:
            self._refuse(request, SILENT)

    def close(self) -> None:
        """Close the socket, and refuse all unanswered commands."""
        self._ours.close()
        self.theirs.close()
        for request in list(self._waiting):
            self._refuse(request, GONE)

    def _handle_line(self, line: bytes) -> None:
        request = ""
        try:
            fields = parse_json(line)
            request = str(fields["id"])
            accepted = read_answer(line)
        except RefusedError as refusal:
            self._refuse(request, str(refusal))
            return
        except (ValueError, KeyError, TypeError):
            return
        if self._waiting.pop(request, None) is not None:
            self._on_answer(CommandAnswered(id=request, accepted=accepted))

    def _refuse(self, request: str, reason: str) -> None:
        self._waiting.pop(request, None)
        if request:
            self._on_answer(CommandAnswered(id=request, refused=reason))


QUICK_S, SLOW_S = 0.08, 0.4
"""Seconds between two checks of a journal that is growing, and of one that is not."""
ORDERLY_S = 6.0
"""Seconds that a run may take to end gracefully before its keeper kills it."""

Orders = deque[SendCommand | Adopt]


class Inbox:
    """Orders for the thread that follows a run; adding one wakes the thread."""

    def __init__(self) -> None:
        self.orders: Orders = deque()
        self._sockets: tuple[socket.socket, ...] = ()

    def begin(self) -> None:
        """Open the sockets, so that a thread can wait for orders."""
        self._sockets = socket.socketpair()
        for each in self._sockets:
            each.setblocking(False)

    def wake(self) -> None:
        for ours in self._sockets[:1]:
            with suppress(OSError):  # its buffer is full, or it is closed
                ours.send(b".")

    def fileno(self) -> int:
        return self._sockets[1].fileno()

    def drain(self) -> None:
        """Consume pending wake-ups."""
        with suppress(OSError):
            self._sockets[1].recv(4096)

    def close(self) -> None:
        for each in self._sockets:
            each.close()


class RunSupervisor:
    """One run; `follow` returns when it has ended and none of its processes is alive."""

    def __init__(
        self,
        child: Child,
        channel: Channel,
        reporter: RunReporter,
        folder: TreeFolder,
        ports: tuple[int, int] | None,
    ) -> None:
        self._child = child
        self._channel = channel
        self._reporter = reporter
        self._folder = folder
        self._ports = ports
        self._stop_at = 0.0
        """Deadline for a graceful end; 0 if it need not end."""

    def follow(self, inbox: Inbox, ending: Callable[[], str]) -> Exit:
        """Report the run's progress and pass orders to it until it ends.

        `ending` returns why the run must end, or an empty text.
        """
        poll = select.poll()
        poll.register(inbox, select.POLLIN)
        poll.register(self._channel, select.POLLIN)
        pause = QUICK_S
        while True:
            speaks = self._channel.fileno()
            for descriptor, _ in poll.poll(pause * 1000):
                if descriptor == speaks:
                    self._channel.receive()
            inbox.drain()
            ended = self._child.poll()  # checked first, so that the last round sees all output
            while inbox.orders:
                self._handle_order(inbox.orders.popleft())
            self._channel.refuse_overdue()
            if speaks >= 0 > self._channel.fileno():
                poll.unregister(speaks)
            self._find()
            found = self._reporter.poll(last=ended is not None)
            if ended is not None:
                return ended
            quick = found or not self._reporter.began
            pause = QUICK_S if quick else min(SLOW_S, 1.5 * pause)
            self._end(requested=bool(ending()))

    def _handle_order(self, order: SendCommand | Adopt) -> None:
        if isinstance(order, SendCommand):
            self._channel.send(order)
        else:
            self._reporter.resend(order.seen)

    def _find(self) -> None:
        """Find the run's record through the worktree's lock, which names the run of its owner."""
        if self._reporter.began:
            return
        owner = Owner.read(ralph_folder(self._folder.tree) / "lock")
        if owner.pid == self._child.pid and owner.run:
            self._reporter.begin(owner.run, owner.run_id, self._ports)

    def _end(self, *, requested: bool) -> None:
        if not requested:
            return
        if not self._stop_at:
            self._child.interrupt()
            self._stop_at = time.monotonic() + ORDERLY_S
        elif time.monotonic() > self._stop_at:
            self._child.stop()
