"""The host's end of the socket that a run inherits: commands in, answers back, in any order.

See `adapters.remote.starter` for the run's end. Used by the thread of one loop alone.
"""

import json
import socket
import time
from collections.abc import Callable

from ralph_tui.adapters.remote.protocol import (
    ANSWER_LIMIT,
    LIMIT,
    VERSION,
    RefusedError,
    read_answer,
)
from ralph_tui.fleet.ports import Tell, Told
from ralph_tui.text.foreign_json import parse_json

SEND_S = 2.0
"""How long a run may take to take a command in."""
ANSWER_S = 60.0
"""How long it may take to answer one."""
GONE = "the run ended before it answered"
SILENT = "the run did not answer within a minute; it may still obey"
BUSY = "the run takes no commands now: it does not answer"


class Channel:
    """Commands to one run; answers are given to `told`."""

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
