"""What a killed keeper leaves is found by the mark in its environment, and stopped.

A process is a target when its environment bears the mark, when it descends from a target, or when
it was once seen to do so. The current process, its ancestors and the run they may themselves
belong to are never targets; nor are other users' processes and those in other containers.
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
"""See `place_of`: a copied worktree has the same runs, but not their processes."""
COMMAND_MARK = "RALPH_COMMAND_ID"
"""Unique per launched command: tells what one keeper kept from the rest of a run."""
FLEET_MARK = "RALPH_FLEET_ID"
"""Of all that the loops of a fleet have started."""
GUARD_MARK = "RALPH_GUARD_ID"
"""Of commands without a keeper: tells those of one process of ralph-tui."""

MARKS = (RUN_MARK, FLEET_MARK, COMMAND_MARK, GUARD_MARK)
"""Each of them is borne only by what a run or a fleet has started."""

LADDER = ((signal.SIGINT, 2.5), (signal.SIGTERM, 1.5), (signal.SIGKILL, 1.5))
"""Each signal, and the seconds given to it."""
KILL_S = 1.0
"""In which what is killed has ended, where nothing more can be waited for."""
POLL_S = 0.02

Belongs = Callable[[Entry], bool]


def place_of(worktree: Path) -> str:
    """What tells a folder from its copies, also after it was renamed; empty when it is gone."""
    with contextlib.suppress(OSError):
        found = worktree.stat()
        return f"{found.st_dev}:{found.st_ino}"
    return ""


def sweep(is_dead: Callable[[str], bool], worktree: Path) -> tuple[int, ...]:
    """Stop all processes of this worktree's dead runs; their pids. Blocks for at most 6 s.

    `is_dead` is asked once per run id found, and must say False for a run whose lock is held.
    """
    place = place_of(worktree)
    table = process_table()
    above = (mark(table[pid], RUN_MARK) for pid in _ancestry(table) if pid in table)
    verdicts = {run_id: False for run_id in above if run_id is not None}

    def belongs(entry: Entry) -> bool:
        run_id = mark(entry, RUN_MARK)
        if run_id is None or mark(entry, PLACE_MARK) != place:
            return False
        if run_id not in verdicts:
            verdicts[run_id] = is_dead(run_id)
        return verdicts[run_id]

    return _stop(belongs)


def mark(entry: Entry, name: str) -> str | None:
    """The value of a variable in the environment a process of ours was started with."""
    home = Path("/proc") / str(entry.pid)
    with contextlib.suppress(OSError):
        key = f"{name}=".encode()
        for variable in environ(entry).split(b"\0"):
            if variable.startswith(key) and _is_ours(home):
                return variable[len(key) :].decode("utf-8", "replace")
    return None


def bears_mark(entry: Entry) -> bool:
    """Whether a run or fleet of ours has started it, whichever; or something it has started."""
    keys = tuple(f"{name}=".encode() for name in MARKS)
    with contextlib.suppress(OSError):
        return any(variable.startswith(keys) for variable in environ(entry).split(b"\0"))
    return False


def environ(entry: Entry) -> bytes:
    """The environment it was started with; raises ``OSError`` where the system does not show it."""
    home = Path("/proc") / str(entry.pid)
    if not entry.leaderless:
        return (home / "environ").read_bytes()
    found = b""
    for thread in (home / "task").iterdir():
        with contextlib.suppress(OSError):
            found = found or (thread / "environ").read_bytes()
    return found


def stop_command(command_id: str, session: int, below: Iterable[Entry] = ()) -> tuple[int, ...]:
    """Stop what one lost keeper kept: by its mark, by the command's session, or as adopted since.

    `below`: what was seen below it.
    """

    def belongs(entry: Entry) -> bool:
        kept = entry.session == session or mark(entry, COMMAND_MARK) == command_id
        return kept or is_adopted(entry)

    stopped = _stop(belongs, below)
    collect()
    return stopped


@contextlib.contextmanager
def no_orphans() -> Iterator[None]:
    """Who is started while the block runs, and is an orphan at its end, is stopped (Linux)."""
    with adopting():
        try:
            yield
        finally:
            _stop(is_adopted)
            collect()


def kill_adopted() -> None:
    """KILL to every orphan here, before this process ends without leaving `no_orphans`."""
    deadline = time.monotonic() + KILL_S
    while (left := _look_twice(is_adopted, {})) and time.monotonic() < deadline:
        for entry in left:
            send(entry.pid, signal.SIGKILL)
        time.sleep(POLL_S)
        collect()


def stop_guarded(guard_id: str) -> tuple[int, ...]:
    """Stop the commands of a guard, whose ralph-tui was killed."""
    return _stop(lambda entry: mark(entry, GUARD_MARK) == guard_id)


def continue_keepers(worktree: Path) -> None:
    """Let keepers of this worktree go on that were stopped: they end what they keep, and go."""
    for pid in keepers(worktree):
        send(pid, signal.SIGCONT)


def keepers(worktree: Path) -> Iterator[int]:
    """The keepers of this worktree's commands."""
    place = f"{PLACE_MARK}={place_of(worktree)}".encode()
    for entry in process_table().values():
        home = Path("/proc") / str(entry.pid)
        with contextlib.suppress(OSError):
            words = (home / "cmdline").read_bytes().split(b"\0")
            # It does not bear the mark itself: it gives it to its command.
            is_keeper = any(word.endswith(b"/keeper.py") for word in words[:4])
            if is_keeper and place in words and _is_ours(home):
                yield entry.pid


