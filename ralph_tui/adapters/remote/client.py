"""One command to a run of another process, one answer back. Standard library until it is heard."""

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
"""How long an answer is waited for."""
COMES_BACK_S = 5.0
"""How long a living run's socket is waited for: a cleaner took it away, and it is made anew."""
LOOK_S = 0.05
"""Between two looks whether it has come back."""
GONE = "the run is gone; see ralph-tui status"


def _nobody() -> bool:
    return False


def send(
    path: Path, command: "Command", timeout: float = PATIENCE_S, lives: Callable[[], bool] = _nobody
) -> "Accepted | Refused":
    """Hand a command over, as `Engine.request` would; `timeout` in seconds.

    `lives` says whether the run's process is there: then its socket is waited for. Raises
    ``RalphError`` when the run is gone or does not answer.
    """
    from ralph_tui.ports.host import Accepted, Refused  # noqa: PLC0415  `request` does without them

    try:
        return Accepted(request(path, command.model_dump(mode="json"), timeout, lives))
    except RefusedError as refusal:
        return Refused(str(refusal))


def request(
    path: Path,
    command: Mapping[str, object],
    timeout: float = PATIENCE_S,
    lives: Callable[[], bool] = _nobody,
    loop: str | None = None,
) -> int:
    """As `send`, with a command's fields; gives back the number of the first event it caused.

    `loop`: at the socket of a fleet, the loop it is for; empty: the fleet itself.

    Raises ``RefusedError`` with the run's own sentence.
    """
    request = request_line(command, loop)
    if len(request) > LIMIT:
        raise RefusedError(f"the command is longer than {LIMIT:,} bytes; shorten it")
    try:
        answer = _ask(path, request, time.monotonic() + timeout, lives)
    except PermissionError:
        raise RalphError(
            "the run belongs to another user of this machine; only that user can command it"
        ) from None
    except (TimeoutError, BlockingIOError):
        raise RalphError(
            f"the run did not answer within {timeout:g} s; it may still obey: see ralph-tui status"
        ) from None
    except OSError as error:
        raise RalphError(f"cannot reach the run at {path}: {error}") from None
    if not answer:
        raise RalphError("the run went away without an answer; see ralph-tui status")
    try:
        return read_answer(answer)
    except ValueError:
        raise RalphError(
            "the run answered in words unknown here; use the ralph-tui that started it"
        ) from None


def _ask(path: Path, request: bytes, deadline: float, lives: Callable[[], bool]) -> bytes:
    """The answering line; empty when the other side hung up."""
    with _connected(path, deadline, lives) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # it may have said why
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


def _connected(path: Path, deadline: float, lives: Callable[[], bool]) -> socket.socket:
    """A connection to the run; a socket that nobody answers is waited for while the run lives."""
    comes_back = min(deadline, time.monotonic() + COMES_BACK_S)
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            _wait_until(connection, deadline)
            connection.connect(str(path))
        except (FileNotFoundError, ConnectionError) as error:
            connection.close()
            if not lives():
                raise RalphError(GONE) from None
            if time.monotonic() > comes_back:
                raise RalphError(
                    f"the run lives, but nobody answers at its command socket {path} "
                    f"({error.strerror}); command it from its own terminal"
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
