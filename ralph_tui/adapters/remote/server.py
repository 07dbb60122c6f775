"""The command socket of a run: commands in, one answer out, in a thread of the engine's process.

Rule: whatever comes through it, the run goes on. Only the owner gets in, and who that is says the
system, anew for every command; a line has a limit; a client that is slow or silent waits alone.
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
BEGUN = ".new"
"""Ends the name of a socket that does not listen yet."""
BEGUN_SECONDS = 60.0
"""How long that may take: its process was killed, if it is older."""


def bind(run_id: str) -> tuple[socket.socket, Path]:
    """A listening socket for the run, owner only, and its path.

    Raises ``OSError`` when there is no place for one: nothing private, or no path that is short
    enough.
    """
    failure = OSError("there is no private folder for it")
    for folder in _folders():
        path = folder / f"{run_id.replace('-', '')[:12]}.sock"
        try:
            return listen(path), path
        except OSError as error:
            failure = error
    raise failure


def listen(path: Path) -> socket.socket:
    """A listening socket at `path`; a leftover of the same name is replaced.

    It gets its name when it listens: runs that begin meanwhile take away those that nobody answers.
    """
    _make_private(path.parent)
    _remove_deserted(path.parent)
    begun = path.with_suffix(BEGUN)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        begun.unlink(missing_ok=True)
        listener.bind(str(begun))
        # The folder keeps others out until this is done: a umask belongs to the whole process.
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
    """Sockets of runs that were killed: nobody listens, and nobody else would remove them."""
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
    for path in folder.glob(f"*{BEGUN}"):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime > BEGUN_SECONDS:
                path.unlink()


def _folders() -> Iterator[Path]:
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    # After `su` it may still be somebody else's.
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
"""Served at once; who has been silent for longest makes room for one more."""
READ_SECONDS = 10.0
"""How long a client may take to say one line."""
ANSWER_SECONDS = 60.0
"""How long the engine may take; then the client is left without an answer, for there is none."""
LOOK_SECONDS = 2.0
"""How often the socket file is looked after: a logout or a cleaner may take it away."""
FAREWELL_SECONDS = 1.0
"""How long the last answers may take."""
ONLY_PEOPLE = (
    "what the agent may do is said by a person at a terminal alone: on the run's own screen, with "
    "ralph-tui attach, or with ralph-tui decide in a terminal's foreground"
)
ONLY_PEOPLE_OF_FLEET = (
    "what an agent may do is said by a person at a terminal alone: with ralph-tui fleet attach, or "
    "with ralph-tui fleet decide in a terminal's foreground"
)


class CommandReceiver(Protocol):
    """What the server needs of the engine; both methods are callable from any thread."""

    def request(self, command: Command, reply: Callable[[Accepted | Refused], None]) -> None:
        """Carry a command out; `reply` is called once with what came of it, from another thread."""

    def emit(self, event: Event) -> None:
        """Put an event of the server itself into the record."""


Reply = Callable[[Accepted | Refused], None]


@dataclass(frozen=True)
class Hearing:
    """Whom a socket serves, and how."""

    read: Callable[[bytes, str], Request]
    """A line of whoever signs like this; raises ``ValueError`` with one sentence."""
    hand_over: Callable[[Request, Reply], None]
    """As `CommandReceiver.request`."""
    warn: Callable[[str], None]
    """Records a sentence about the server itself; from any thread."""
    whom: str = "run"
    only_people: str = ONLY_PEOPLE


@contextmanager
def listening(receiver: CommandReceiver, run_id: str) -> Iterator[Path | None]:
    """Commands for `receiver` are heard while the block runs; gives the socket's path.

    None when no socket could be made: the run is told, and goes on without.
    """

    def warn(text: str) -> None:
        receiver.emit(Noticed(level="warn", source="command socket", text=text))

    hearing = Hearing(
        read=lambda line, by: Request(read_request(line, by)),
        hand_over=lambda request, reply: receiver.request(request.command, reply),
        warn=warn,
    )
    with serving(hearing, run_id) as path:
        yield path


def hearing_fleet(
    hand_over: Callable[[Request, Reply], None], warn: Callable[[str], None]
) -> Hearing:
    """The same for a fleet: requests name a loop."""
    return Hearing(read_fleet_request, hand_over, warn, "fleet", ONLY_PEOPLE_OF_FLEET)


@contextmanager
def serving(hearing: Hearing, run_id: str) -> Iterator[Path | None]:
    """As `listening`, for any whom a socket can serve."""
    try:
        listener, path = bind(run_id)
    except OSError as error:
        why = error.strerror or error
        hearing.warn(f"no other terminal can command this {hearing.whom}: {why}")
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

    def __init__(self, hearing: Hearing, listener: socket.socket, path: Path) -> None:
        """Take over the socket that lies at `path`."""
        self._hearing = hearing
        self._listener = listener
        self._path = path
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()
        self._met: set[asyncio.Task[None]] = set()
        """One for each connection."""
        self._silent: dict[asyncio.Task[None], None] = {}
        """Those that wait for a line, the longest first."""
        self._told = False
        self._thread = threading.Thread(target=self._run, name="ralph-socket", daemon=True)

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def stop(self) -> None:
        """Hear no more, give the answers that are due, and remove the socket."""
        with suppress(RuntimeError):  # it has stopped already
            self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(2 * FAREWELL_SECONDS)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        self._loop.set_exception_handler(self._tell_of_bug)
        while not self._stopped.is_set():
            server = await asyncio.start_unix_server(self._meet, sock=self._listener, limit=LIMIT)
            mine = _identity(self._path)
            while _identity(self._path) == mine is not None and not await self._stops():
                pass
            server.close()
            while not self._stopped.is_set():
                try:
                    self._listener = listen(self._path)
                    break
                except OSError:  # its folder is gone, and may come back with the next login
                    await self._stops()
        self._listener.close()
        with suppress(OSError):
            self._path.unlink()
        await self._say_farewell()

    async def _stops(self) -> bool:
        """Let some time pass; whether the end has come."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), LOOK_SECONDS)
        return self._stopped.is_set()

    async def _say_farewell(self) -> None:
        for task in self._silent:
            task.cancel()
        if self._met:
            await asyncio.wait(self._met, timeout=FAREWELL_SECONDS)
        for task in self._met:
            task.cancel()
        await asyncio.gather(*self._met)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._met.add(task)
        try:
            if refusal := self._make_room():
                writer.write(refused_line(refusal))
            else:
                peer = Peer.of(writer.get_extra_info("socket"))
                await self._converse(task, peer, reader, writer)
        except UnwelcomeError as error:
            writer.write(refused_line(str(error)))
        except (asyncio.CancelledError, TimeoutError, ConnectionError):
            pass  # it has to make room, there is no answer, it has hung up
        finally:
            self._silent.pop(task, None)
            await _hang_up(writer)
            self._met.discard(task)

    def _make_room(self) -> str:
        """Why there is none, mostly empty: the most silent client makes room for a new one."""
        if len(self._met) <= CONNECTIONS:
            return ""
        if not self._silent:
            return "too many commands wait for an answer already; try again"
        silent = next(iter(self._silent))
        del self._silent[silent]
        silent.cancel()
        return ""

    async def _converse(
        self,
        task: asyncio.Task[None],
        peer: Peer,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Answer line by line; the first one that is none, or comes from nobody, is the last."""
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
                writer.write(refused_line("the request was cut off: a newline ends it"))
                return
            writer.write(await self._answer(line, peer))
            async with asyncio.timeout(READ_SECONDS):
                await writer.drain()

    async def _answer(self, line: bytes, peer: Peer) -> bytes:
        """Raises ``UnwelcomeError`` when the client may not, or not any more, say anything."""
        speaker = peer.look()
        try:
            request = self._hearing.read(line, speaker.name)
        except ValueError as error:
            return refused_line(str(error))
        if request.command.empowers and not speaker.at_terminal:
            return refused_line(self._hearing.only_people)
        heard: asyncio.Future[Accepted | Refused] = self._loop.create_future()

        def reply(answer: Accepted | Refused) -> None:
            with suppress(RuntimeError):  # nobody is left to be told
                self._loop.call_soon_threadsafe(_settle, heard, answer)

        self._hearing.hand_over(request, reply)
        async with asyncio.timeout(ANSWER_SECONDS):
            answer = await heard
        match answer:
            case Accepted():
                return accepted_line(answer.seq)
            case Refused():
                return refused_line(answer.reason)

    def _tell_of_bug(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """As an event, once: the screen must not be written over."""
        if self._told:
            return
        self._told = True
        text = f"{context.get('message')}: {context.get('exception')!r}"
        self._hearing.warn(text)


def _settle(heard: "asyncio.Future[Accepted | Refused]", answer: Accepted | Refused) -> None:
    if not heard.done():
        heard.set_result(answer)


async def _hang_up(writer: asyncio.StreamWriter) -> None:
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
