"""Disk space and write access for the records, and inotify watches for the file watcher."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ralph_tui.base.plain_files import read_bytes
from ralph_tui.cli.checkup.environment import Environment
from ralph_tui.cli.checkup.finding import Finding, Level
from ralph_tui.text.format import memory_size

SUBJECT = "disk"
WATCHES = "watches"
LOW_BYTES = 500 << 20
"""Bytes that the transcripts of one night may need."""
FULL_BYTES = 10 << 20
MAX_FOLDERS = 200_000
"""Maximum number of folders to count."""


def check_disk(env: Environment) -> Iterator[Finding]:
    """Check for free space and that records can be written."""
    place = next((each for each in (env.records, env.root) if each.exists()), env.root)
    shown = env.short_path(place)
    if not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
        says = f"{shown}, the folder for run records, is not writable"
        yield Finding("problem", SUBJECT, says, f"chmod u+rwx {shown}, or check its disk")
        return
    facts = os.statvfs(place)
    free = facts.f_bavail * facts.f_frsize
    says = f"{memory_size(free)} free in {shown}"
    if free < LOW_BYTES:
        level: Level = "problem" if free < FULL_BYTES else "warning"
        fix = "free some space; ralph-tui prune removes what old runs no longer need"
        yield Finding(level, SUBJECT, f"only {says}", fix)
    elif facts.f_files and not facts.f_favail:
        yield Finding(
            "problem",
            SUBJECT,
            f"no inodes left for new files in {shown}",
            "delete some files (df -i)",
        )
    else:
        yield Finding("ok", SUBJECT, says)


def check_watches(env: Environment) -> Iterator[Finding]:
    """Check that enough inotify watches and instances are free (Linux only).

    A run needs one instance, and one watch for each folder; other programs use some as well.
    """
    if env.platform != "linux":
        return
    limits = env.proc / "sys" / "fs" / "inotify"
    watches, instances = (
        _read_number(limits / "max_user_watches"),
        _read_number(limits / "max_user_instances"),
    )
    if watches is None or instances is None:
        return
    used, open_instances = _count_watches(env.proc)
    needed = _count_folders(env.root)
    more = "more than " if needed >= MAX_FOLDERS else ""
    says = f"{more}{needed:,} folders to watch, {max(0, watches - used):,} watches free"
    if needed > watches - used:
        fix = f"sudo sysctl fs.inotify.max_user_watches={max(2 * watches, 2 * (needed + used))}"
        yield Finding("warning", WATCHES, f"{says}; changes appear late", fix)
    elif open_instances >= instances:
        fix = f"sudo sysctl fs.inotify.max_user_instances={2 * instances}"
        says = f"all {instances} inotify instances are in use; changes appear late"
        yield Finding("warning", WATCHES, says, fix)
    else:
        yield Finding("ok", WATCHES, says)


def _count_folders(root: Path) -> int:
    """Count the folders at and below `root`, up to `MAX_FOLDERS`, without following links."""
    count, waiting = 0, [str(root)]
    while waiting and count < MAX_FOLDERS:
        count += 1
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            waiting += [each.path for each in entries if each.is_dir(follow_symlinks=False)]
    return count


def _count_watches(proc: Path) -> tuple[int, int]:
    """Count watches and instances of this user's processes, as far as /proc is readable."""
    watches = instances = 0
    me = os.getuid()
    for process in proc.glob("[0-9]*"):
        with suppress(OSError):
            if process.stat().st_uid != me:
                continue
            for descriptor in (process / "fd").iterdir():
                with suppress(OSError):
                    if str(descriptor.readlink()) == "anon_inode:inotify":
                        instances += 1
                        content = read_bytes(process / "fdinfo" / descriptor.name)
                        watches += content.count(b"\ninotify ")
    return watches, instances


def _read_number(path: Path) -> int | None:
    try:
        return int(read_bytes(path))
    except (OSError, ValueError):
        return None
