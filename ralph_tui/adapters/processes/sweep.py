"""Find and stop what a killed keeper has left behind, by the mark in the environment.

A process is a target if its environment has the mark, or if it descends, or has been seen to
descend, from a target. The current process, its ancestors and the run that they may themselves
belong to are never targets. Neither are processes of other users or in other containers.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ralph_tui.adapters.processes.adopted import adopting, collect, is_adopted
from ralph_tui.adapters.processes.keeper import Entry, descendants, process_table, send

RUN_MARK = "RALPH_RUN_ID"
PLACE_MARK = "RALPH_WORKTREE"
"""Identifies the worktree by `place_of`: a copy has the same runs, but not their processes."""
COMMAND_MARK = "RALPH_COMMAND_ID"
"""Unique per launched command; separates one keeper's processes from the rest of a run."""
FLEET_MARK = "RALPH_FLEET_ID"
"""Marks everything that the loops of a fleet have started."""
FLEET_NAME, FLEET_LOOP = "RALPH_FLEET", "RALPH_FLEET_LOOP"
"""Variables that name a fleet and its loop to the loop's processes."""
GUARD_MARK = "RALPH_GUARD_ID"
"""Marks commands without a keeper; identifies those of one ralph-tui process."""

MARKS = (RUN_MARK, FLEET_MARK, COMMAND_MARK, GUARD_MARK)
"""Only processes started by a run or a fleet have any of these."""

LADDER = ((signal.SIGINT, 2.5), (signal.SIGTERM, 1.5), (signal.SIGKILL, 1.5))
"""The signals in order, and the seconds to wait after each."""
KILL_S = 1.0
"""Seconds to wait for killed processes to end when time is short."""
POLL_S = 0.02

IsTarget = Callable[[Entry], bool]


def place_of(worktree: Path) -> str:
    """Return an id of a folder that survives a rename but not a copy; empty if it is gone."""
    with contextlib.suppress(OSError):
        found = worktree.stat()
        return f"{found.st_dev}:{found.st_ino}"
    return ""


def sweep(is_dead: Callable[[str], bool], worktree: Path) -> tuple[int, ...]:
    """Stop all processes of this worktree's dead runs; return their pids. Takes at most 6 s.

    `is_dead` is called once per run id found, and must return False for a run that holds its lock.
    """
    place = place_of(worktree)
    table = process_table()
    above = (mark(table[pid], RUN_MARK) for pid in _ancestry(table) if pid in table)
    verdicts = {run_id: False for run_id in above if run_id is not None}

    def is_target(entry: Entry) -> bool:
        run_id = mark(entry, RUN_MARK)
        if run_id is None or mark(entry, PLACE_MARK) != place:
            return False
        if run_id not in verdicts:
            verdicts[run_id] = is_dead(run_id)
        return verdicts[run_id]

    return _stop(is_target)


def mark(entry: Entry, name: str) -> str | None:
    """Return a variable from the environment that one of our processes was started with."""
    home = Path("/proc") / str(entry.pid)
    with contextlib.suppress(OSError):
        key = f"{name}=".encode()
        for variable in environ(entry).split(b"\0"):
            if variable.startswith(key) and _is_ours(home):
                return variable[len(key) :].decode("utf-8", "replace")
    return None


def has_mark(entry: Entry) -> bool:
    """True if one of our runs or fleets, or one of their processes, started it."""
    keys = tuple(f"{name}=".encode() for name in MARKS)
    with contextlib.suppress(OSError):
        return any(variable.startswith(keys) for variable in environ(entry).split(b"\0"))
    return False


def environ(entry: Entry) -> bytes:
    """Return the environment that it was started with; ``OSError`` if the system hides it."""
    home = Path("/proc") / str(entry.pid)
    if not entry.leaderless:
        return (home / "environ").read_bytes()
    found = b""
    for thread in (home / "task").iterdir():
        with contextlib.suppress(OSError):
            found = found or (thread / "environ").read_bytes()
    return found


def stop_command(command_id: str, session: int, below: Iterable[Entry] = ()) -> tuple[int, ...]:
    """Stop a lost keeper's processes: with its mark, in the command's session, or adopted by us.

    `below` are the processes that were seen below the keeper.
    """

    def is_target(entry: Entry) -> bool:
        kept = entry.session == session or mark(entry, COMMAND_MARK) == command_id
        return kept or is_adopted(entry)

    stopped = _stop(is_target, below)
    collect()
    return stopped


@contextlib.contextmanager
def no_orphans() -> Iterator[None]:
    """Stop processes that start during the block and are orphans at its end (Linux)."""
    with adopting():
        try:
            yield
        finally:
            _stop(is_adopted)
            collect()


def kill_adopted() -> None:
    """Kill every orphan here, before this process ends without leaving `no_orphans`."""
    deadline = time.monotonic() + KILL_S
    while (left := _find_all(is_adopted, {})) and time.monotonic() < deadline:
        for entry in left:
            send(entry.pid, signal.SIGKILL)
        time.sleep(POLL_S)
        collect()


