"""Measure how soon home and its list appear, with ten thousand runs and with ten."""

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from bench.places import minimal_app, ralph_tui
from bench.result import Result, Scale, in_turns, ms
from bench.starting import MINIMAL_PAINTED
from bench.terminal import Terminal
from bench.usage import cpu_seconds
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.listing import list_rows
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.state import RunState
from tests.fixtures.journals.make import FOLDER

MANY, FEW = 10_000, 10
FRAME = ("looking for runs", "leave")
"""Texts of the first frame."""
LISTED = ("new run", "replay")
"""Texts of the footer once the newest run is known."""
FIRST, LAST = "the first of them", "the last of them"
IDLE_S = 10.0


def many_runs(root: Path, number: int) -> Path:
    """Make a folder with `number` ended runs; the newest has the highest number."""
    (root / ".git").mkdir(parents=True)
    told = summarize(RunState().apply_all(read_journal(FOLDER / "v1-stuck.jsonl").events))
    text = json.dumps(told, indent=2)
    tasks = ralph_folder(root) / "tasks"
    for task in range(1, number + 1):
        folder = tasks / f"task-{task:03}" / "attempts" / "001"
        folder.mkdir(parents=True)
        named = {1: FIRST, number: LAST}.get(task)
        said = json.dumps(told | {"objective": named}) if named else text
        (folder / "status.json").write_text(said)
        (folder / "events.jsonl").touch()
    return root


def listing(scale: Scale) -> Iterator[Result]:
    """Yield times from process start, in a terminal of 140x45."""
    scratch = Path(tempfile.mkdtemp(prefix="ralph-bench-"))
    try:
        many, few = many_runs(scratch / "many", MANY), many_runs(scratch / "few", FEW)

        def until(command: list[str], cwd: Path, *words: str) -> Callable[[], float]:
            def measure() -> float:
                with Terminal(command, cwd) as terminal:
                    return terminal.wait_for(*words) - terminal.started

            return measure

        minimal, paint, stands, stands_few = in_turns(
            scale.of(7, 3),
            until(minimal_app(), few, MINIMAL_PAINTED),
            until(ralph_tui(), many, *FRAME),
            until(ralph_tui(), many, *LISTED),
            until(ralph_tui(), few, *LISTED),
        )
        base, first = median(minimal), median(paint)
        yield Result(
            f"first paint of home, {MANY:,} runs, from process start",
            f"{first / base:.2f}x ({ms(first)} : {ms(base)})",
            "<= 1.5x a minimal Textual app",
            first / base <= 1.5,
            {"seconds": first, "minimal_seconds": base},
        )
        yield Result(
            f"its list behind it, {MANY:,} runs : {FEW}",
            f"{median(stands) / base:.2f}x ({ms(median(stands))}) : {ms(median(stands_few))}",
            "<= 2.5x a minimal Textual app",
            median(stands) / base <= 2.5,
            {"seconds": median(stands), "few_seconds": median(stands_few)},
        )
        yield from _used(many, scale.of(9, 5))
        began = time.perf_counter()
        list_rows(many)
        took = time.perf_counter() - began
        yield Result(f"rows of all {MANY:,} runs at once", ms(took), "", None, {"seconds": took})
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _used(root: Path, rounds: int) -> Iterator[Result]:
    """Yield the response to keys at both ends of the list, and the idle CPU time."""
    with Terminal(ralph_tui(), root) as terminal:
        terminal.wait_for(f"{MANY} runs")  # the older runs are loaded, too
        times = []
        for key, words in [(b"\x1b[F", FIRST), (b"\x1b[H", LAST)] * rounds:
            since = terminal.position
            began = time.perf_counter()
            terminal.press(key)
            times.append(terminal.wait_for(words, since=since) - began)
        worst = sorted(times)[int(0.95 * (len(times) - 1))]
        yield Result(
            f"home: key to paint over {MANY:,} runs, p95",
            ms(worst),
            "<= 40 ms",
            worst <= 0.04,
            {"seconds": worst},
        )
        before = cpu_seconds(terminal.process.pid)
        time.sleep(IDLE_S)
        used = (cpu_seconds(terminal.process.pid) - before) / IDLE_S
        yield Result("home idle, CPU", f"{used:.1%}", "<= .7 %", used <= 0.007, {"share": used})
