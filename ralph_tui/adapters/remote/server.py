"""The command socket of a run: commands in, one answer each out, in a thread of its process.

Whatever arrives, the run continues. Only the run's user gets in, and the sender is checked with the
system for each command. Lines have a maximum length, and a slow or silent client delays no one
else.
"""

import asyncio
import os
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ralph_tui.adapters.remote.peer import Peer, UnwelcomeError
from ralph_tui.adapters.remote.protocol import LIMIT, accepted_line, refused_line
from ralph_tui.adapters.remote.requests import Request, read_fleet_request, read_request
from ralph_tui.commands import Command
from ralph_tui.events import Event, Noticed
from ralph_tui.ports.host import Accepted, Refused

BACKLOG = 64
NEW_SUFFIX = ".new"
"""Suffix of a socket that is not listening yet."""
NEW_SECONDS = 60.0
"""Seconds that a new socket may take to listen; an older one belongs to a killed process."""


def bind(run_id: str) -> tuple[socket.socket, Path]:
    """Return a listening socket for the run, accessible only to its user, and its path.

    Raises ``OSError`` if there is neither a private folder nor a path that is short enough.
    """
    failure = OSError("there is no private folder for the socket")
    for folder in _folders():
        path = folder / f"{run_id.replace('-', '')[:12]}.sock"
        try:
            return listen(path), path
        except OSError as error:
            failure = error
    raise failure


def listen(path: Path) -> socket.socket:
    """Return a listening socket at `path`; replaces a leftover of the same name.

    It gets its name only once it listens, because runs that start meanwhile remove sockets that do
    not answer.
    """
    _make_private(path.parent)
    _remove_deserted(path.parent)
    begun = path.with_suffix(NEW_SUFFIX)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        begun.unlink(missing_ok=True)
        listener.bind(str(begun))
        # The folder keeps others out until then; a umask would affect the whole process.
        begun.chmod(0o600)
        listener.listen(BACKLOG)
        begun.rename(path)
    except OSError:
        listener.close()
        with suppress(OSError):
            begun.unlink()
        raise
    return listener


