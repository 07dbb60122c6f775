"""``python -m bench``: print the budgets as a table, and the machine they were measured on."""

# ruff: noqa: T201  it prints a table
import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict

from bench import (
    context,
    control,
    detection,
    fleet,
    home,
    intelligence,
    learnings,
    loop_time,
    memory,
    replaying,
    retrieval,
    secrets,
    snapshots,
    starting,
    tasks,
    watching,
)
from bench.machine import facts
from bench.result import Result, Scale
from ralph_tui.cli.fronts.garbage import enable_garbage_collector

GROUPS: dict[str, Callable[[Scale], Iterator[Result]]] = {
    "paint": starting.first_paint,
    "commands": starting.short_commands,
    "idle": watching.idle,
    "stream": watching.stream,
    "secrets": secrets.hidden,
    "memory": memory.growth,
    "replay": replaying.replay,
    "control": control.law,
    "detection": detection.quality,
    "tasks": tasks.listing,
    "home": home.listing,
    "learnings": learnings.query,
    "snapshots": snapshots.against_status,
    "retrieval": retrieval.quality,
    "intelligence": intelligence.world,
    "context": context.checkpoints,
    "loop": loop_time.per_iteration,
    "fleet": fleet.fleets,
}


def main() -> int:
    """Run the groups; return 1 if one could not be measured. An exceeded budget is a result."""
    parser = argparse.ArgumentParser(prog="bench", description="Measures the budgets.")
    names = ", ".join(GROUPS)
    parser.add_argument(
        "--only", action="append", choices=GROUPS, metavar="NAME", help=f"a group of: {names}"
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller inputs")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    arguments = parser.parse_args()
    enable_garbage_collector()  # as a run does
    began = time.monotonic()
    results, failures = measure(arguments.only or GROUPS, Scale(arguments.quick))
    seconds = time.monotonic() - began
    if arguments.json:
        rows = [{**asdict(result), "verdict": result.verdict} for result in results]
        report = {"machine": facts(), "seconds": seconds, "results": rows, "failures": failures}
        print(json.dumps(report, indent=2))
    else:
        print("\n".join(table(results)))
        for result in results:
            print("\n".join(result.appendix), end="\n" if result.appendix else "")
        for name, why in failures.items():
            print(f"NOT MEASURED  {name}: {why}")
        print("\n" + "\n".join(f"{name}: {value}" for name, value in facts().items()))
        print(f"measured in {seconds:.0f} s")
    return 1 if failures else 0


def measure(names: Iterable[str], scale: Scale) -> tuple[list[Result], dict[str, str]]:
    """Return the results of these groups, and the errors of groups that failed."""
    results: list[Result] = []
    failures: dict[str, str] = {}
    for name in names:
        say(f"measuring {name} ...")
        try:
            results += GROUPS[name](scale)
        except Exception as error:  # noqa: BLE001  other groups can still be measured
            failures[name] = " ".join(f"{type(error).__name__}: {error}".split())[-400:]
    say("")
    return results, failures


def say(text: str) -> None:
    """Show the current activity on the terminal; the next text replaces it."""
    if sys.stderr.isatty():
        print(f"{text:<40}", end="\r", file=sys.stderr, flush=True)


def table(results: list[Result]) -> Iterator[str]:
    """Yield the table's lines, with columns as wide as their widest cell."""
    rows = [("", "what", "measured", "budget")]
    rows += [(result.verdict, result.what, result.measured, result.budget) for result in results]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


if __name__ == "__main__":
    sys.exit(main())
