"""Blows to a run at a chosen moment: KILL, stop and continue, and their targets.

A stop is what a suspended laptop, a debugger or ``kill -STOP`` does. Stopped processes continue
within `STOPPED_S`, even if ralph-tui was killed meanwhile. For git, the blow hits one running
process, all, or each one for a while, so that a retry fails too.
"""

import os
import signal
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Literal

from ralph_tui.adapters.processes.keeper import descendants, process_table
from tests.soak.moments import SOON
from tests.soak.program import Program

Target = Literal[
    "ralph-tui", "keeper", "both", "git", "git, both", "stopped", "stop, kill", "keeper stop"
]
TARGETS: dict[Target, int] = {
    "ralph-tui": 5,
    "both": 5,
    "keeper": 3,
    "git": 3,
    "git, both": 2,
    "stopped": 3,
    "stop, kill": 2,
    "keeper stop": 3,
}
"""Each with how often it is chosen, compared with the others."""
DEADLY: tuple[Target, ...] = ("ralph-tui", "both", "git, both", "stop, kill")
AT_GIT: dict[Target, int] = {"git": 5, "git, both": 3, "stopped": 1, "stop, kill": 1}
"""Targets for a moment of git."""

STOPPED_S = (0.2, 2.0)
"""Length of a stop, in seconds."""
SOON_S = 1.0
"""How long to wait for a git process or a keeper."""
BURST_S = (0.01, 0.06)
"""Length of each stop in a burst, and of the pauses between them, in seconds."""
AGAIN_AND_AGAIN_S = (0.3, 1.5)
"""How long every git process is killed, in seconds."""


@dataclass
class Strike:
    """The target actually hit, which may be less than the one aimed at."""

    hit: Target
    fatal: bool
    """ralph-tui is dead."""
    kept: frozenset[tuple[int, str]] = frozenset()
    """Processes guarded by killed keepers."""
    gits: int = 0
    """Number of git processes killed."""
    stops: int = 0


def aim(rng: Random, moment: str, *, deadly: bool = False) -> Target:
    """Choose a target at a moment; `deadly` always includes ralph-tui itself."""
    targets = AT_GIT if moment == "git begins" else TARGETS
    if deadly:
        targets = {target: targets[target] for target in DEADLY}
    return rng.choices(list(targets), list(targets.values()))[0]


def strike(program: Program, target: Target, rng: Random) -> Strike:
    """Do it; where no keeper or git is there, ralph-tui is hit instead."""
    match target:
        case "git" | "git, both":
            return _git(program, rng, fatal=target == "git, both")
        case "stopped" | "stop, kill" | "keeper stop":
            return _stops(program, target, rng)
        case _:
            return _kill(program, target)


def _kill(program: Program, target: Target) -> Strike:
    keepers = [] if target == "ralph-tui" else program.keepers()
    kept = descendants(set(keepers), process_table()) if keepers else []
    if target == "both":
        program.process.kill()
    if not _signalled(keepers, signal.SIGKILL) and target == "keeper":
        target = "ralph-tui"  # they have just gone by themselves
    if fatal := target != "keeper":
        program.end()
    hit: Target = target if keepers else "ralph-tui"
    return Strike(hit, fatal, frozenset((entry.pid, entry.started) for entry in kept))


def _git(program: Program, rng: Random, *, fatal: bool) -> Strike:
    how = rng.choices(("one", "all", "each"), (3, 3, 4))[0]
    gits = sorted(_wait_for_pids(program, program.gits))
    killed = _signalled(gits[-1:] if how == "one" else gits, signal.SIGKILL)
    until = time.monotonic() + (rng.uniform(*AGAIN_AND_AGAIN_S) if how == "each" else 0)
    while time.monotonic() < until and program.alive:
        killed |= _signalled(program.gits(), signal.SIGKILL)
        time.sleep(SOON)
    if not killed or fatal:
        program.end()
    hit: Target = ("git, both" if fatal else "git") if killed else "ralph-tui"
    return Strike(hit, fatal or not killed, gits=len(killed))


def _stops(program: Program, target: Target, rng: Random) -> Strike:
    """Stop ralph-tui, these processes, or all it started except its keepers; then continue them."""
    killed = target == "stop, kill"
    keepers = (
        _wait_for_pids(program, program.keepers) if target == "keeper stop" else program.keepers()
    )
    if keepers and (target == "keeper stop" or (killed and rng.random() < 0.3)):
        stopped = [*keepers]
    else:
        target = "stop, kill" if killed else "stopped"
        others = set(program.children()) - set(keepers) if rng.random() < 0.5 else set()
        stopped = [program.process.pid, *others]
    burst = rng.random() < 0.3
    times, spread = (rng.randint(3, 12), BURST_S) if burst else (1, STOPPED_S)
    for number in range(times):
        _signalled(stopped, signal.SIGSTOP)
        time.sleep(rng.uniform(*spread))
        if killed and number == times - 1 and rng.random() < 0.5:
            program.end()  # while it is stopped, or else when it continues
        _signalled(stopped, signal.SIGCONT)
        if burst:
            time.sleep(rng.uniform(*BURST_S))
    if killed:
        program.end()
    return Strike(target, killed, stops=times)


def _wait_for_pids(program: Program, look: Callable[[], Collection[int]]) -> Collection[int]:
    """The first that are there, should they come within a second."""
    until = time.monotonic() + SOON_S
    while not (found := look()) and time.monotonic() < until and program.alive:
        time.sleep(SOON)
    return found


def _signalled(pids: Iterable[int], number: signal.Signals) -> set[int]:
    """Send a signal; return the processes that still existed."""
    there = set()
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
            there.add(pid)
    return there
