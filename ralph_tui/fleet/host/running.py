"""A loop's run while it is alive: followed, told commands, and ended in order."""

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
from ralph_tui.fleet.host.following import Telling
from ralph_tui.fleet.ports import Adopt, Tell, Told
from ralph_tui.text.foreign_json import parse_json

SEND_S = 2.0
"""How long a run may take to take a command in."""
ANSWER_S = 60.0
"""How long it may take to answer one."""
GONE = "the run ended before it answered"
SILENT = "the run did not answer within a minute; it may still obey"
BUSY = "the run takes no commands now: it does not answer"


class Channel:
    """The host's end of the socket that a run inherits: commands in, answers to `told`.

    See `adapters.remote.starter` for the run's end. Used by the thread of one loop alone.
    """

    def __init__(self, told: Callable[[Told], None]) -> None:
        """The run's end is `theirs`, to be inherited by it and closed here."""
        self._told = told
        self._ours, self.theirs = socket.socketpair()
        self._ours.settimeout(SEND_S)
        self._pending = bytearray()
        self._waiting: dict[str, float] = {}
        """Of commands without an answer, by id: when that is too late."""

    def fileno(self) -> int:
        """To be polled; -1 when it is closed."""
        return self._ours.fileno()

    def tell(self, tell: Tell) -> None:
        """Hand a command over, `by` as it stands in it."""
        fields = {"version": VERSION, "id": tell.id, "command": tell.command}
        line = json.dumps(fields, ensure_ascii=False).encode() + b"\n"
        if len(line) > LIMIT:
            self._refuse(tell.id, f"the command is longer than {LIMIT:,} bytes; shorten it")
            return
        try:
            self._ours.sendall(line)
        except OSError as error:
            self._refuse(tell.id, BUSY if isinstance(error, TimeoutError) else GONE)
            self.close()  # half a line may be under way
            return
        self._waiting[tell.id] = time.monotonic() + ANSWER_S

    def receive(self) -> None:
        """Take in what has come; call it when the socket can be read."""
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
            self._take(bytes(line))
        if len(self._pending) > ANSWER_LIMIT:
            self.close()

    def give_up(self) -> None:
        """Refuse what has waited too long."""
        now = time.monotonic()
        for request in [request for request, due in self._waiting.items() if due < now]:
            self._refuse(request, SILENT)

    def close(self) -> None:
        """Nothing more is said; whoever waits is told so."""
        self._ours.close()
        self.theirs.close()
        for request in list(self._waiting):
            self._refuse(request, GONE)

    def _take(self, line: bytes) -> None:
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
            self._told(Told(id=request, accepted=accepted))

    def _refuse(self, request: str, reason: str) -> None:
        self._waiting.pop(request, None)
        if request:
            self._told(Told(id=request, refused=reason))


QUICK_S, SLOW_S = 0.08, 0.4
"""Between two looks at a journal: of one that grows, and of one that does not."""
ORDERLY_S = 6.0
"""How long a run may take to end in order, before its keeper ends it."""

Orders = deque[Tell | Adopt]


class Inbox:
    """Orders for the thread that follows a run; what is put into it wakes the thread."""

    def __init__(self) -> None:
        self.orders: Orders = deque()
        self._sockets: tuple[socket.socket, ...] = ()

    def begin(self) -> None:
        """From now on somebody may wait for it."""
        self._sockets = socket.socketpair()
        for each in self._sockets:
            each.setblocking(False)

    def nudge(self) -> None:
        """Wake the thread."""
        for ours in self._sockets[:1]:
            with suppress(OSError):  # it has much to look at already, or is gone
                ours.send(b".")

    def fileno(self) -> int:
        """To be polled."""
        return self._sockets[1].fileno()

    def drain(self) -> None:
        """Forget that it was woken."""
        with suppress(OSError):
            self._sockets[1].recv(4096)

    def close(self) -> None:
        """Give its sockets back."""
        for each in self._sockets:
            each.close()


class Running:
    """One run; `follow` returns when it is over and nothing of it is alive."""

    def __init__(
        self,
        child: Child,
        channel: Channel,
        telling: Telling,
        folder: TreeFolder,
        ports: tuple[int, int] | None,
    ) -> None:
        self._child = child
        self._channel = channel
        self._telling = telling
        self._folder = folder
        self._ports = ports
        self._stop_at = 0.0
        """When its own time to end is over; 0: it is not to end."""

    def follow(self, inbox: Inbox, ending: Callable[[], str]) -> Exit:
        """Tell what it does and hand it orders; `ending` says why it is to end, if it is."""
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
            ended = self._child.poll()  # before the last look: all it wrote is there by then
            while inbox.orders:
                self._obey(inbox.orders.popleft())
            self._channel.give_up()
            if speaks >= 0 > self._channel.fileno():
                poll.unregister(speaks)
            self._find()
            found = self._telling.look(last=ended is not None)
            if ended is not None:
                return ended
            quick = found or not self._telling.began
            pause = QUICK_S if quick else min(SLOW_S, 1.5 * pause)
            self._end(told=bool(ending()))

    def _obey(self, order: Tell | Adopt) -> None:
        if isinstance(order, Tell):
            self._channel.tell(order)
        else:
            self._telling.again(order.seen)

    def _find(self) -> None:
        """Where it records: known by its worktree's lock, whose owner it is."""
        if self._telling.began:
            return
        owner = Owner.read(ralph_folder(self._folder.tree) / "lock")
        if owner.pid == self._child.pid and owner.run:
            self._telling.begin(owner.run, owner.run_id, self._ports)

    def _end(self, *, told: bool) -> None:
        if not told:
            return
        if not self._stop_at:
            self._child.interrupt()
            self._stop_at = time.monotonic() + ORDERLY_S
        elif time.monotonic() > self._stop_at:
            self._child.stop()
