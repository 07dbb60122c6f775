"""Safe access to files that an agent could have replaced: records, and files beside them.

Opening a file never blocks (a FIFO would block its reader forever), accepts only plain files, and
follows no links: neither the file nor a folder below `below` may be a link. For records, `below` is
their ``.aiwg/ralph``. That folder and its parents may be links: people keep records on another
disk. ralph-tui creates no links below it, so a link found there cannot be trusted.

Anything else raises `NotPlainError`, an ``OSError`` whose text names the obstacle. Uses only the
standard library, so that commands start fast.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

LARGEST = 1 << 28
"""Maximum size in bytes of a file that is read whole: a sparse file could claim any size."""
_PLAIN = os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class NotPlainError(OSError):
    """The path is not a plain file, or one of its folders is a link."""

    advice = "move it out of the way"
    """The remedy to show with the error."""


def open_plain(
    path: Path,
    flags: int = os.O_RDONLY,
    mode: int = 0o666,
    *,
    below: Path | None = None,
    follow: bool = False,
) -> int:
    """Open a plain file and return its descriptor; `mode` is for a file that `flags` create.

    `follow`: follow links, for a path that the user named. Raises ``OSError``, and `NotPlainError`
    if it is not a plain file.
    """
    if follow:
        return _open(path, flags, mode, None)
    with folder_of(path, below=below) as folder:
        return _open(path, flags | os.O_NOFOLLOW, mode, folder)


@contextmanager
def folder_of(path: Path, *, below: Path | None = None) -> Iterator[int]:
    """Yield a descriptor of the folder that contains a file. Raises ``OSError``."""
    descriptor = _enter(path.parent, below)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def make_folder(folder: Path, *, below: Path | None = None) -> None:
    """Create the folder and its missing parents, following no link. Raises ``OSError``."""
    os.close(_enter(folder, below, make=True))


def reading(path: Path, *, below: Path | None = None, follow: bool = False) -> BinaryIO:
    """Open a file for reading. Raises ``OSError``."""
    return os.fdopen(open_plain(path, below=below, follow=follow), "rb")


def open_append(path: Path) -> BinaryIO:
    """Open a file for unbuffered appending, creating it if missing. Raises ``OSError``."""
    descriptor = open_plain(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return cast("BinaryIO", os.fdopen(descriptor, "ab", buffering=0))


def open_emptied(path: Path) -> BinaryIO:
    """Create or empty a file, and open it for writing without a buffer. Raises ``OSError``."""
    descriptor = open_plain(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    return cast("BinaryIO", os.fdopen(descriptor, "wb", buffering=0))


def fresh(path: Path) -> BinaryIO:
    """Create a file and open it for writing without a buffer. Raises ``OSError`` if it exists."""
    descriptor = open_plain(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    return cast("BinaryIO", os.fdopen(descriptor, "wb", buffering=0))


def write_all(file: BinaryIO, data: bytes | bytearray) -> None:
    """Write all of the data: an unbuffered call may write only part of it. Raises ``OSError``."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def read_bytes(
    path: Path, *, below: Path | None = None, most: int | None = LARGEST, follow: bool = False
) -> bytes:
    """Return the whole content. Raises ``OSError``, also if over `most` bytes (None: no limit)."""
    with reading(path, below=below, follow=follow) as file:
        if most is not None and os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EOVERFLOW, f"it is larger than {most:,} bytes", str(path))
        return file.read()


def read_text(path: Path) -> str:
    """Like `read_bytes`, decoded as UTF-8. Raises ``UnicodeDecodeError`` if that fails."""
    return read_bytes(path).decode("utf-8")


