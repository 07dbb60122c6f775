"""A recorded run of 100 000 events: opening it in a terminal, and moving in its time."""

import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.long_run import LAST_WORD, write_journal
from bench.places import ralph_tui
from bench.result import Result, Scale, ms, percentile, seconds_of
from bench.terminal import Terminal
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.sources.replay import Replay
from ralph_tui.state import RunState

EVENTS = 100_000
ITERATIONS = 100
PAINTED = ("control signal", "leave")
PAUSE_S = (0.15, 0.3)


def replay(scale: Scale) -> Iterator[Result]:
    """Open, seek by key, seek anywhere."""
    count = scale.of(EVENTS, EVENTS // 5)
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch:
        journal = Path(scratch) / "events.jsonl"
        kinds = write_journal(journal, count, ITERATIONS)
        command = ralph_tui("replay", str(journal))
        first, complete, used, keys = [], [], [], []
        for _ in range(scale.of(5, 3)):
            with Terminal(command, Path(scratch)) as terminal:
                first.append(terminal.wait_for(*PAINTED) - terminal.started)
                complete.append(terminal.wait_for(LAST_WORD) - terminal.started)
                used.append(terminal.cpu_seconds())
                keys += _seeks_by_key(terminal, kinds)
        reading = seconds_of(lambda: read_journal(journal))
        jumps = _jumps(journal, scale.of(200, 50))
    yield Result(
        f"opening a replay of {len(kinds):,} events",
        f"{median(complete):.2f} s to its end shown ({median(used):.2f} s CPU, "
        f"first paint {median(first):.2f} s, reading {reading:.2f} s)",
        "<= 1.5 s",
        median(complete) <= 1.5,
        {
            "complete_seconds": median(complete),
            "first_paint_seconds": median(first),
            "reading_seconds": reading,
            "cpu_seconds": median(used),
            "events": len(kinds),
        },
    )
    yield Result(
        "seek by key (start, end, iterations), key to paint",
        f"p95 {ms(percentile(keys, 95))}, median {ms(median(keys))} of {len(keys)}",
        "<= 100 ms",
        percentile(keys, 95) <= 0.1,
        {"p95_seconds": percentile(keys, 95), "median_seconds": median(keys)},
    )
    yield Result(
        "seek to any event, the fold alone",
        f"p95 {ms(percentile(jumps, 95))}, median {ms(median(jumps))} of {len(jumps)}",
        "<= 100 ms",
        percentile(jumps, 95) <= 0.1,
        {"p95_seconds": percentile(jumps, 95), "median_seconds": median(jumps)},
    )


def _seeks_by_key(terminal: Terminal, kinds: list[str]) -> list[float]:
    """To the start and forth, to the end and back; what is waited for is the scrubber's place."""
    total = len(kinds)
    starts = [index + 1 for index, kind in enumerate(kinds) if kind == "iteration_started"]
    moves = [(b"\x1b[H", 1), *((b">", starts[step]) for step in range(3))]
    moves += [(b"\x1b[F", total), *((b"<", starts[-1 - step]) for step in range(3))]
    times = []
    for keys, place in moves:
        time.sleep(random.uniform(*PAUSE_S))
        times.append(terminal.paint_after(keys, f" {place}/{total} "))
    return times


def _jumps(journal: Path, count: int) -> list[float]:
    """Seconds until the state of a random position is there, after the record was opened once."""
    events = read_journal(journal).events
    source, state = Replay(events), RunState()
    source.start()
    while state.seq < len(events):
        state = source.poll(state, time.monotonic())
    times = []
    dice = random.Random(0)
    for _ in range(count):
        position = dice.randint(1, len(events))
        began = time.perf_counter()
        source.seek(position)
        while state.seq != position:
            state = source.poll(state, time.monotonic())
        times.append(time.perf_counter() - began)
    return times
