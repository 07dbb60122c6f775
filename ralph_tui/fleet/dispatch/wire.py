"""Messages on a host's connection: batches of JSON, in order, both ways; and their TLS keys."""

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
from ralph_tui.fleet.ports import LoopSummary, Observation, Order, Recorded, StatusChanged

BATCH_S = 0.08
"""Seconds that records of a run may wait to be sent together."""

HELLO, WELCOME, HOLDS = "fleet-hello", "fleet-welcome", "fleet-holds"
DISMISSED, ENDED = "fleet-dismissed", "fleet-ended"
ORDERED, OBSERVED, LEAVING = "fleet-ordered", "fleet-observed", "fleet-leaving"
"""Names of messages."""

_BATCHED = (Recorded, StatusChanged)
"""Observations that may wait; any other is sent at once, following any that are waiting."""

_order: TypeAdapter[Order] = TypeAdapter(Order)
_observation: TypeAdapter[Observation] = TypeAdapter(Observation)
_held = TypeAdapter(tuple[LoopSummary, ...])


def encode(value: Order | Observation) -> str:
    """Return the value as one line of JSON."""
    return value.model_dump_json()


def parse_order(line: str) -> Order:
    """Parse an order; raise ``ValueError`` if it is invalid."""
    return _order.validate_json(line)


def parse_observation(line: str) -> Observation:
    """Parse an observation; raise ``ValueError`` if it is invalid."""
    return _observation.validate_json(line)


def encode_held(held: Sequence[LoopSummary]) -> str:
    """Return the loops that a host holds, as JSON."""
    return _held.dump_json(tuple(held)).decode()


def parse_held(text: str) -> tuple[LoopSummary, ...]:
    """Parse the loops that a host holds; raise ``ValueError`` if invalid."""
    return _held.validate_json(text)


def describe_error(error: ValueError) -> str:
    """Describe briefly what is wrong with a message."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)


class Outbox:
    """Queue of outgoing observations: any thread adds to it, one thread empties it."""

    def __init__(self, wake: Callable[[float], None]) -> None:
        """`wake` is called, from any thread, with the seconds after which `take` is due."""
        self._wake = wake
        self._lock = threading.Lock()
        self._lines: list[str] = []
        self._due = False
        """True if `wake` was already called with 0."""

    def put(self, what: Observation) -> None:
        """Add an observation, and call `wake` if that makes `take` due earlier."""
        line, patient = encode(what), isinstance(what, _BATCHED)
        with self._lock:
            first = not self._lines
            self._lines.append(line)
            notify = first or (not patient and not self._due)
            self._due = self._due or not patient
        if notify:
            self._wake(BATCH_S if patient else 0)

    def take(self) -> list[str]:
        """Remove and return all waiting observations, as lines of JSON in order."""
        with self._lock:
            lines, self._lines, self._due = self._lines, [], False
        return lines


_NO_TLS = ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
"""OpenSSL's names for the errors that a non-TLS answer causes."""
CERTIFICATE, KEY = "fleet-cert.pem", "fleet-key.pem"


def make_files(folder: Path) -> None:
    """Write a new key and its certificate into `folder`, readable only by this user.

    A fleet and all its hosts share one key. Anyone with the folder can act as either, and can
    run programs as any of their users.

    Keep existing files. Raises ``UsageError`` if the files cannot be written.
    """
    if _has_keys(folder):
        return
    made = Security.temporary()
    try:
        make_folder(folder)
        put_new(folder / KEY, made.tls_scheduler_key.encode(), mode=0o600)
        put_new(folder / CERTIFICATE, made.tls_scheduler_cert.encode(), mode=0o600)
    except OSError as error:
        raise UsageError(
            f"cannot write the fleet's key into {folder}: {why(error, 'choose another folder')}"
        ) from error


def load_security(folder: Path) -> Security:
    """Return the TLS configuration: both sides present the certificate and require it of the other.

    Raises ``UsageError`` if the files are missing or do not match, or if others can read the key.
    """
    if not _has_keys(folder):
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
            f"{key} and {CERTIFICATE} beside it are not a matching key and certificate; "
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


def is_without_tls(error: BaseException | None) -> bool:
    """True if a connection failed because the other end does not use TLS."""
    while error is not None:
        if any(reason in str(error).upper() for reason in _NO_TLS):
            return True
        error = error.__cause__
    return False


def _has_keys(folder: Path) -> bool:
    return (folder / KEY).is_file() and (folder / CERTIFICATE).is_file()
