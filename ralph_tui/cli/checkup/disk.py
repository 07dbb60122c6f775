"""Disk space and write access for the records, and inotify watches for the file watcher."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ralph_tui.base.plain_files import read_bytes
from ralph_tui.cli.checkup.finding import Finding, Level
from ralph_tui.cli.checkup.surroundings import Surroundings
from ralph_tui.text.format import memory_size

WHAT = "disk"
WATCHES = "watches"
LITTLE = 500 << 20
"""Bytes; one night's transcripts may need that much."""
NOTHING = 10 << 20
MAX_FOLDERS = 200_000
"""Counting stops here."""


def check_disk(around: Surroundings) -> Iterator[Finding]:
    """Check the free space, and that records can be written."""
    place = next((each for each in (around.records, around.root) if each.exists()), around.root)
    shown = around.shown(place)
    if not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
        says = f"{shown}, the folder for run records, is not writable"
        yield Finding("problem", WHAT, says, f"chmod u+rwx {shown}, or check its disk")
        return
    facts = os.statvfs(place)
    free = facts.f_bavail * facts.f_frsize
    says = f"{memory_size(free)} free in {shown}"
    if free < LITTLE:
        level: Level = "problem" if free < NOTHING else "warning"
        fix = "free some space; ralph-tui prune removes what old runs no longer need"
        yield Finding(level, WHAT, f"only {says}", fix)
    elif facts.f_files and not facts.f_favail:
        yield Finding(
            "problem", WHAT, f"no inodes left for new files in {shown}", "delete some files (df -i)"
        )
    else:
        yield Finding("ok", WHAT, says)


def check_watches(around: Surroundings) -> Iterator[Finding]:
    """Check that enough inotify watches and instances are free (Linux only).

    A run needs one instance, and one watch for each folder; other programs use some as well.
    """
    if around.platform != "linux":
        return
    limits = around.proc / "sys" / "fs" / "inotify"
    watches, instances = (
        _number(limits / "max_user_watches"),
        _number(limits / "max_user_instances"),
    )
    if watches is None or instances is None:
        return
    used, open_instances = _in_use(around.proc)
    needed = _folders(around.root)
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


def _folders(root: Path) -> int:
    """Count the folders at and below `root`, up to `MAX_FOLDERS`, without following links."""
    count, waiting = 0, [str(root)]
    while waiting and count < MAX_FOLDERS:
        count += 1
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            waiting += [each.path for each in entries if each.is_dir(follow_symlinks=False)]
    return count


def _in_use(proc: Path) -> tuple[int, int]:
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
                        told = read_bytes(process / "fdinfo" / descriptor.name)
                        watches += told.count(b"\ninotify ")
    return watches, instances


def _number(path: Path) -> int | None:
    try:
        return int(read_bytes(path))
    except (OSError, ValueError):
        return None
