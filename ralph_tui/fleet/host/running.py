"""A loop's run while it is alive: followed, told commands, and ended in order."""

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
from ralph_tui.fleet.host.channel import Channel
from ralph_tui.fleet.host.telling import Telling
from ralph_tui.fleet.ports import Adopt, Tell

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
