"""What goes over a host's connection: batches of JSON, in order, both ways; the keys of it."""

import os
import ssl
import stat
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from distributed.security import Security
from pydantic import TypeAdapter, ValidationError

from ralph_tui.base.errors import UsageError, why
from ralph_tui.base.plain_files import make_folder, put_new
from ralph_tui.fleet.ports import Held, Observation, Order, Recorded, Stands

BATCH_S = 0.08
"""How long what a run records may wait for more of it."""

HELLO, WELCOME, HOLDS = "fleet-hello", "fleet-welcome", "fleet-holds"
DISMISSED, ENDED = "fleet-dismissed", "fleet-ended"
ORDERED, OBSERVED, LEAVING = "fleet-ordered", "fleet-observed", "fleet-leaving"
"""Names of messages."""

_PATIENT = (Recorded, Stands)
"""What may wait; all else goes at once, behind what was said before."""

_order: TypeAdapter[Order] = TypeAdapter(Order)
_observation: TypeAdapter[Observation] = TypeAdapter(Observation)
_held = TypeAdapter(tuple[Held, ...])


def encode(value: Order | Observation) -> str:
    """As one line of JSON."""
    return value.model_dump_json()


def order(line: str) -> Order:
    """Raises ``ValueError`` for what is none."""
    return _order.validate_json(line)


def observation(line: str) -> Observation:
    """Raises ``ValueError`` for what is none."""
    return _observation.validate_json(line)


def encode_held(held: Sequence[Held]) -> str:
    """What a host holds, as JSON."""
    return _held.dump_json(tuple(held)).decode()


def held(text: str) -> tuple[Held, ...]:
    """Raises ``ValueError`` for what is none."""
    return _held.validate_json(text)


def problem(error: ValueError) -> str:
    """What is wrong with a message, shortly."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)


class Outbox:
    """Observations on their way out: filled by any thread, emptied by one."""

    def __init__(self, wake: Callable[[float], None]) -> None:
        """`wake` is called, from any thread, with the seconds after which `take` is due."""
        self._wake = wake
        self._lock = threading.Lock()
        self._lines: list[str] = []
        self._due = False
        """All of it was said to be due at once."""

    def put(self, what: Observation) -> None:
        """Add one; what waits is due soon, or at once."""
        line, patient = encode(what), isinstance(what, _PATIENT)
        with self._lock:
            first = not self._lines
            self._lines.append(line)
            tell = first or (not patient and not self._due)
            self._due = self._due or not patient
        if tell:
            self._wake(BATCH_S if patient else 0)

    def take(self) -> list[str]:
        """All that waits, as lines of JSON, in order."""
        with self._lock:
            lines, self._lines, self._due = self._lines, [], False
        return lines


_NO_TLS = ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
"""What OpenSSL calls an answer that is none of TLS."""
CERTIFICATE, KEY = "fleet-cert.pem", "fleet-key.pem"


def make_files(folder: Path) -> None:
    """Put a new key and its certificate into `folder`, for nobody but this user.

    There is one key for a fleet and all its hosts: whoever has the folder takes part, as either,
    and can run programs as any of their users.

    Files that are there stay; raises ``UsageError`` where they cannot be made.
    """
    if _there(folder):
        return
    made = Security.temporary()
    try:
        make_folder(folder)
        put_new(folder / KEY, made.tls_scheduler_key.encode(), mode=0o600)
        put_new(folder / CERTIFICATE, made.tls_scheduler_cert.encode(), mode=0o600)
    except OSError as error:
        raise UsageError(
            f"cannot write the fleet's key into {folder}: {why(error, 'name another folder')}"
        ) from error


def security(folder: Path) -> Security:
    """Both sides show the certificate, and believe nobody without it.

    Raises ``UsageError`` where the files are missing, or others can read the key.
    """
    if not _there(folder):
        raise UsageError(
            f"{folder} has no {KEY} and {CERTIFICATE}: copy the folder that 'fleet run --listen' "
            "made on the fleet's machine"
        )
    key = folder / KEY
    try:
        mode = key.stat().st_mode
        readable = os.access(key, os.R_OK)
    except OSError as error:
        raise UsageError(f"cannot read {key}: {why(error, 'make it readable')}") from error
    if not readable:
        raise UsageError(f"cannot read {key}: make it readable for you")
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(
            f"{key} can be read by others, who could run programs as you: chmod 600 {key}"
        )
    certificate, key_file = str(folder / CERTIFICATE), str(key)
    try:
        ssl.create_default_context().load_cert_chain(certificate, key_file, password="")
    except OSError as error:
        raise UsageError(
            f"{key} and {CERTIFICATE} beside it are no key and certificate that fit: "
            "copy the fleet's folder again"
        ) from error
    return Security(
        require_encryption=True,
        tls_ca_file=certificate,
        tls_client_cert=certificate,
        tls_client_key=key_file,
        tls_scheduler_cert=certificate,
        tls_scheduler_key=key_file,
        tls_worker_cert=certificate,
        tls_worker_key=key_file,
    )


def no_tls(error: BaseException | None) -> bool:
    """Whether a connection failed because the other end does not speak TLS at all."""
    while error is not None:
        if any(reason in str(error).upper() for reason in _NO_TLS):
            return True
        error = error.__cause__
    return False


def _there(folder: Path) -> bool:
    return (folder / KEY).is_file() and (folder / CERTIFICATE).is_file()