def stop_guarded(guard_id: str) -> tuple[int, ...]:
    """Stop the commands of a guard whose ralph-tui has been killed."""
    return _stop(lambda entry: mark(entry, GUARD_MARK) == guard_id)


def continue_keepers(worktree: Path) -> None:
    """Continue stopped keepers of this worktree, so that they end their processes and exit."""
    for pid in keepers(worktree):
        send(pid, signal.SIGCONT)


def keepers(worktree: Path) -> Iterator[int]:
    """Yield the keepers of this worktree's commands."""
    place = f"{PLACE_MARK}={place_of(worktree)}".encode()
    for entry in process_table().values():
        home = Path("/proc") / str(entry.pid)
        with contextlib.suppress(OSError):
            words = (home / "cmdline").read_bytes().split(b"\0")
            # A keeper does not have the mark itself, but gives it to its command.
            is_keeper = any(word.endswith(b"/keeper.py") for word in words[:4])
            if is_keeper and place in words and _is_ours(home):
                yield entry.pid


def processes_below(pid: int) -> list[Entry]:
    """Return the processes that a session's leader has started, where the system shows them."""
    table = process_table()
    found = {entry.pid: entry for entry in descendants({pid}, table)}
    mates = (e for e in table.values() if e.alive and pid in (e.session, e.group))
    return [*found.values(), *(e for e in mates if e.pid not in found and e.pid != pid)]


def orphans(name: str, value: str) -> list[Entry]:
    """Return adopted processes, and those with this mark that no longer descend from this one."""
    table = process_table()
    adopted = {entry.pid for entry in table.values() if is_adopted(entry)}
    below = {entry.pid for entry in descendants({os.getpid()}, table)} | {os.getpid()}
    rest = (entry for entry in table.values() if entry.alive and entry.pid not in below)
    found = [entry for entry in rest if mark(entry, name) == value]
    alive = [table[pid] for pid in adopted if table[pid].alive]
    return [*found, *alive, *descendants(adopted, table)]


def kill(processes: list[Entry]) -> None:
    """Kill those processes whose pid has not been reused."""
    table = process_table()
    for one in processes:
        now = table.get(one.pid)
        if now is not None and now.alive and now.started == one.started:
            send(one.pid, signal.SIGKILL)


def _stop(is_target: IsTarget, seen: Iterable[Entry] = ()) -> tuple[int, ...]:
    """Send the signals of `LADDER` until no target is left, `seen` included; return all pids."""
    known = {(entry.pid, entry.started): entry for entry in seen}
    left = _find_all(is_target, known)
    for number, seconds in LADDER:
        deadline = time.monotonic() + seconds
        signalled: set[tuple[int, str]] = set()
        while left and time.monotonic() < deadline:
            for entry in left:
                # Only KILL is worth repeating.
                if number == signal.SIGKILL or (entry.pid, entry.started) not in signalled:
                    signalled.add((entry.pid, entry.started))
                    send(entry.pid, number)
                    # A stopped process receives no signal but KILL until it continues.
                    send(entry.pid, signal.SIGCONT)
            time.sleep(POLL_S)
            left = _find_all(is_target, known)
    return tuple(sorted(pid for pid, _ in known))


def _find_all(is_target: IsTarget, known: dict[tuple[int, str], Entry]) -> list[Entry]:
    """Return live targets; look twice before returning none.

    A process shows no environment while it is executing another program. One that forks and ends
    while the table is being read may be missing from it, and so may its child.
    """
    return _targets(is_target, known) or _targets(is_target, known)


def _targets(is_target: IsTarget, known: dict[tuple[int, str], Entry]) -> list[Entry]:
    """Return live targets, and add them to `known`."""
    table = process_table()
    spared = _ancestry(table)
    for entry in table.values():
        if entry.alive and entry.pid not in spared and is_target(entry):
            known[entry.pid, entry.started] = entry
    roots = {pid for pid, started in known if pid in table and table[pid].started == started}
    for entry in descendants(roots, table):
        if entry.pid not in spared:
            known[entry.pid, entry.started] = entry
    return [
        entry for entry in table.values() if entry.alive and (entry.pid, entry.started) in known
    ]


def _ancestry(table: dict[int, Entry]) -> set[int]:
    """Return this process and all its ancestors."""
    pid, above = os.getpid(), set[int]()
    while pid and pid not in above:
        above.add(pid)
        pid = table[pid].parent if pid in table else 0
    return above


def _is_ours(home: Path) -> bool:
    """True if the process has the same user and the same process namespace."""
    same_user = home.stat().st_uid == os.geteuid()
    namespace = (home / "ns" / "pid").stat().st_ino
    return same_user and namespace == Path("/proc/self/ns/pid").stat().st_ino
