"""Where a run's command socket lies: in a folder that only its owner can enter."""

import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

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
