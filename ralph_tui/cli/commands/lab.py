"""``ralph-tui lab``: simulate controller and overseer on a series, or on a recorded run."""

import argparse
import json
import math
import os
import sys
import textwrap
from dataclasses import asdict
from pathlib import Path

from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.analysis.lab import Compared, LabRow, Verified, measure, recompute, simulate
from ralph_tui.base.errors import UsageError
from ralph_tui.config.settings import NAMES, Settings
from ralph_tui.config.sources import load
from ralph_tui.events import RunStarted
from ralph_tui.layers.control.advice import band_words
from ralph_tui.runtime.sources.find_run import find_run, read_run
from ralph_tui.state import RunState
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line

MAX_READINGS = 100_000
LAYERS = ("control", "oversight", "intelligence")
"""Sections of the settings that affect the lab's results."""
MAX_LISTED = 6
"""Maximum number of interventions or iterations listed in the summary."""
HEAD = "  #    done    pace      D  output  band        profile      level, seen"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Run the controller and the overseer on a series of completion values, or "
        "on those of a recorded run."
    )
    parser.add_argument(
        "--progress", metavar="10,20,...", help="completion after each iteration, 0-100"
    )
    parser.add_argument(
        "--run",
        dest="recorded",
        metavar="RUN",
        nargs="?",
        const="",
        help="use a recorded run and compare with its record: task, task/attempt, folder or "
        "journal (default: the newest)",
    )
    parser.add_argument("--baseline", metavar="POINTS", help="completion before iteration 1 (0)")
    parser.add_argument("--max-iterations", metavar="N", help="the iteration budget (10)")
    parser.add_argument(
        "--tests", metavar="N", help="number of tests or plan items; 0 if unknown (0)"
    )
    parser.add_argument(
        "--totals",
        metavar="20,20,1,...",
        help="number of tests after each iteration, - for none; --progress is then the share that "
        "passes, and completion is measured as in a run",
    )
    parser.add_argument(
        "--names",
        metavar="a+b,a,...",
        help="with --totals: failing tests after each iteration, joined by +; without "
        "--progress, all others pass",
    )
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any setting, such as control.patience=2",
    )
    parser.add_argument("--json", action="store_true", help="print one object per iteration")


def run(args: argparse.Namespace) -> int:
    """Print the simulation. Raises ``UsageError`` for unusable input."""
    return _replay_run(args) if args.recorded is not None else _simulate(args)


def _simulate(args: argparse.Namespace) -> int:
    flags = {"limits.max_iterations": args.max_iterations}
    settings = load(worktree_root(Path.cwd()), flags, os.environ, args.settings).settings
    most = settings.limits.max_iterations
    baseline, tests = (
        _parse_points("--baseline", args.baseline or "0"),
        _parse_tests(args.tests or "0"),
    )
    if args.totals is None and args.names is None:
        rows = simulate(
            _parse_series(args.progress or ""),
            baseline=baseline,
            max_iterations=most,
            tests=tests,
            control=settings.control,
            oversight=settings.oversight,
        )
    else:
        verified = _parse_verified(args.totals, args.names, args.progress)
        counted = next((one.total for one in verified if one is not None), 0)
        expected = tests or counted
        rows = measure(
            verified,
            Verified(round(baseline * expected / 100), expected),
            most,
            settings.control,
            settings.oversight,
        )
    print(_as_json(rows) if args.json else _as_table(rows, most, baseline))
    return 0


def _replay_run(args: argparse.Namespace) -> int:
    for option in ("progress", "baseline", "max_iterations", "tests", "totals", "names"):
        if getattr(args, option) is not None:
            name = option.replace("_", "-")
            raise UsageError(f"--{name} comes from the record that --run reads; omit one of them")
    found = find_run(worktree_root(Path.cwd()), args.recorded or None, hooked=False)
    recording = read_run(found)
    if summary := recording.problem or recording.newer:
        print(f"ralph-tui: {one_line(summary)}", file=sys.stderr)
    started = recording.events[0]
    settings = _run_settings(started, args.settings) if isinstance(started, RunStarted) else None
    compared = recompute(
        recording.events,
        settings.control if settings else None,
        settings.oversight if settings else None,
        settings.intelligence if settings else None,
    )
    if args.json:
        print(_as_json([one.row for one in compared]))
    elif not compared:
        print(f"{found.name}: no measurement after any iteration")
    else:
        state = RunState().apply_all(recording.events)
        first = next(iter(state.gate.readings), None)
        begun = first.completion if first is not None and not first.iteration else 0.0
        most, imported = state.run.max_iterations, getattr(started, "imported", "")
        print(_as_comparison(compared, most, begun, imported))
    return 0


def _run_settings(started: RunStarted, options: list[str]) -> Settings:
    """Return the settings that a run was started with, changed by `options`."""
    known = [name for name in NAMES if name.partition(".")[0] in LAYERS]
    then = {name: started.config[name] for name in known if name in started.config}
    return load(None, {}, {}, options, then).settings


def _parse_series(text: str) -> list[float]:
    if not text.strip():
        raise UsageError("The lab needs completion values; pass them as --progress 10,20,30.")
    values = text.split(",")
    if len(values) > MAX_READINGS:
        raise UsageError(f"--progress takes at most {MAX_READINGS} values, not {len(values)}.")
    return [_parse_points("--progress", value) for value in values]