def processes_below(pid: int) -> list[Entry]:
    """What the leader of a session has started, as far as parentage and its session tell."""
    table = process_table()
    found = {entry.pid: entry for entry in descendants({pid}, table)}
    mates = (e for e in table.values() if e.alive and pid in (e.session, e.group))
    return [*found.values(), *(e for e in mates if e.pid not in found and e.pid != pid)]


def orphans(name: str, value: str) -> list[Entry]:
    """What this process has adopted; what bears this mark and does not descend from it any more."""
    table = process_table()
    adopted = {entry.pid for entry in table.values() if is_adopted(entry)}
    below = {entry.pid for entry in descendants({os.getpid()}, table)} | {os.getpid()}
    rest = (entry for entry in table.values() if entry.alive and entry.pid not in below)
    found = [entry for entry in rest if mark(entry, name) == value]
    alive = [table[pid] for pid in adopted if table[pid].alive]
    return [*found, *alive, *descendants(adopted, table)]


def kill(processes: list[Entry]) -> None:
    """KILL to those that are still what they were."""
    table = process_table()
    for one in processes:
        now = table.get(one.pid)
        if now is not None and now.alive and now.started == one.started:
            send(one.pid, signal.SIGKILL)


def _stop(belongs: Belongs, seen: Iterable[Entry] = ()) -> tuple[int, ...]:
    """Climb the ladder until no target is left, those once `seen` included; who was there."""
    known = {(entry.pid, entry.started): entry for entry in seen}
    left = _look_twice(belongs, known)
    for number, seconds in LADDER:
        deadline = time.monotonic() + seconds
        told: set[tuple[int, str]] = set()
        while left and time.monotonic() < deadline:
            for entry in left:
                # Only KILL is worth repeating.
                if number == signal.SIGKILL or (entry.pid, entry.started) not in told:
                    told.add((entry.pid, entry.started))
                    send(entry.pid, number)
                    # Who is stopped takes no other signal than KILL before it goes on.
                    send(entry.pid, signal.SIGCONT)
            time.sleep(POLL_S)
            left = _look_twice(belongs, known)
    return tuple(sorted(pid for pid, _ in known))


def _look_twice(belongs: Belongs, known: dict[tuple[int, str], Entry]) -> list[Entry]:
    """Living targets. A process shows no environment while it becomes another program, and one
    that forks and ends while the table is read is in it neither before nor after.
    """
    return _targets(belongs, known) or _targets(belongs, known)


def _targets(belongs: Belongs, known: dict[tuple[int, str], Entry]) -> list[Entry]:
    """Living targets; `known` grows by them."""
    table = process_table()
    spared = _ancestry(table)
    for entry in table.values():
        if entry.alive and entry.pid not in spared and belongs(entry):
            known[entry.pid, entry.started] = entry
    roots = {pid for pid, started in known if pid in table and table[pid].started == started}
    for entry in descendants(roots, table):
        if entry.pid not in spared:
            known[entry.pid, entry.started] = entry
    return [
        entry for entry in table.values() if entry.alive and (entry.pid, entry.started) in known
    ]


def _ancestry(table: dict[int, Entry]) -> set[int]:
    """This process and all above it."""
    pid, above = os.getpid(), set[int]()
    while pid and pid not in above:
        above.add(pid)
        pid = table[pid].parent if pid in table else 0
    return above


def _is_ours(home: Path) -> bool:
    """Same user, same process namespace."""
    same_user = home.stat().st_uid == os.geteuid()
    namespace = (home / "ns" / "pid").stat().st_ino
    return same_user and namespace == Path("/proc/self/ns/pid").stat().st_ino
