"""Measure the cost of an open cockpit, idle and with an agent that prints 200 lines a second."""

import random
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.places import OBJECTIVE, minimal_app, ralph_tui, repository, run_of
from bench.result import Result, Scale, ms, percentile
from bench.starting import MINIMAL_PAINTED, PAINTED
from bench.terminal import Paint, Terminal, told
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.runs import find_runs

SETTLE_S = 3.0
HERTZ = 15
LINES_PER_SECOND = 200
TALKER = Path(__file__).with_name("talker.py")
FOCUS = {b"1": "progress", b"3": "iterations", b"4": "files", b"6": "agent"}
"""Keys that focus a pane, and the heading that is then redrawn."""
DIALOGS = {
    b"?": " close",
    b"g": "Guidance for the agent",
    b"a": "Abort this run",
    b"q": "How do you want to leave",
    b":": "earch commands",
}
"""Keys that open a dialog, and text of one style that only the dialog shows."""
SHOWN = ("agent_spoke", "tool_started", "tool_finished")
PAUSE_S = (0.12, 0.28)
"""Seconds between keys, not a multiple of the screen's own interval."""
BLIND_S = 0.6
"""Seconds after opening in which a dialog ignores keys."""


def idle(scale: Scale) -> Iterator[Result]:
    """Yield the CPU share of a live run with a silent agent, and of a paused replay."""
    seconds = scale.of(10, 5)
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch, ExitStack() as open_ones:
        live = repository(Path(scratch) / "live")
        recorded = repository(Path(scratch) / "recorded")
        with Terminal(
            run_of("echo hello", "--headless", "--max-iterations", "1"), recorded
        ) as terminal:
            terminal.process.wait(60)
        commands = {
            "live": (run_of("sleep 600"), live, PAINTED),
            "replay": (ralph_tui("replay"), recorded, PAINTED),
            "minimal": (minimal_app(HERTZ), recorded, (MINIMAL_PAINTED,)),
        }
        terminals = {}
        for name, (command, folder, words) in commands.items():
            terminals[name] = open_ones.enter_context(Terminal(command, folder))
            terminals[name].wait_for(*words)
        time.sleep(SETTLE_S)
        shares = _cpu_shares(terminals, seconds)
    for name, what in (("live", "live, its agent silent"), ("replay", "a replay that holds")):
        yield Result(
            f"CPU of the idle cockpit: {what}",
            f"{shares[name]:.1%} of a core (minimal app at {HERTZ} Hz: {shares['minimal']:.1%})",
            "<= .7 % of a core",
            shares[name] <= 0.007,
            {"share": shares[name], "minimal_share": shares["minimal"], "seconds": seconds},
        )


def stream(scale: Scale) -> Iterator[Result]:
    """Yield the cost of an agent that prints 200 lines a second, through the whole engine."""
    rate, seconds = str(LINES_PER_SECOND), scale.of(10, 5)
    talk = shlex.join([sys.executable, "-P", str(TALKER), "plain", rate])
    arguments = ("run", OBJECTIVE, "-c", "false", "--agent", "talker")
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch:
        plain = repository(Path(scratch) / "plain")
        with Terminal(run_of(talk), plain) as terminal:
            share = _settled_share(terminal, seconds)
        yield _stream_row("plain text", share, _recorded_lines(plain), most=0.10)

        folder = repository(Path(scratch) / "json")
        command = [sys.executable, "-m", "bench.talking_run", rate, *arguments]
        here = {"PYTHONPATH": str(TALKER.parent.parent)}
        with Terminal(command, folder, environ=here) as terminal:
            share = _settled_share(terminal, seconds)
            focus = _focus_times(terminal, scale.of(60, 20))
            dialogs = _dialog_times(terminal, scale.of(10, 4))
        yield _stream_row("stream-json", share, _recorded_lines(folder), most=0.18)
    yield _paint_row("another pane focused", focus)
    each = [
        f"  {key.decode()}  median {ms(median(paint.seconds for paint in of_it))}"
        for key, of_it in dialogs.items()
    ]
    every = [paint for of_it in dialogs.values() for paint in of_it]
    yield _paint_row("a dialog opened", every, "dialogs, key to paint:", *each)


def _paint_row(what: str, paints: list[Paint], *appendix: str) -> Result:
    p95 = percentile([paint.seconds for paint in paints], 95)
    return Result(
        f"key to paint meanwhile: {what}",
        told(paints),
        "p95 <= 40 ms",
        p95 <= 0.04,
        {"p95_seconds": p95, "p95_seconds_alone": percentile([p.alone for p in paints], 95)},
        appendix,
    )


def _stream_row(form: str, share: float, recorded: float, *, most: float) -> Result:
    return Result(
        f"CPU with {LINES_PER_SECOND} agent lines/s of {form}",
        f"{share:.1%} of a core ({recorded:.0f} lines/s reach the screen)",
        f"<= {most:.0%} of a core",
        share <= most,
        {"share": share, "recorded_lines_per_second": recorded},
    )


def _settled_share(terminal: Terminal, seconds: float) -> float:
    terminal.wait_for(*PAINTED, "reading the parser")
    time.sleep(SETTLE_S)
    return _cpu_shares({"one": terminal}, seconds)["one"]


def _cpu_shares(terminals: dict[str, Terminal], seconds: float) -> dict[str, float]:
    began = time.perf_counter()
    before = {name: terminal.cpu_seconds() for name, terminal in terminals.items()}
    time.sleep(seconds)
    used = {name: terminal.cpu_seconds() - before[name] for name, terminal in terminals.items()}
    passed = time.perf_counter() - began
    return {name: cpu / passed for name, cpu in used.items()}


def _focus_times(terminal: Terminal, presses: int) -> list[Paint]:
    times = []
    keys = list(FOCUS)
    for number in range(presses):
        time.sleep(random.uniform(*PAUSE_S))
        key = keys[number % len(keys)]
        times.append(terminal.painted(key, FOCUS[key]))
    return times


def _dialog_times(terminal: Terminal, presses: int) -> dict[bytes, list[Paint]]:
    times: dict[bytes, list[Paint]] = {key: [] for key in DIALOGS}
    for _ in range(presses):
        for key, words in DIALOGS.items():
            time.sleep(random.uniform(*PAUSE_S))
            times[key].append(terminal.painted(key, words))
            time.sleep(BLIND_S)
            terminal.paint_after(b"\x1b", "interrupt")
    return times


def _recorded_lines(folder: Path) -> float:
    """Return the agent's rows in the journal per second: lines of text, and tool calls."""
    events = read_journal(next(find_runs(folder)).journal).events
    rows = [
        event for event in events if event.kind in ("agent_spoke", "tool_started", "tool_finished")
    ]
    lines = sum(str(getattr(event, "text", "")).count("\n") + 1 for event in rows)
    return lines / (rows[-1].at - rows[0].at).total_seconds()