def _remove_deserted(folder: Path) -> None:
    """Remove sockets of killed runs: no process listens to them, and nothing else removes them."""
    for path in folder.glob("*.sock"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
            caller.setblocking(False)
            try:
                caller.connect(str(path))
            except ConnectionRefusedError:
                with suppress(OSError):
                    path.unlink()
            except OSError:
                continue
    for path in folder.glob(f"*{NEW_SUFFIX}"):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime > NEW_SECONDS:
                path.unlink()


def _folders() -> Iterator[Path]:
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    # After `su`, it may still be another user's.
    if runtime.is_absolute() and runtime.is_dir() and runtime.stat().st_uid == os.geteuid():
        yield runtime / "ralph-tui"
    yield Path(tempfile.gettempdir()).absolute() / f"ralph-tui-{os.geteuid()}"


def _make_private(folder: Path) -> None:
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    there = folder.lstat()  # a link may lead anywhere
    mine = stat.S_ISDIR(there.st_mode) and there.st_uid == os.geteuid()
    if not mine or stat.S_IMODE(there.st_mode) & 0o077:
        raise PermissionError(f"{folder} is not a private folder of yours; remove it")


CONNECTIONS = 16
"""Connections served at once; the one that has been silent longest makes room for a new one."""
READ_SECONDS = 10.0
"""Seconds that a client may take to send one line."""
ANSWER_SECONDS = 60.0
"""Seconds that the engine may take; after that, the client gets no answer."""
LOOK_SECONDS = 2.0
"""Seconds between checks of the socket file, which a logout or a cleaner may remove."""
FAREWELL_SECONDS = 1.0
"""Seconds that the last answers may take."""
ONLY_PEOPLE = (
    "only a person at a terminal can widen the agent's permissions: on the run's screen, with "
    "ralph-tui attach, or with ralph-tui decide in the foreground"
)
ONLY_PEOPLE_OF_FLEET = (
    "only a person at a terminal can widen an agent's permissions: with ralph-tui fleet attach, or "
    "with ralph-tui fleet decide in the foreground"
)


class CommandReceiver(Protocol):
    """The engine, as the server uses it; both methods may be called from any thread."""

    def request(self, command: Command, reply: Callable[[Accepted | Refused], None]) -> None:
        """Carry out a command; `reply` is called once with the result, from another thread."""

    def emit(self, event: Event) -> None:
        """Record an event of the server itself."""


Reply = Callable[[Accepted | Refused], None]


@dataclass(frozen=True)
class SocketUser:
    """The receiver of a socket's commands, and the function that parses them."""

    read: Callable[[bytes, str], Request]
    """Parses a line, given the sender's signature. Raises ``ValueError`` with one sentence."""
    hand_over: Callable[[Request, Reply], None]
    """Like `CommandReceiver.request`."""
    warn: Callable[[str], None]
    """Records a sentence about the server itself; callable from any thread."""
    receiver_name: str = "run"
    only_people: str = ONLY_PEOPLE


@contextmanager
def listening(receiver: CommandReceiver, run_id: str) -> Iterator[Path | None]:
    """Receive commands for `receiver` while the block runs; yield the socket's path.

    Yields None if no socket could be created; the run gets a warning and continues without one.
    """

    def warn(text: str) -> None:
        receiver.emit(Noticed(level="warn", source="command socket", text=text))

    hearing = SocketUser(
        read=lambda line, by: Request(read_request(line, by)),
        hand_over=lambda request, reply: receiver.request(request.command, reply),
        warn=warn,
    )
    with serving(hearing, run_id) as path:
        yield path


def hearing_fleet(
    hand_over: Callable[[Request, Reply], None], warn: Callable[[str], None]
) -> SocketUser:
    """Return the `SocketUser` of a fleet, whose requests name a loop."""
    return SocketUser(read_fleet_request, hand_over, warn, "fleet", ONLY_PEOPLE_OF_FLEET)


@contextmanager
def serving(hearing: SocketUser, run_id: str) -> Iterator[Path | None]:
    """Serve any kind of receiver, in the way `listening` serves a run."""
    try:
        listener, path = bind(run_id)
    except OSError as error:
        why = error.strerror or error
        hearing.warn(f"no other terminal can command this {hearing.receiver_name}: {why}")
        yield None
        return
    server = CommandServer(hearing, listener, path)
    server.start()
    try:
        yield path
    finally:
        server.stop()


class CommandServer:
    """Serves a listening socket until it is stopped."""

    def __init__(self, hearing: SocketUser, listener: socket.socket, path: Path) -> None:
        """Take over the socket at `path`."""
        self._hearing = hearing
        self._listener = listener
        self._path = path
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()
        self._clients: set[asyncio.Task[None]] = set()
        """One task for each connection."""
        self._silent: dict[asyncio.Task[None], None] = {}
        """Connections that are waiting for a line, longest wait first."""
        self._bug_recorded = False
        self._thread = threading.Thread(target=self._run, name="ralph-socket", daemon=True)

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening, send the pending answers, and remove the socket."""
        with suppress(RuntimeError):  # it has already stopped
            self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(2 * FAREWELL_SECONDS)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        self._loop.set_exception_handler(self._record_bug)
        while not self._stopped.is_set():
            server = await asyncio.start_unix_server(
                self._on_client, sock=self._listener, limit=LIMIT
            )
            mine = _identity(self._path)
            while _identity(self._path) == mine is not None and not await self._stops():
                pass
            server.close()
            while not self._stopped.is_set():
                try:
                    self._listener = listen(self._path)
                    break
                except OSError:  # its folder is gone, but may return with the next login
                    await self._stops()
        self._listener.close()
        with suppress(OSError):
            self._path.unlink()
        await self._send_due_answers()

    async def _stops(self) -> bool:
        """Wait `LOOK_SECONDS`; True if the server has to stop."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), LOOK_SECONDS)
        return self._stopped.is_set()

    async def _send_due_answers(self) -> None:
        for task in self._silent:
            task.cancel()
        if self._clients:
            await asyncio.wait(self._clients, timeout=FAREWELL_SECONDS)
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients)

    async def _on_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            if refusal := self._make_room():
                writer.write(refused_line(refusal))
            else:
                peer = Peer.of(writer.get_extra_info("socket"))
                await self._serve_client(task, peer, reader, writer)
        except UnwelcomeError as error:
            writer.write(refused_line(str(error)))
        except (asyncio.CancelledError, TimeoutError, ConnectionError):
            pass  # dropped to make room, no answer in time, or the client hung up
        finally:
            self._silent.pop(task, None)
            await _close_writer(writer)
            self._clients.discard(task)

    def _make_room(self) -> str:
        """Drop a silent client to make room for a new one; return why that failed, or ""."""
        if len(self._clients) <= CONNECTIONS:
            return ""
        if not self._silent:
            return "too many commands are waiting; try again"
        silent = next(iter(self._silent))
        del self._silent[silent]
        silent.cancel()
        return ""

    async def _serve_client(
        self,
        task: asyncio.Task[None],
        peer: Peer,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Answer line by line, until a line is invalid or the client is gone."""
        while True:
            self._silent[task] = None
            try:
                async with asyncio.timeout(READ_SECONDS):
                    line = await reader.readline()
            except TimeoutError:
                return
            except ValueError:
                writer.write(refused_line(f"a request has at most {LIMIT:,} bytes"))
                return
            self._silent.pop(task, None)
            if not line:
                return
            if not line.endswith(b"\n"):
                writer.write(refused_line("the request was cut off; end it with a newline"))
                return
            writer.write(await self._answer(line, peer))
            async with asyncio.timeout(READ_SECONDS):
                await writer.drain()

    async def _answer(self, line: bytes, peer: Peer) -> bytes:
        """Answer one line. Raises ``UnwelcomeError`` if the client may not command the run."""
        speaker = peer.identify()
        try:
            request = self._hearing.read(line, speaker.name)
        except ValueError as error:
            return refused_line(str(error))
        if request.command.empowers and not speaker.at_terminal:
            return refused_line(self._hearing.only_people)
        heard: asyncio.Future[Accepted | Refused] = self._loop.create_future()

        def reply(answer: Accepted | Refused) -> None:
            with suppress(RuntimeError):  # no client is left to answer
                self._loop.call_soon_threadsafe(_settle, heard, answer)

        self._hearing.hand_over(request, reply)
        async with asyncio.timeout(ANSWER_SECONDS):
            answer = await heard
        match answer:
            case Accepted():
                return accepted_line(answer.seq)
            case Refused():
                return refused_line(answer.reason)

    def _record_bug(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Record a bug in the server as an event, once; a traceback would overwrite the screen."""
        if self._bug_recorded:
            return
        self._bug_recorded = True
        text = f"{context.get('message')}: {context.get('exception')!r}"
        self._hearing.warn(text)


def _settle(heard: "asyncio.Future[Accepted | Refused]", answer: Accepted | Refused) -> None:
    if not heard.done():
        heard.set_result(answer)


async def _close_writer(writer: asyncio.StreamWriter) -> None:
    writer.close()
    try:
        async with asyncio.timeout(FAREWELL_SECONDS):
            await writer.wait_closed()
    except (TimeoutError, OSError, asyncio.CancelledError):
        writer.transport.abort()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        there = path.lstat()
    except OSError:
        return None
    return there.st_dev, there.st_ino
