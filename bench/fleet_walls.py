"""Compare a fleet of eight loops with a script that runs the same loops in threads.

The script does what a user without a fleet would do for each loop. It clones the repository with a
branch, runs `ralph-tui run` in the clone, commits the agent's work and fetches that branch. Then it
removes the clone. It saves, records and watches nothing. As in the fleet, each thread has a slot.

The script has loaded everything at its start, so the fleet's time is taken from its first event to
its last. The start-up and exit of its process, once per fleet, are reported separately. By default
a fleet also spreads the starts on one account (`start_every`); here it does not.

Rounds alternate and the best of each counts, because other load on the machine slows both.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from bench.machine import load
from bench.places import repository, run_of
from bench.real_fleet import Event, RealFleet, fleet_file, moment, started
from bench.result import Result, Scale, in_turns, ms

LOOPS = 8
GATE = "test -e done.txt"
ALLOWED, ALLOWED_CPU = 1.05, 0.03
ROUNDS = {1: 1, 2: 1, 4: 2, 8: 3}
"""By loops at once; shorter runs vary more."""
AGENT_S = 15
"""Seconds that an agent sleeps: real sessions take minutes, but a benchmark cannot."""
QUICK_ROUNDS = {4: 1}
MAX_S = 300.0
SHORT = f" with agents of {AGENT_S} s"
"""Restriction of a budget, which is not judged with faster agents."""
SETTLED_S = 0.6
"""Seconds after a run's start or a collection until its side effects have ended."""


@dataclass
class _Fleets:
    """Measurements of the fleets of one size."""

    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    """CPU time as a share of the duration."""
    watching: list[float] = field(default_factory=list)
    """The same, while its loops only run."""
    per_loop: list[float] = field(default_factory=list)
    """CPU seconds."""


def against_threads(scale: Scale) -> Iterator[Result]:
    """Yield the ratio of durations, and the fleet's own CPU time."""
    seconds = scale.of(AGENT_S, 2)
    agent = f"cat >/dev/null; sleep {seconds}; echo done >done.txt"
    all_of_them = {}
    for at_once, rounds in (QUICK_ROUNDS if scale.quick else ROUNDS).items():
        measured = all_of_them[at_once] = _Fleets()
        threads, fleets = in_turns(
            rounds,
            lambda k=at_once: _threads(agent, k),  # type: ignore[misc]
            lambda k=at_once, into=measured: _fleet(agent, k, into),  # type: ignore[misc]
        )
        ratio = min(fleets) / min(threads)
        yield Result(
            f"{LOOPS} loops with agents of {seconds} s, {at_once} at once: a fleet against threads",
            f"{ratio:.2f}x ({min(fleets):.1f} s : {min(threads):.1f} s; load {load()})",
            f"<= {ALLOWED}x" + (SHORT if scale.quick else ""),
            None if scale.quick else ratio <= ALLOWED,
            {"ratio": ratio, "seconds": min(fleets), "threads_seconds": min(threads)},
        )
    yield from _own(all_of_them, judged=not scale.quick)


def _own(all_of_them: dict[int, _Fleets], *, judged: bool) -> Iterator[Result]:
    watching = {k: min(one.watching) for k, one in all_of_them.items() if one.watching}
    per_loop = min(used for one in all_of_them.values() for used in one.per_loop)
    if watching:
        yield Result(
            f"the fleet's own CPU while {_listed(watching)} loops run",
            f"{', '.join(f'{share:.1%}' for share in watching.values())} of a core",
            "<= 3 % of a core" + ("" if judged else SHORT),
            max(watching.values()) <= ALLOWED_CPU if judged else None,
            {f"share_{k}": share for k, share in watching.items()},
        )
    shares = {k: min(one.own) for k, one in all_of_them.items()}
    yield Result(
        "its own CPU for a loop, from clone to branch",
        f"{ms(per_loop)}, so that all in all it takes "
        f"{', '.join(f'{share:.1%}' for share in shares.values())} of these walls",
        "",
        None,
        {"seconds": per_loop, **{f"share_{k}": share for k, share in shares.items()}},
    )
    before = min(took for one in all_of_them.values() for took in one.before)
    after = min(took for one in all_of_them.values() for took in one.after)
    yield Result(
        "once per fleet: until its first event, from its last one to its exit",
        f"{before:.2f} s, {after:.2f} s",
        "",
        None,
        {"before_seconds": before, "after_seconds": after},
    )


def _listed(numbers: dict[int, float]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} or {last}" if most else last


def _threads(agent: str, at_once: int) -> float:
    """Return the seconds until all loops are done."""
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch:
        root = repository(Path(scratch) / "repo")
        began = time.monotonic()
        with ThreadPoolExecutor(at_once) as threads:
            trees = [Path(scratch) / f"loop-{number}" for number in range(LOOPS)]
            for done in [threads.submit(_by_hand, root, tree, agent) for tree in trees]:
                done.result()
        return time.monotonic() - began


def _by_hand(root: Path, tree: Path, agent: str) -> None:
    branch = f"work/{tree.name}"
    _run(root, "git", "clone", "--quiet", "--", str(root), str(tree))
    _run(tree, "git", "checkout", "--quiet", "-b", branch)
    _run(tree, *run_of(agent, "--headless", gate=GATE))
    _run(tree, "git", "add", "--all")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    _run(tree, "git", *identity, "commit", "--quiet", "--message=work")
    _run(root, "git", "fetch", "--quiet", str(tree), f"{branch}:{branch}")
    shutil.rmtree(tree)


def _run(folder: Path, *words: str) -> None:
    process = started(words, folder)
    said, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{words[:3]} ended with {process.returncode}: {said[-1000:]}")


def _fleet(agent: str, at_once: int, into: _Fleets) -> float:
    """Return the seconds from the fleet's first event to its last."""
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch:
        place = Path(scratch)
        root = repository(place / "repo")
        file = fleet_file(place / "night.toml", agent, GATE, LOOPS)
        began = time.time()
        where = ("--agents", str(at_once), "--trees", str(place / "trees"))
        with RealFleet(root, file, *where) as fleet:
            fleet.wait(MAX_S)
            ended = time.time()
        events = fleet.events()
        if sum(event["kind"] == "result_collected" for event in events) != LOOPS:
            raise RuntimeError("not every loop of the fleet was collected")
    first, last = moment(events[0]), moment(events[-1])
    into.before.append(first - began)
    into.after.append(ended - last)
    used = fleet.used_until(last) - fleet.used_until(first)
    into.own.append(used / (last - first))
    into.per_loop.append(used / LOOPS)
    quiet = list(_quiet(events, at_once))
    if sum(until - since for since, until in quiet) >= 1:
        used = sum(fleet.used_until(until) - fleet.used_until(since) for since, until in quiet)
        into.watching.append(used / sum(until - since for since, until in quiet))
    return last - first


def _quiet(events: list[Event], at_once: int) -> Iterator[tuple[float, float]]:
    """Yield intervals in which every slot has a run and no other work is done for loops."""
    running: set[str] = set()
    since = 0.0
    for event in events:
        at, kind = moment(event), event["kind"]
        if kind in ("loop_placed", "loop_ended", "fleet_finished"):
            if len(running) == at_once and at > since:
                yield since, at
            running.discard(event.get("loop", ""))
        elif kind == "loop_began":
            running.add(event["loop"])
        if kind in ("loop_began", "loop_ended", "result_collected", "conflicts_found"):
            since = at + SETTLED_S
