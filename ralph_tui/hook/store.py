"""The state file on disk: read, changed and written under its lock, as a whole.

Who writes it without the lock is not overwritten: its fields stay but for those that were changed
here. What is no state file is set aside, with its date, and then there is none: nothing goes on
that nobody knows the task of.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ralph_tui.errors import RalphError, why
from ralph_tui.file_lock import locked
from ralph_tui.layers.context.state_file import State, content_of, parse
from ralph_tui.plain_files import read_bytes, write_whole

PATIENCE_S = 8.0
"""How long other calls are waited for: one may wait for git."""
LARGEST = 1 << 24
"""Bytes of a state file."""
_LOOKS, _LOOK_S = 5, 0.05
"""Another program may be writing it right now, in place."""

Stamp = tuple[int, int, int]


class Held:
    """The state file while it is locked."""

    def __init__(self, path: Path, state: State, problems: tuple[str, ...], stamp: Stamp) -> None:
        self.path = path
        self.state = state
        """As it should become; assign the changed one."""
        self.problems = problems
        """What was mended; the first save sets the file aside as it was."""
        self.aside: Path | None = None
        self._read, self._stamp = state, stamp

    def save(self) -> None:
        """Write it, if it has changed; ``RalphError``."""
        if self.state == self._read:
            return
        try:
            if self.problems and self.aside is None:
                self.aside = _set_aside(self.path)
            self._write()
        except OSError as error:
            raise _refused(self.path, "written", error) from error

    def _write(self) -> None:
        state = self.state
        if _stamp(self.path) != self._stamp:  # edited meanwhile
            try:
                there = parse(read_bytes(self.path, most=LARGEST)).state
            except (OSError, ValueError):
                there = {}
            changed = {k: v for k, v in state.items() if k not in self._read or self._read[k] != v}
            state = {**(there or state), **changed}
        write_whole(self.path, content_of(state), durable=False)
        self._read, self._stamp = self.state, _stamp(self.path)


@contextmanager
def state_file(path: Path) -> Iterator[Held | None]:
    """The file, locked, or None where there is none: no loop runs here; ``RalphError``."""
    if not path.is_symlink() and not path.exists():
        yield None
        return
    try:
        lock = locked(path.with_name(f".{path.name}.lock"), PATIENCE_S)
        lock.__enter__()
    except OSError as error:
        raise _refused(path, "locked", error) from error
    try:
        yield _read(path)
    finally:
        lock.__exit__(None, None, None)


def _read(path: Path) -> Held | None:
    content, problem = b"", ""
    for look in range(_LOOKS):
        try:
            stamp = _stamp(path)
            content = read_bytes(path, most=LARGEST)
            found = parse(content)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _refused(path, "read", error) from error
        except ValueError as error:
            problem = str(error)
            if look + 1 < _LOOKS:
                time.sleep(_LOOK_S)
            continue
        return Held(path, found.state, found.problems, stamp)
    try:
        aside = _set_aside(path)
        path.unlink()
    except OSError as error:
        raise _refused(path, "set aside", error) from error
    raise RalphError(
        f"the state file {path} is no use ({problem}): it is kept in {aside}, and no loop runs "
        "here until you put it right and back"
    )


def _set_aside(path: Path) -> Path:
    """A copy of the file as it is, beside it."""
    aside = path.with_name(f"{path.name}.{datetime.now(UTC):%Y%m%dT%H%M%S}.bad")
    write_whole(aside, read_bytes(path, most=LARGEST), durable=False)
    return aside


def _stamp(path: Path) -> Stamp:
    there = path.lstat()
    return there.st_ino, there.st_mtime_ns, there.st_size


def _refused(path: Path, what: str, error: OSError) -> RalphError:
    return RalphError(
        f"the state file {path} cannot be {what}: {why(error, 'make it a writable file')}"
    )
