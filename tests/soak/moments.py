"""The moments at which a run is hit: random ones, and those where something is half done.

A moment is a generator: it yields how many seconds to wait, and returns when it has come.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from ralph_tui.commands import Checkpoint, Pause, Restore
from tests.soak.place import tree_of
from tests.soak.program import Program

OFTEN = 0.002
SOON = 0.0002
"""Seconds between polls for a short-lived state; longer would miss it, shorter starve the run."""
MISSED = 3
"""Renames or snapshots that may pass unseen, as each exists only for an instant."""


@dataclass
class WatchedRun:
    """A run as moments observe it and act on it."""

    folder: Path
    program: Program
    rng: Random
    journal: Path | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    """Events since the wait for this moment began."""
    iteration: int = 0
    worktree: str = ""
    """Tree of the worktree before a restore began."""

    def has_seen(self, kind: str) -> bool:
        """True if such an event has come."""
        return any(event["kind"] == kind for event in self.events)

    def has_missed(self) -> bool:
        """True if snapshots came and went unseen, along with what begins and ends with them."""
        return len([event for event in self.events if event["kind"] == "snapshot_taken"]) >= MISSED


Moment = Callable[[WatchedRun], Iterator[float]]


def at_random(run: WatchedRun) -> Iterator[float]:
    """From before anything is there to the middle of a session."""
    yield from _ticks(run.rng.uniform(0.0, 3.5))


def after(kind: str, spread: float) -> Moment:
    """Up to `spread` seconds after an event of this kind."""

    def moment(run: WatchedRun) -> Iterator[float]:
        while not run.has_seen(kind):
            yield OFTEN
        yield from _ticks(run.rng.uniform(0, spread))

    return moment


def after_rollover(kind: str, spread: float) -> Moment:
    """Like `after`, once a handoff has begun."""

    def moment(run: WatchedRun) -> Iterator[float]:
        while not run.has_seen("rollover_began"):
            yield OFTEN
        began = next(e["seq"] for e in run.events if e["kind"] == "rollover_began")
        while not any(e["kind"] == kind and e["seq"] > began for e in run.events):
            yield OFTEN
        yield from _ticks(run.rng.uniform(0, spread))

    return moment


def append(run: WatchedRun) -> Iterator[float]:
    """Wait until the journal grows."""
    yield from _ticks(run.rng.uniform(0.3, 2))
    while run.journal is None:
        yield OFTEN
    size = run.journal.stat().st_size
    while run.journal.stat().st_size == size:
        yield SOON


def projection(run: WatchedRun) -> Iterator[float]:
    """Wait for a file about to be renamed; on a busy machine, for one already renamed."""
    yield from _ticks(run.rng.uniform(0.3, 2))
    while run.journal is None:
        yield OFTEN
    folder, seen = run.journal.parent, set[int]()
    while not any(name.name.endswith(".tmp") for name in folder.iterdir()):
        # It is there for a tenth of a millisecond: that passes between two looks, again and again.
        with suppress(FileNotFoundError):
            seen.add((folder / "status.json").stat().st_mtime_ns)
        if len(seen) > MISSED:
            return
        yield SOON


def snapshot(run: WatchedRun) -> Iterator[float]:
    """Wait up to 20 ms past a lock on the private index; later on a busy machine."""
    yield from _ticks(run.rng.uniform(0.2, 2))
    lock = run.folder / ".git" / "ralph-tui" / "index.lock"
    while not lock.exists() and not run.has_missed():
        yield SOON
    yield from _ticks(run.rng.choice((0.0, 0.005, 0.02)))


def git_begins(run: WatchedRun) -> Iterator[float]:
    """Wait for a new git process, or up to 10 ms longer: at a start, or at any step.

    On a busy machine, when some must have run.
    """
    yield from _ticks(run.rng.choice((0.0, run.rng.uniform(0.3, 2))))
    known = run.program.gits()
    while run.program.gits() <= known and not run.has_missed():
        yield SOON
    yield from _ticks(run.rng.choice((0.0, 0.003, 0.01)))


def checkpoint(run: WatchedRun) -> Iterator[float]:
    """While a checkpoint is taken beside a session."""
    while not run.has_seen("session_started"):
        yield OFTEN
    run.program.send(Checkpoint(note="soak"))
    yield from _ticks(run.rng.uniform(0, 0.1))


def restore(run: WatchedRun) -> Iterator[float]:
    """While the worktree is brought back to the first snapshot."""
    while not run.has_seen("session_finished"):
        yield OFTEN
    run.program.send(Pause())
    while not run.has_seen("paused"):
        yield OFTEN
    run.worktree = tree_of(run.folder)
    run.program.send(Restore(snapshot=1))
    if run.rng.random() < 0.5:
        while not run.has_seen("worktree_restored"):
            yield OFTEN
    else:
        yield from _ticks(run.rng.uniform(0, 0.12))


def _ticks(seconds: float) -> Iterator[float]:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        yield min(OFTEN, left)


MOMENTS: dict[str, tuple[Moment, int]] = {
    "at random": (at_random, 6),
    "append": (append, 3),
    "projection rename": (projection, 3),
    "snapshot": (snapshot, 4),
    "snapshot held": (after("snapshot_taken", 0.01), 1),
    "git begins": (git_begins, 8),
    "checkpoint": (checkpoint, 2),
    "verification": (after("gate_started", 0.2), 4),
    "gate finished": (after("gate_finished", 0.03), 1),
    "reading taken": (after("reading_taken", 0.03), 2),
    "session begins": (after("session_started", 0.2), 2),
    "tool at work": (after("tool_started", 0.05), 2),
    "session ended": (after("session_finished", 0.03), 2),
    "judged": (after("signal_computed", 0.02), 1),
    "record": (after("iteration_finished", 0.03), 2),
    "resumed": (after("run_resumed", 0.3), 2),
    "question": (after("question_asked", 0.3), 4),
    "answered": (after("question_answered", 0.03), 2),
    "intervention": (after("intervention_made", 0.03), 2),
    "restore": (restore, 3),
}
"""Each with how often it is chosen, compared with the others."""

ROLLOVERS: dict[str, tuple[Moment, int]] = {
    "about to hand over": (after("context_level_reached", 0.3), 2),
    "rollover begins": (after("rollover_began", 0.0), 2),
    "rollover": (after("rollover_began", 0.05), 4),
    "rollover held": (after_rollover("snapshot_taken", 0.01), 2),
    "handoff": (after("handoff_written", 0.01), 4),
    "told again": (after_rollover("prompt_prepared", 0.02), 3),
    "taken over": (after_rollover("session_started", 0.3), 4),
}
"""Moments at which one session hands off to the next."""
ASKS = ("question", "answered")
"""These need a question."""
RARE = (*ASKS, "intervention")
"""These come after several iterations only."""


def choose(
    rng: Random,
    moments: Mapping[str, tuple[Moment, int]] = MOMENTS,
    *,
    asks: bool = False,
    resumed: bool = False,
) -> str:
    """A moment that can come in such a run; `asks`: it will come to a question."""
    left_out = (() if asks else RARE) + (() if resumed else ("resumed",))
    names = [name for name in moments if name not in left_out]
    # Only few processes come so far.
    weights = [moments[name][1] * (2 if name in RARE else 1) for name in names]
    return rng.choices(names, weights)[0]


def patience(rng: Random, name: str) -> float:
    """Seconds after which it is killed anyway."""
    if name in ROLLOVERS:  # either it comes, or the run ends first
        return 90.0
    return rng.uniform(15, 25) if name in RARE else rng.uniform(7, 12)