def _parse_verified(
    totals: str | None, names: str | None, progress: str | None
) -> list[Verified | None]:
    """Parse the test counts after each iteration; None where the command counted nothing."""
    if totals is None:
        raise UsageError("--names needs --totals, the number of tests after each iteration.")
    if names is None and progress is None:
        raise UsageError(
            "--totals needs --progress or --names, which give the number of passing tests."
        )
    counted = [
        None if one.strip() == "-" else _parse_tests(one, "--totals") for one in totals.split(",")
    ]
    if len(counted) > MAX_READINGS:
        raise UsageError(f"--totals takes at most {MAX_READINGS} numbers, not {len(counted)}.")
    shares = None if progress is None else _parse_series(progress)
    failing = None if names is None else [_parse_names(one) for one in names.split(",")]
    for option, given in (("--progress", shares), ("--names", failing)):
        if given is not None and len(given) != len(counted):
            raise UsageError(
                f"{option} covers {count(len(given), 'iteration')} and --totals covers "
                f"{len(counted)}; both must cover the same number."
            )
    found: list[Verified | None] = []
    for k, total in enumerate(counted):
        fail = failing[k] if failing is not None else ()
        if total is None:
            found.append(None)
            continue
        passed = max(0, total - len(fail)) if shares is None else round(shares[k] * total / 100)
        found.append(Verified(passed, total, fail[: total - passed]))
    return found


def _parse_names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split("+") if name.strip()))


def _parse_points(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 100:
        raise UsageError(f"{option} takes values from 0 to 100, not {_quote(text)}.")
    return abs(value)


def _parse_tests(text: str, option: str = "--tests") -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        unknown = "0 if it is unknown" if option == "--tests" else "- if nothing is counted"
        raise UsageError(f"{option} takes a whole number ({unknown}), not {_quote(text)}.")
    return value


def _quote(text: str) -> str:
    return f"“{clip(one_line(text.strip()), 40)}”" if text.strip() else "nothing"


def _as_json(rows: list[LabRow]) -> str:
    return "[\n" + ",\n".join(json.dumps(asdict(row)) for row in rows) + "\n]"


def _as_table(rows: list[LabRow], most: int, baseline: float) -> str:
    lines = [HEAD, *(_format_row(row, _format_note(row)) for row in rows)]
    return "\n".join([*lines, "", textwrap.fill(_summarize(rows, most, baseline), 80)])


def _as_comparison(compared: list[Compared], most: int, baseline: float, imported: str = "") -> str:
    """Format the table, with the recorded row below each row that differs.

    `imported` names the tool of a run that recorded only measurements; the rest is recomputed.
    """
    lines, differing = [HEAD], []
    for one in compared:
        lines.append(_format_row(one.row, _format_note(one.row)))
        if one.recorded and one.recorded != one.row:
            differing.append(one.row.iteration)
            lines.append(" was" + _format_row(one.recorded, _format_note(one.recorded))[4:])
    listed = ", ".join(map(str, differing[:MAX_LISTED])) + (
        ", ..." if len(differing) > MAX_LISTED else ""
    )
    if imported:
        record = (
            f"{imported.partition(',')[0]} recorded only the measurements; everything else is "
            "recomputed."
        )
        record += f" With these settings, it differs at {listed}." * bool(listed)
    elif differing:
        record = f"The record differs at {listed}."
    elif any(one.recorded for one in compared):
        record = "The record agrees."
    else:
        record = "The record has no health checks to compare with."
    summary = f"{_summarize([one.row for one in compared], most, baseline)} {record}"
    return "\n".join([*lines, "", textwrap.fill(summary, 80)])


def _format_row(row: LabRow, note: str) -> str:
    return (
        f"{row.iteration:4}  {100 * row.completion:5.1f}  {100 * row.velocity:+6.1f}"
        f"  {row.derivative:+5.2f}  {row.output:6.3f}"
        f"  {band_words(row.band):10}  {row.profile:11}"
        f"  {clip(note, 34)}".rstrip()
    )


def _format_note(row: LabRow) -> str:
    seen = ", ".join(row.detections or [alarm.lower() for alarm in row.alarms])
    return " ".join(part for part in (row.intervention, seen) if part)


def _summarize(rows: list[LabRow], most: int, baseline: float) -> str:
    """Summarize how far the run got from `baseline` points, and the overseer's interventions."""
    done = next((row for row in rows if row.completion >= 1), None)
    top = max(rows, key=lambda row: row.completion)
    if done:
        outcome = f"Complete at iteration {done.iteration} of {most}"
    else:
        best, where = 100 * top.completion, f"at iteration {top.iteration}"
        if best <= baseline:
            best, where = baseline, "at the start"
        outcome = f"Best {best:.4g} % {where}, not complete after {len(rows)} of {most} iterations"
    acts = [row for row in rows if row.intervention in ("REDIRECT", "PAUSE", "ABORT")]
    if not acts:
        return f"{outcome}; the overseer does not intervene."
    named = [f"{row.intervention} at {row.iteration}" for row in acts[:MAX_LISTED]]
    if len(acts) > MAX_LISTED:
        named.append(f"and {len(acts) - MAX_LISTED} more")
    return f"{outcome}; the overseer intervenes: {', '.join(named)}."
