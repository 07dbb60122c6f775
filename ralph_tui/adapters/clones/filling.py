"""Contents of a new worktree that Git does not provide: copied files and the set-up command.

The set-up command may run for `SETUP_LIMIT_S` seconds. Like every command of a run, it has a keeper
that stops everything it started.
"""

import os
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ralph_tui.adapters.clones.git import clone_git
from ralph_tui.adapters.workspace.verification import ShellGate
from ralph_tui.base.errors import UsageError, WorkspaceError, why, workspace_error
from ralph_tui.base.plain_files import is_plain, leaves_folder, make_folder, read_bytes, write_whole
from ralph_tui.text.sanitize import one_line, shorten

SETUP_LIMIT_S = 1800.0
MAX_COPIED = 16 << 20
"""Maximum size of all copied files in bytes; every order contains them."""
MAX_FILES = 2000
SETUP = "set-up command"
"""The set-up command's name in messages."""
LAST_WORDS = 300
"""Maximum length of the output quoted in an error about the set-up command."""


def read_copied(root: Path, names: Iterable[str]) -> dict[str, str]:
    """Return files from the user's repository by relative path, with their content as base64.

    Folders are read completely. Raises ``UsageError`` if a path is missing, outside `root` or
    unreadable, or if the files are too large.
    """
    found: dict[str, str] = {}
    size = 0
    for name in names:
        for path in _files(root, name):
            try:
                content = read_bytes(path, most=MAX_COPIED)
            except OSError as error:
                raise UsageError(
                    f"{one_line(str(path))} cannot be copied to the clones: "
                    f"{why(error, 'make it readable, or leave it out of copy')}"
                ) from error
            size += len(content)
            if size > MAX_COPIED or len(found) >= MAX_FILES:
                raise UsageError(
                    f"{one_line(name)}, listed in copy, is too large (at most "
                    f"{MAX_COPIED >> 20} MB in {MAX_FILES} files); create it in the set-up "
                    "command instead"
                )
            found[path.relative_to(root).as_posix()] = b64encode(content).decode()
    return found


def _files(root: Path, name: str) -> Iterator[Path]:
    path = root / name
    if leaves_folder(root, name):
        raise UsageError(f"{one_line(name)}, listed in copy, is outside {one_line(str(root))}")
    if is_plain(path):
        yield path
    elif path.is_dir():
        for above, folders, names in os.walk(path):
            folders.sort()
            yield from (Path(above, each) for each in sorted(names) if is_plain(Path(above, each)))
    else:
        raise UsageError(f"no {one_line(name)} in {one_line(str(root))}; remove it from copy")


def put_copied(tree: Path, copied: Mapping[str, str]) -> None:
    """Write the copied files into a new worktree. Raises ``WorkspaceError``."""
    for name, content in copied.items():
        path = tree / name
        if leaves_folder(tree, name) or path.name in ("", ".git") or ".git" in path.parts:
            raise WorkspaceError(
                f"{one_line(name)} cannot be copied into a clone; remove it from copy"
            )
        try:
            make_folder(path.parent)
            write_whole(path, b64decode(content), durable=False, mode=0o600)
        except NotBase64 as error:
            raise WorkspaceError(
                f"the copied file {one_line(name)} was damaged in transfer"
            ) from error
        except OSError as error:
            raise workspace_error(
                f"{one_line(name)} cannot be copied to {one_line(str(tree))}: {why(error, '')}",
                error,
            ) from error


def untracked(tree: Path) -> tuple[str, ...]:
    """Return untracked, unignored paths in a worktree where no agent has worked yet."""
    listed = clone_git(tree, "ls-files", "--others", "--exclude-standard", "--directory", "-z")
    return tuple(os.fsdecode(name) for name in listed.out.split(b"\0")[:MAX_FILES] if name)


class SetupError(WorkspaceError):
    """The set-up command failed, as it would on any host."""


def run_setup(gate: ShellGate, log: Path) -> None:
    """Run the set-up command. Raises ``SetupError`` with the end of its output if it fails."""
    result = gate.run(log)
    if result.ok:
        return
    if result.cancelled:
        raise SetupError("the set-up command was stopped with its loop")
    how = f"ended with {result.exit_code}"
    if result.timed_out:
        how = f"had not ended after {SETUP_LIMIT_S / 60:.0f} minutes"
    elif result.error:
        raise SetupError(f"{one_line(result.error)} (full log: {one_line(str(log))})")
    words = shorten(one_line(" ".join(result.tail.split())[-LAST_WORDS:]), LAST_WORDS)
    said = f": {words}" if words else ""
    raise SetupError(f"the set-up command {how}{said} (full log: {one_line(str(log))})")
