"""Commands from the process that started a run, through a socket that the run inherited.

The command socket asks the system who is sending. Here, the sender is known: only the starter has
the other end, no other process can open it, and the run's children do not inherit it. The signature
in the line is therefore trusted. Commands reserved for people (`empowers`) are accepted, because
the starter has checked who sent them. Lines follow `protocol`, with an `id` that the answer
repeats.
"""

import json
import os
import socket
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from ralph_tui.adapters.remote.protocol import LIMIT, REASON_LIMIT, VERSION
from ralph_tui.adapters.remote.requests import command_of, read_fields
from ralph_tui.adapters.remote.server import CommandReceiver
from ralph_tui.base.errors import UsageError
from ralph_tui.ports.host import Accepted, Refused
from ralph_tui.text.sanitize import clip, one_line

CHUNK = 1 << 16
MAX_NAME = 200
"""Maximum length of a signature or a request's id, in characters."""


def starter_of(descriptor: int | None) -> socket.socket | None:
    """Return the socket with this descriptor, no longer inheritable. Raises ``UsageError``."""
    if descriptor is None:
        return None
    try:
        os.set_inheritable(descriptor, False)
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            raise UsageError(f"--commands-from {descriptor}: not a socket")
        return socket.socket(fileno=descriptor)
    except OSError as error:
        raise UsageError(f"--commands-from {descriptor}: {error.strerror}") from error


@contextmanager
def hearing(receiver: CommandReceiver, starter: socket.socket | None) -> Iterator[None]:
    """Receive commands from the `starter` while the block runs; without one, do nothing."""
    if starter is None:
        yield
        return
    listener = _Listener(receiver, starter)
    thread = threading.Thread(target=listener.listen, name="ralph-starter", daemon=True)
    thread.start()
    try:
        yield
    finally:
        listener.hang_up()
        thread.join()
        starter.close()


class _Listener:
    def __init__(self, receiver: CommandReceiver, starter: socket.socket) -> None:
        self._receiver = receiver
        self._socket = starter
        self._writing = threading.Lock()

    def listen(self) -> None:
        """Receive lines until the other end is gone, or a line is too long."""
        pending = bytearray()
        while chunk := self._handle_lines():
            pending += chunk
            *lines, rest = pending.split(b"\n")
            pending = bytearray(rest)
            for line in lines:
                self._take(bytes(line))
            if len(pending) > LIMIT:
                return

    def hang_up(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _handle_lines(self) -> bytes:
        try:
            return self._socket.recv(CHUNK)
        except OSError:
            return b""

    def _take(self, line: bytes) -> None:
        request = ""
        try:
            fields = read_fields(line)
            request = _name(fields.get("id"))
            given = fields.get("command")
            by = _name(given.get("by")) if isinstance(given, dict) else ""
            command = command_of(fields, by or "the fleet")
        except ValueError as error:
            self._answer(request, {"refused": str(error)})
            return
        self._receiver.request(command, partial(self._reply, request))

    def _reply(self, request: str, answer: Accepted | Refused) -> None:
        match answer:
            case Accepted():
                self._answer(request, {"accepted": answer.seq})
            case Refused():
                self._answer(request, {"refused": answer.reason})

    def _answer(self, request: str, fields: Mapping[str, Any]) -> None:
        """Send an answer without waiting for a reader, because this is the engine's thread."""
        if "refused" in fields:
            fields = {"refused": clip(one_line(str(fields["refused"])), REASON_LIMIT)}
        line = json.dumps({"version": VERSION, "id": request, **fields}).encode() + b"\n"
        try:
            with self._writing:
                sent = self._socket.send(line, socket.MSG_DONTWAIT)
        except OSError:
            sent = 0
        if sent < len(line):
            self.hang_up()  # half a line was sent, or the reader does not read: send nothing more


def _name(value: object) -> str:
    return clip(one_line(value), MAX_NAME) if isinstance(value, str) else ""
