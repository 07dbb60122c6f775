"""Send one command to a run in another process and return its answer.

Uses only the standard library until the answer arrives.
"""

import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.remote.protocol import (
    ANSWER_LIMIT,
    LIMIT,
    RefusedError,
    read_answer,
    request_line,
)
from ralph_tui.base.errors import RalphError

if TYPE_CHECKING:
    from ralph_tui.commands import Command
    from ralph_tui.ports.host import Accepted, Refused

PATIENCE_S = 10.0
"""Seconds to wait for an answer."""
RETURN_S = 5.0
"""Seconds to wait for a live run's socket, which is recreated if a cleaner has removed it."""
LOOK_S = 0.05
"""Seconds between two checks for the recreated socket."""
GONE = "the run is gone; see ralph-tui status"


def _never_alive() -> bool:
    return False


def send(
    path: Path,
    command: "Command",
    timeout: float = PATIENCE_S,
    alive: Callable[[], bool] = _never_alive,
) -> "Accepted | Refused":
    """Send a command, as `Engine.request` would; `timeout` in seconds.

    `alive` returns True if the run's process exists; then wait briefly for a missing socket.
    Raises ``RalphError`` if the run is gone or does not answer.
    """
    from ralph_tui.ports.host import Accepted, Refused  # noqa: PLC0415  `request` does without them

    try:
        return Accepted(request(path, command.model_dump(mode="json"), timeout, alive))
    except RefusedError as refusal:
        return Refused(str(refusal))


def request(
    path: Path,
    command: Mapping[str, object],
    timeout: float = PATIENCE_S,
    alive: Callable[[], bool] = _never_alive,
    loop: str | None = None,
) -> int:
    """Send a command's fields; return the number of the first event it caused.

    Works like `send`. At a fleet's socket, `loop` is the loop that the command is for, or empty for
    the fleet itself.

    Raises ``RefusedError`` with the run's own sentence.
    """
    request = request_line(command, loop)
    if len(request) > LIMIT:
        raise RefusedError(f"the command is longer than {LIMIT:,} bytes; shorten it")
    try:
        answer = _ask(path, request, time.monotonic() + timeout, alive)
    except PermissionError:
        raise RalphError(
            "the run belongs to another user on this machine; only that user can command it"
        ) from None
    except (TimeoutError, BlockingIOError):
        raise RalphError(
            f"the run did not answer within {timeout:g} s; it may still carry out the command; "
            "see ralph-tui status"
        ) from None
    except OSError as error:
        raise RalphError(f"cannot reach the run at {path}: {error}") from None
    if not answer:
        raise RalphError("the run closed the connection without an answer; see ralph-tui status")
    try:
        return read_answer(answer)
    except ValueError:
        raise RalphError(
            "the run gave an unknown answer; use the ralph-tui version that started it"
        ) from None


def _ask(path: Path, request: bytes, deadline: float, alive: Callable[[], bool]) -> bytes:
    """Return the answer line; empty if the other side hung up."""
    with _connected(path, deadline, alive) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # it may have answered first
            connection.sendall(request)
        answer = bytearray()
        while b"\n" not in answer and len(answer) <= ANSWER_LIMIT:
            _wait_until(connection, deadline)
            try:
                chunk = connection.recv(ANSWER_LIMIT)
            except ConnectionResetError:
                break
            if not chunk:
                break
            answer += chunk
        return bytes(answer)


def _connected(path: Path, deadline: float, alive: Callable[[], bool]) -> socket.socket:
    """Connect to the run; as long as it is alive, wait for its socket to answer."""
    comes_back = min(deadline, time.monotonic() + RETURN_S)
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            _wait_until(connection, deadline)
            connection.connect(str(path))
        except (FileNotFoundError, ConnectionError) as error:
            connection.close()
            if not alive():
                raise RalphError(GONE) from None
            if time.monotonic() > comes_back:
                raise RalphError(
                    f"the run is active, but its command socket {path} does not "
                    f"answer ({error.strerror}); use its own terminal"
                ) from None
            time.sleep(LOOK_S)
        except OSError:
            connection.close()
            raise
        else:
            return connection


def _wait_until(connection: socket.socket, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)
