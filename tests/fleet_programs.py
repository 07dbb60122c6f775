"""Hosts and fleets as processes of their own, and a way between them that can be cut."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from tests.forks import FLEET, Forked
from tests.paths import ROOT
from tests.waiting import PATIENCE_S, until


class LineProcess(Forked):
    """A module's process that reads lines, and whose output is a list of lines."""

    def __init__(self, module: str, *words: str) -> None:
        (stdin, reported), (said, out) = os.pipe(), os.pipe()
        self._stdin, self._out = os.fdopen(reported, "w"), os.fdopen(said)
        program = replace(FLEET, module=module)
        try:
            super().__init__(program, words, ROOT, dict(os.environ), (stdin, out, out))
        finally:
            os.close(stdin)
            os.close(out)
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with self._out:
            for line in self._out:
                self.lines.append(line)

    def wait_for(self, words: str, timeout: float = PATIENCE_S) -> str:
        """The first line with these words."""

        def found() -> str:
            if self.poll() is not None:
                self._reader.join()
            lines = [line for line in self.lines if words in line]
            assert lines or self.poll() is None, "".join(self.lines)
            return lines[0] if lines else ""

        return until(found, timeout)

    def write_line(self, text: str) -> None:
        """Write a line to its stdin."""
        self._stdin.write(f"{text}\n")
        self._stdin.flush()

    def freeze(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        """Kill it, unless it has ended."""
        self.kill()
        self.wait()
        with suppress(BrokenPipeError):
            self._stdin.close()


@contextmanager
def program(module: str, *words: str) -> Iterator[LineProcess]:
    """Ended with the block, whatever it does."""
    with closing(LineProcess(module, *words)) as child:
        yield child


def host(address: str, name: str, scratch: Path, keys: Path | None = None) -> list[str]:
    """The module that is a played host, and its words."""
    scratch.mkdir(exist_ok=True)
    more = [str(keys)] if keys else []
    return ["tests.doubles.fleet_host", address, name, str(scratch), *more]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


class TcpForwarder:
    """Forwards TCP to a port, until it is cut; it can be mended."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._passable = True
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End what is open, and let nothing new through."""
        with self._lock:
            self._passable = False
            for end in self._open:
                _shut(end)
            self._open.clear()

    def restore(self) -> None:
        with self._lock:
            self._passable = True

    def close(self) -> None:
        self.cut()
        _shut(self._server)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._server.accept()
                with self._lock:
                    if not self._passable:
                        here.close()
                        continue
                    try:
                        there = socket.create_connection(("127.0.0.1", self._target))
                    except OSError:  # no process listens there now
                        here.close()
                        continue
                    self._open += [here, there]
                for source, sink in ((here, there), (there, here)):
                    threading.Thread(target=_forward, args=(source, sink), daemon=True).start()


def _forward(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    for end in (source, sink):
        _shut(end)


def _shut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
