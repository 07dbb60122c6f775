"""The files by which a fleet and its hosts know each other.

There is one key for all of them: whoever has the folder takes part, as a host or as a fleet, and
can run programs as any of their users.
"""

import os
import ssl
import stat
from pathlib import Path

from distributed.security import Security

from ralph_tui.errors import UsageError, why
from ralph_tui.plain_files import make_folder, put_new

_NO_TLS = ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
"""What OpenSSL calls an answer that is none of TLS."""
CERTIFICATE, KEY = "fleet-cert.pem", "fleet-key.pem"


def make_files(folder: Path) -> None:
    """Put a new key and its certificate into `folder`, for nobody but this user.

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