def write_whole(
    path: Path,
    content: bytes,
    *,
    below: Path | None = None,
    durable: bool = True,
    mode: int | None = None,
) -> None:
    """Replace a file atomically: a reader sees the old or the new content. Raises ``OSError``.

    Replaces anything except a folder, without opening it. `durable` also syncs the file to disk;
    `mode` sets its permissions (default: those of any new file).
    """
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with folder_of(path, below=below) as folder:
        try:
            with os.fdopen(_open(temporary, flags, 0o666, folder), "wb") as file:
                file.write(content)
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(temporary.name, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            _unlink(temporary.name, folder)


def put_new(path: Path, content: bytes, *, mode: int) -> None:
    """Create a file. Raises ``OSError``, and ``FileExistsError`` if the path exists."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with folder_of(path) as folder, os.fdopen(_open(path, flags, mode, folder), "wb") as file:
        try:
            file.write(content)
            file.flush()
        except OSError:
            _unlink(path.name, folder)
            raise


def is_plain(path: Path) -> bool:
    """Return True if this is a plain file, not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def leaves_folder(folder: Path, name: str) -> bool:
    """Return True if a relative path points outside the folder, directly or through a link.

    Also True if the path cannot be resolved.
    """
    try:
        return name.startswith("~") or not (folder / name).resolve().is_relative_to(
            folder.resolve()
        )
    except (OSError, ValueError, RuntimeError):
        return True


def clear_way(path: Path, *, below: Path | None = None) -> None:
    """Delete a FIFO, link or other special file at this path; keep a plain file or a folder.

    Only for names that belong to ralph-tui. Raises ``OSError``.
    """
    try:
        with folder_of(path, below=below) as folder:
            mode = os.stat(path.name, dir_fd=folder, follow_symlinks=False).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                _unlink(path.name, folder)
    except FileNotFoundError:
        return


def _unlink(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return


def _open(path: Path, flags: int, mode: int, folder: int | None) -> int:
    name = path if folder is None else path.name
    try:
        descriptor = os.open(name, flags | _PLAIN, mode, dir_fd=folder)
    except OSError as error:
        raise _refusal(path, error) from error
    found = os.fstat(descriptor).st_mode
    if stat.S_ISREG(found):
        return descriptor
    os.close(descriptor)
    raise _not_plain(path, found)


def _refusal(path: Path, error: OSError) -> OSError:
    """Return the system's error with the whole path, or an error that names the obstacle."""
    if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EOPNOTSUPP, errno.EISDIR):
        try:
            mode = path.lstat().st_mode
        except OSError:
            mode = stat.S_IFREG
        if not stat.S_ISREG(mode):
            return _not_plain(path, mode)
    return OSError(error.errno, error.strerror, str(path))


def _not_plain(path: Path, mode: int) -> NotPlainError:
    kind = _KINDS.get(stat.S_IFMT(mode), "something else")
    code = errno.ELOOP if stat.S_ISLNK(mode) else errno.EINVAL
    return NotPlainError(code, f"it is {kind}, not a regular file", str(path))


def _enter(folder: Path, below: Path | None, *, make: bool = False) -> int:
    """Return a descriptor of the folder; no folder below `below` on its path may be a link."""
    top = below if below is not None and folder.is_relative_to(below) else _records_of(folder)
    if make:
        (top or folder).mkdir(parents=True, exist_ok=True)
    here = top or folder
    descriptor = os.open(here, _FOLDER)
    for part in folder.relative_to(here).parts:
        here /= part
        try:
            child = _open_child(part, here, descriptor, make=make)
        finally:
            os.close(descriptor)
        descriptor = child
    return descriptor


def _open_child(part: str, here: Path, descriptor: int, *, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(part, dir_fd=descriptor)
    try:
        return os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
    except OSError as error:
        if here.is_symlink():
            words = f"{here} is a link; links are not followed there"
            raise NotPlainError(errno.ELOOP, words, str(here)) from error
        raise OSError(error.errno, error.strerror, str(here)) from error


def _records_of(folder: Path) -> Path | None:
    """Return the ``.aiwg/ralph`` that is, or contains, this folder; None if there is none."""
    for place in (folder, *folder.parents):
        if place.name == "ralph" and place.parent.name == ".aiwg":
            return place
    return None
