"""Measure a replay of 100 000 events: opening it, seeking, playing, and its memory."""

import os
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.long_run import LAST_WORD, write_journal
from bench.places import minimal_app, ralph_tui
from bench.result import Result, Scale, percentile, seconds_of
from bench.starting import MINIMAL_PAINTED
from bench.terminal import Paint, Terminal, told
from bench.usage import resident_bytes, waited_seconds
from ralph_tui.adapters.records.lazy import LazyJournal
from ralph_tui.runtime.sources.recorded import opened
from ralph_tui.state import RunState

EVENTS = 100_000
ITERATIONS = 100
PAUSE_S = (0.15, 0.3)
MEGABYTE = 1_000_000
TRANSCRIPT = 1_000_000_000
"""Bytes of a transcript in the record: a sparse file that looks this large to readers."""
PANES = b"1234567890P"


def replay(scale: Scale) -> Iterator[Result]:
    """Yield the times of opening, of seeks by key and to any event, of keys, and the memory."""
    count = scale.of(EVENTS, EVENTS // 5)
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch:
        journal = Path(scratch) / "001" / "events.jsonl"
        journal.parent.mkdir()
        kinds = write_journal(journal, count, ITERATIONS)
        command, total = ralph_tui("replay", str(journal)), len(kinds)
        minimal, plays, ends, used, keys, playing, held = [], [], [], [], [], [], []
        for _ in range(scale.of(5, 3)):
            with Terminal(minimal_app(), Path(scratch)) as terminal:
                minimal.append(terminal.wait_for(MINIMAL_PAINTED) - terminal.started)
            with Terminal(command, Path(scratch)) as terminal:
                plays.append(terminal.wait_for(f"/{total} ") - terminal.started)
                used.append(terminal.cpu_seconds())
                ends.append(terminal.paint_after(b"\x1b[F", LAST_WORD))
                keys += _seeks_by_key(terminal, kinds)
                playing += _keys_while_playing(terminal, total)
                held.append(_looked_at(terminal))
        with _transcript(journal), Terminal(command, Path(scratch)) as terminal:
            terminal.wait_for(f"/{total} ")
            terminal.paint_after(b"\x1b[F", LAST_WORD)
            _seeks_by_key(terminal, kinds)
            beside = _looked_at(terminal)
        reading = seconds_of(lambda: LazyJournal(journal))
        jumps = _jumps(journal, scale.of(200, 50))
    yield Result(
        f"opening a replay of {total:,} events, until it plays",
        f"{median(plays):.2f} s, {median(plays) / median(minimal):.1f}x a minimal Textual app "
        f"({median(used):.2f} s CPU, of the record {reading:.2f} s)",
        "<= 1 s",
        median(plays) <= 1,
        {
            "seconds": median(plays),
            "minimal_seconds": median(minimal),
            "reading_seconds": reading,
            "cpu_seconds": median(used),
            "events": total,
        },
    )
    yield Result(
        "its end, by key right after that, whole",
        f"{median(ends):.2f} s, {median(ends) / median(minimal):.1f}x a minimal Textual app",
        "",
        None,
        {"seconds": median(ends)},
    )
    for what, paints in (
        ("seek by key (start, end, iterations), key to paint", keys),
        ("key to paint while it plays at 64x and instant", playing),
        ("seek to any event, the fold alone, the first back from the end too", jumps),
    ):
        p95 = percentile([paint.seconds for paint in paints], 95)
        yield Result(
            what,
            told(paints),
            "<= 40 ms",
            p95 <= 0.04,
            {"p95_seconds": p95, "p95_seconds_alone": percentile([p.alone for p in paints], 95)},
        )
    grown = (beside - median(held)) / MEGABYTE
    yield Result(
        "memory of that replay with a transcript of 1 GB, every pane looked at",
        f"{grown:+.1f} MB ({median(held) / MEGABYTE:.0f} -> {beside / MEGABYTE:.0f} MB resident)",
        "within 15 MB of without",
        grown <= 15,
        {"bytes": median(held), "bytes_with_transcript": beside},
    )


def _seeks_by_key(terminal: Terminal, kinds: list[str]) -> list[Paint]:
    """Seek to the start and on, to the end and back, and wait for the position on the scrubber."""
    total = len(kinds)
    starts = [index + 1 for index, kind in enumerate(kinds) if kind == "iteration_started"]
    moves = [(b"\x1b[H", 1), *((b">", starts[step]) for step in range(3))]
    moves += [(b"\x1b[F", total), *((b"<", starts[-1 - step]) for step in range(3))]
    times = []
    for keys, place in moves:
        time.sleep(random.uniform(*PAUSE_S))
        times.append(terminal.painted(keys, f" {place}/{total} "))
    return times


def _keys_while_playing(terminal: Terminal, total: int) -> list[Paint]:
    """Focus other panes while it plays, and wait for their redrawn headings."""
    times = []
    for faster in (b"", b"]"):
        terminal.paint_after(b"\x1b[H", f" 1/{total} ")
        terminal.press(b" " + faster)
        for key, words in ((b"1", "progress"), (b"6", "agent"), (b"3", "iterations")):
            time.sleep(random.uniform(*PAUSE_S))
            times.append(terminal.painted(key, words))
    terminal.press(b"[")
    return times


def _looked_at(terminal: Terminal) -> int:
    """Return the resident bytes after every pane was shown."""
    for key in PANES:
        terminal.press(bytes([key]))
        time.sleep(PAUSE_S[0])
    return resident_bytes(terminal.process.pid)


@contextmanager
def _transcript(journal: Path) -> Iterator[None]:
    """Make a large transcript that uses no disk space."""
    path = journal.parent / "results" / "iter-001" / "transcript.jsonl"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(TRANSCRIPT)
    yield
    path.unlink()


def _jumps(journal: Path, count: int) -> list[Paint]:
    """Seek from the end to the middle, then anywhere; return the time until each state is there."""
    source, state = opened(journal), RunState()
    source.start()
    while state.seq < source.length:
        state = source.poll(state, time.monotonic())
    times = []
    dice = random.Random(0)
    for number in range(count):
        position = dice.randint(1, source.length) if number else source.length // 2
        before, began = waited_seconds(os.getpid()), time.perf_counter()
        source.seek(position)
        while state.seq != position:
            state = source.poll(state, time.monotonic())
        seconds = time.perf_counter() - began
        times.append(Paint(seconds, waited_seconds(os.getpid()) - before))
    source.stop()
    return times
